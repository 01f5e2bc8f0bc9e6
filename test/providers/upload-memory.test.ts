/** The server is a process of its own, so that only the adapter's memory is measured. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { after, test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { TranscriptionCall } from '../../src/providers/contract.ts'
import { createOpenAiCompatible } from '../../src/providers/openai-compatible/create-openai-compatible.ts'

const MEGABYTE = 1024 * 1024
const PART_BYTES = 64 * 1024

/** Answers with the number of bytes it read, and waits now and then as a slow network does. */
const SERVER = `
  import { createServer } from 'node:http'
  createServer(async (request, response) => {
    let bytes = 0
    let parts = 0
    for await (const part of request) {
      bytes += part.length
      if (++parts % 100 === 0) await new Promise((resolve) => setTimeout(resolve, 1))
    }
    response.end(JSON.stringify({ text: String(bytes) }))
  }).listen(0, '127.0.0.1', function () { console.log(this.address().port) })
`
const server = spawn(process.execPath, ['--input-type=module', '--eval', SERVER], {
  stdio: ['ignore', 'pipe', 'inherit'],
})
const [port] = await once(server.stdout, 'data')
const provider = createOpenAiCompatible({
  baseUrl: `http://127.0.0.1:${String(port).trim()}/v1`,
  apiKey: undefined,
  cancelStopsBilling: true,
  maxTokensField: 'max_tokens',
  connectTimeoutMs: 5_000,
  firstByteTimeoutMs: 30_000,
  idleTimeoutMs: 30_000,
  connectionsMax: 1,
})
after(async () => {
  await provider.close()
  server.kill()
})

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

/** Uploads so many bytes made on the way; what the process takes at most while it does. */
async function residentBytesOf(megabytes: number): Promise<number> {
  let residentBytes = 0
  const call: TranscriptionCall = {
    model: 'whisper-1',
    fields: [],
    detail: 'text',
    callId: 'call-1',
    file: {
      name: 'a.wav',
      mediaType: 'audio/wav',
      bytes: megabytes * MEGABYTE,
      async *read() {
        for (let part = 0; part < (megabytes * MEGABYTE) / PART_BYTES; part++) {
          // What has been sent is garbage, which would be collected later if memory abounds.
          if (part % 16 === 0) collectGarbage()
          residentBytes = Math.max(residentBytes, process.memoryUsage.rss())
          yield Buffer.alloc(PART_BYTES, part)
        }
      },
    },
  }
  const answer = await provider.transcribe?.(call, new AbortController().signal)
  assert.ok(answer?.kind === 'transcription')
  assert.ok(Number(answer.text) > megabytes * MEGABYTE)
  return residentBytes
}

test('an upload of 100 MB takes no more memory than one of 5 MB', async () => {
  const small = await residentBytesOf(5)
  const large = await residentBytesOf(100)
  assert.ok(large - small < 30 * MEGABYTE, `${(large - small) / MEGABYTE} MB more`)
})
