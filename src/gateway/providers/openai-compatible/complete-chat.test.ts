import assert from 'node:assert/strict'
import { once } from 'node:events'
import { after, before, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import type { TakeBytes } from '../../../platform/admission/share.ts'
import { StreamBroken, type ChatCall } from '../contract.ts'
import {
  startOpenAiUpstream,
  type OpenAiUpstream,
} from '../../../../test/harness/openai-upstream.ts'

let upstream: OpenAiUpstream
before(async () => {
  upstream = await startOpenAiUpstream()
})
after(() => upstream.close())

function callOf(more: Partial<ChatCall>): ChatCall {
  return {
    model: 'm',
    body: { model: 'x', messages: [] },
    memo: {},
    isStream: false,
    outputTokensMax: 10,
    imageBytes: 0,
    hasImageAddresses: false,
    hasCacheControl: false,
    cachesForAnHour: false,
    hasFiles: false,
    hasAudio: false,
    webSearchesMax: 0,
    callId: 'call-1',
    ...more,
  }
}

test('files are not sent to upstreams that bill pages, and audio files to none', async () => {
  const { signal } = new AbortController()
  const billsPages = upstream.open({ takesFiles: false })
  for (const [provider, more] of [
    [billsPages, { hasFiles: true }],
    [upstream.provider, { hasFiles: true, hasAudio: true }],
  ] as const) {
    const outcome = await provider.completeChat(callOf(more), signal)
    assert.equal(outcome.kind === 'failure' && outcome.reason, 'unsupported')
  }
  assert.deepEqual(upstream.asked, [])
})

test('a large plain answer is counted from its first 256 kB on, waits for its room, and ends where there is none', async () => {
  const content = 'x'.repeat(1_000_000)
  upstream.answerJson({ choices: [{ message: { role: 'assistant', content } }] })
  const { signal } = new AbortController()
  const ask = (takeBytes: TakeBytes) =>
    upstream.provider.completeChat(callOf({ takeBytes }), signal)
  let taken = 0
  const answer = await ask((bytes) => {
    taken += bytes
    return setImmediate(true)
  })
  assert.equal(answer.kind, 'answer')
  assert.ok(taken > 700_000 && taken < 800_000, String(taken))
  for (const refuse of [() => false, () => setImmediate(false)])
    assert.deepEqual(await ask(refuse), {
      kind: 'failure',
      reason: 'no_room',
      detail: 'the answer does not fit into the memory',
      // The upstream has worked.
      isFinal: true,
    })
})

test('the service tier is sent to upstreams that would otherwise choose it', async () => {
  const provider = upstream.open({
    serviceTier: 'default',
    maxTokensField: 'max_completion_tokens',
  })
  upstream.answerJson({ choices: [] })
  await provider.completeChat(callOf({ isStream: false }), new AbortController().signal)
  assert.deepEqual(JSON.parse(String(upstream.asked.at(-1)?.body)), {
    model: 'm',
    max_completion_tokens: 10,
    service_tier: 'default',
    messages: [],
  })
})

test('an upstream that opens no addresses gets no address, and nothing of a private network', async () => {
  const provider = upstream.open({ opensAddresses: false })
  const before = upstream.asked.length
  const metadata = { type: 'image_url', image_url: { url: 'http://127.0.0.1:1/meta-data' } }
  const body = { model: 'x', messages: [{ role: 'user', content: [metadata] }] }
  const call = callOf({ body, hasImageAddresses: true })
  const bytes = await provider.measureChat?.(call)
  assert.ok(bytes !== undefined && bytes > JSON.stringify(body.messages).length)
  const outcome = await provider.completeChat(call, new AbortController().signal)
  assert.deepEqual(outcome, {
    kind: 'failure',
    reason: 'unsupported',
    detail: 'a file could not be downloaded: refused_address',
    requestFault: 'address_refused',
    isUnsent: true,
  })
  assert.equal(upstream.asked.length, before)
})

/** Deep enough to overflow the stack of whoever writes it as JSON again. */
const DEEP = `${'['.repeat(50_000)}${']'.repeat(50_000)}`

test('an answer that is nested too deep is a bad answer, before anything is charged', async () => {
  const { signal } = new AbortController()
  upstream.answerJson(
    `{"choices":[{"index":0,"finish_reason":"stop","message":{"content":"a","annotations":${DEEP}}}]}`,
  )
  const plain = await upstream.provider.completeChat(callOf({}), signal)
  assert.equal(plain.kind === 'failure' && plain.reason, 'bad_answer')

  const events = [
    '{"choices":[{"index":0,"delta":{"content":"a"}}]}',
    `{"choices":[{"index":0,"delta":{"content":"b","annotations":${DEEP}}}]}`,
  ]
  upstream.answerWith((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.end(events.map((event) => `data: ${event}\n\n`).join(''))
  })
  const streamed = await upstream.provider.completeChat(callOf({ isStream: true }), signal)
  assert.ok(streamed.kind === 'stream', 'a stream')
  let chunks = 0
  await assert.rejects(
    streamed.each((some) => void (chunks += some.length)),
    (error) => error instanceof StreamBroken && error.failure.reason === 'bad_answer',
  )
  assert.equal(chunks, 1, 'what came before is delivered')
})

test('a stream that breaks closes its connection, though the upstream writes on', async () => {
  for (const event of ['{"error":{"message":"no"}}', 'no JSON']) {
    let closed: Promise<unknown> | undefined
    upstream.answerWith((_request, response) => {
      closed = once(response, 'close')
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(`data: ${event}\n\n`)
      const writeOn = (): void => {
        while (!response.destroyed && response.write(`: ${'x'.repeat(65_536)}\n\n`));
        if (!response.destroyed) response.once('drain', writeOn)
      }
      writeOn()
    })
    const streamed = await upstream.provider.completeChat(
      callOf({ isStream: true }),
      new AbortController().signal,
    )
    assert.ok(streamed.kind === 'stream', 'a stream')
    await assert.rejects(
      streamed.each(() => undefined),
      StreamBroken,
    )
    await closed
  }
})
