// deep: an attack
/** Answers by which an upstream, or somebody in its place, would take the gateway's memory or processor. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import type { Provider } from '../../src/gateway/providers/contract.ts'
import { createOpenAiCompatible } from '../../src/gateway/providers/openai-compatible/create-openai-compatible.ts'
import { startScriptedServer } from './scripted-server.ts'
import { complete, openAiSdk, type Outcome } from './test-provider.ts'

const MB = 1024 * 1024
const LIMITS = {
  cancelStopsBilling: true,
  connectTimeoutMs: 2_000,
  firstByteTimeoutMs: 10_000,
  idleTimeoutMs: 10_000,
  connectionsMax: 4,
}
const openOpenAi = (url: string): Provider =>
  createOpenAiCompatible({
    baseUrl: url,
    apiKey: undefined,
    maxTokensField: 'max_tokens',
    ...LIMITS,
  })
const openGemini = (baseUrl: string): Provider =>
  openAiSdk('google', { baseUrl, apiKey: 'own', ...LIMITS })
const openBedrock = (baseUrl: string): Provider =>
  openAiSdk('amazon-bedrock', {
    baseUrl,
    apiKey: 'own',
    bedrock: { region: 'us-east-1' },
    ...LIMITS,
  })

/** Writes without an end; resolves with the number of bytes once the gateway closes the connection. */
async function writeForEver(
  response: ServerResponse,
  begin: Buffer,
  more: Buffer,
  bytesMax = 64 * MB,
) {
  response.write(begin)
  let bytes = begin.length
  const closed = once(response, 'close').then(() => true)
  for (let isClosed = false; !isClosed && bytes < bytesMax;) {
    bytes += more.length
    if (response.write(more)) isClosed = response.destroyed
    else isClosed = await Promise.race([closed, once(response, 'drain').then(() => false)])
  }
  return bytes
}

async function outcomeOf(
  open: (url: string) => Provider,
  isStream: boolean,
  answer: (response: ServerResponse) => void,
): Promise<Outcome> {
  const server = await startScriptedServer((_received, response) => answer(response))
  const provider = open(server.url)
  try {
    const body = { model: 'any-model', messages: [{ role: 'user', content: 'Oi' }] }
    return await complete(provider, { body, isStream })
  } finally {
    await provider.close()
    await server.close()
  }
}

const endless = [
  ['openai-compatible', openOpenAi, 'text/event-stream', Buffer.from('data: {"choices":[')],
  ['google', openGemini, 'text/event-stream', Buffer.from('data: {"candidates":[')],
  // The length of a frame of 2 GiB.
  [
    'amazon-bedrock',
    openBedrock,
    'application/vnd.amazon.eventstream',
    Buffer.from([0x7f, 0xff, 0xff, 0xff]),
  ],
] as const

for (const [name, open, type, begin] of endless) {
  test(`${name}: an event without end is cut after about a megabyte`, async () => {
    let written: Promise<number> | undefined
    const outcome = await outcomeOf(open, true, (response) => {
      response.writeHead(200, { 'content-type': type })
      written = writeForEver(response, begin, Buffer.alloc(64 * 1024, '1'))
    })
    assert.equal(outcome.failure?.reason, 'bad_answer')
    // Some megabytes are in the buffers of the two sockets.
    assert.ok((await (written as Promise<number>)) < 16 * MB)
  })
}

for (const [name, open, begin, line] of [
  ['openai-compatible', openOpenAi, 'data: {"choices":[\n', 'data: 1,\n'],
  ['google', openGemini, 'data: {"candidates":[\n', 'data: 1,\r\n'],
] as const) {
  test(`${name}: an event of many short lines is cut after about a megabyte`, async () => {
    let written: Promise<number> | undefined
    const outcome = await outcomeOf(open, true, (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      written = writeForEver(response, Buffer.from(begin), Buffer.from(line.repeat(8_000)))
    })
    assert.equal(outcome.failure?.reason, 'bad_answer')
    assert.ok((await (written as Promise<number>)) < 16 * MB)
  })
}

for (const [name, open, begin] of [
  ['openai-compatible', openOpenAi, '{"choices":['],
  ['google', openGemini, '{"candidates":['],
] as const) {
  test(`${name}: a plain answer without end is cut after 64 megabytes`, async (context) => {
    const concat = context.mock.method(Buffer, 'concat')
    let written: Promise<number> | undefined
    const outcome = await outcomeOf(open, false, (response) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      written = writeForEver(response, Buffer.from(begin), Buffer.alloc(MB, '1'), 256 * MB)
    })
    assert.ok(outcome.failure)
    const bytes = await (written as Promise<number>)
    assert.ok(bytes > 32 * MB && bytes < 96 * MB, `${bytes} bytes`)
    // Joining what is thrown away would keep other calls waiting.
    for (const { result } of concat.mock.calls) assert.ok((result?.length ?? 0) < MB)
  })
}

/** 80 MB of spaces, as members of one megabyte each: a file of gzip may have several. */
let bomb: Buffer | undefined

for (const isStream of [false, true]) {
  for (const status of [200, 500]) {
    test(`google, ${isStream ? 'streamed' : 'plain'}, ${status}: a compressed answer is refused before it is decompressed`, async () => {
      const compressed = (bomb ??= Buffer.concat(
        Array<Buffer>(80).fill(gzipSync(Buffer.alloc(MB, ' '), { level: 1 })),
      ))
      const outcome = await outcomeOf(openGemini, isStream, (response) => {
        const type = isStream ? 'text/event-stream' : 'application/json'
        response
          .writeHead(status, { 'content-type': type, 'content-encoding': 'gzip' })
          .end(compressed)
      })
      assert.equal(outcome.failure?.reason, 'bad_answer')
      assert.match(outcome.failure?.detail ?? '', /compressed/)
    })
  }
}

test('no upstream is asked for a compressed answer', async () => {
  for (const open of [openOpenAi, openGemini, openBedrock]) {
    const server = await startScriptedServer((_received, response) => response.destroy())
    const provider = open(server.url)
    const body = { model: 'any-model', messages: [{ role: 'user', content: 'Oi' }] }
    await complete(provider, { body, isStream: false })
    const encoding = server.received[0]?.headers['accept-encoding']
    assert.ok(encoding === undefined || encoding === 'identity', encoding)
    await provider.close()
    await server.close()
  }
})
