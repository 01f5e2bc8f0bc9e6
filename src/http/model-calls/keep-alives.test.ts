import assert from 'node:assert/strict'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import Fastify from 'fastify'
import { EVENT_STREAM, type Client } from '../../gateway/calls/client.ts'
import { refusals } from '../../gateway/calls/refusal.ts'
import {
  chatErrors,
  errorFormatOf,
  GEMINI_LIST_PATH,
  messagesErrors,
  responsesErrors,
  type ErrorFormat,
} from '../rest/error-formats.ts'
import { createHttpClient } from './http-client.ts'
import { createKeepAlives, KEEP_ALIVE_COMMENT } from './keep-alives.ts'

const COMMENT = KEEP_ALIVE_COMMENT
const LIMITS = { limit: 1, remaining: 1, resetAt: 0 }
const INTERVAL_MS = 40

/** Resolves when the client of the stream has received so many comments. */
type WaitForComments = (count: number) => Promise<void>

/** The answer to a request that is served so. */
async function serve(
  play: (client: Client, waitForComments: WaitForComments) => Promise<void>,
  errorFormat: ErrorFormat = chatErrors,
  intervalMs = INTERVAL_MS,
): Promise<{ status: number; text: string }> {
  const server = Fastify()
  const keepAlives = createKeepAlives(intervalMs)
  let text = ''
  const waitForComments: WaitForComments = async (count) => {
    const quiet = errorFormat.stream?.keepAlive ?? COMMENT
    while (text.split(quiet).length <= count) await sleep(5)
  }
  server.get('/', (request, reply) => {
    const options = { publicUrl: undefined, errorFormat, keepAlives }
    void play(createHttpClient(request, reply, options), waitForComments)
  })
  await server.listen({ port: 0, host: '127.0.0.1' })
  try {
    const { port } = server.server.address() as AddressInfo
    const answer = await fetch(`http://127.0.0.1:${port}/`)
    const decoder = new TextDecoder()
    for await (const part of answer.body ?? []) text += decoder.decode(part, { stream: true })
    return { status: answer.status, text }
  } finally {
    await server.close()
  }
}

test('a silent stream gets comments between its events, and none after its end', async () => {
  const { text } = await serve(async (client, waitForComments) => {
    client.expectStream(LIMITS)
    client.beginStream(LIMITS)
    void client.write('data: 1\n\n', 1_000)
    await waitForComments(2)
    client.endStream('data: 2\n\n')
  })
  assert.match(text, /^data: 1\n\n(: keep-alive\n){2,}data: 2\n\n$/)
})

test('a stream that says something in time gets no comment', async () => {
  const { text } = await serve(
    async (client) => {
      client.beginStream(LIMITS)
      for (let count = 0; count < 8; count += 1) {
        void client.write('data: 1\n\n', 1_000)
        await sleep(20)
      }
      client.endStream('')
    },
    chatErrors,
    10_000,
  )
  assert.equal(text, 'data: 1\n\n'.repeat(8))
})

test('a stream that is long in coming is opened, and its failure is an event of its format', async () => {
  const events = {
    chat: [chatErrors, /^(?:: keep-alive\n)+data: \{"error":\{.*"code":"upstream_error".*\n\n$/],
    messages: [
      messagesErrors,
      /^(?:: keep-alive\n)+event: error\ndata: \{"type":"error".*"code":"upstream_error".*\n\n$/,
    ],
    responses: [
      responsesErrors,
      /^(?:: keep-alive\n)+event: error\ndata: \{"type":"error","sequence_number":0,"code":"upstream_error".*\n\n$/,
    ],
    // Google's clients read a comment as a part of the next event, and white space as nothing.
    gemini: [
      errorFormatOf('/v1beta/streamGenerateContent'),
      /^\n+data: \{"error":\{"code":502,.*"reason":"UPSTREAM_ERROR".*\n\n$/,
    ],
    list: [
      errorFormatOf(GEMINI_LIST_PATH),
      /^\n+\[\{"error":\{"code":502,.*"reason":"UPSTREAM_ERROR".*\]$/,
    ],
  } as const
  for (const [name, [format, expected]] of Object.entries(events)) {
    const { status, text } = await serve(async (client, waitForComments) => {
      client.expectStream(LIMITS)
      await waitForComments(1)
      client.refuse(refusals.upstreamError(), LIMITS)
    }, format)
    assert.equal(status, 200)
    assert.match(text, expected, name)
  }
})

test('a stream that is opened early may get its events as one answer', async () => {
  const { text } = await serve(async (client, waitForComments) => {
    client.expectStream(LIMITS)
    await waitForComments(1)
    client.answer('data: 1\n\ndata: 2\n\n', LIMITS, { 'content-type': EVENT_STREAM })
  })
  assert.match(text, /^(?:: keep-alive\n)+data: 1\n\ndata: 2\n\n$/)
})

test('a failure that comes before keeps its status', async () => {
  const { status, text } = await serve(
    async (client) => {
      client.expectStream(LIMITS)
      // One interval alone does not open the stream.
      await sleep(2_100)
      client.refuse(refusals.upstreamError(), LIMITS)
    },
    chatErrors,
    2_000,
  )
  assert.equal(status, 502)
  assert.equal(JSON.parse(text).error.code, 'upstream_error')
})

test('an interval of 0 sends nothing', async () => {
  const silent = await serve(
    async (client) => {
      client.beginStream(LIMITS)
      await sleep(100)
      client.endStream('data: 1\n\n')
    },
    chatErrors,
    0,
  )
  assert.equal(silent.text, 'data: 1\n\n')
  const other = await serve(
    async (client, waitForComments) => {
      client.beginStream(LIMITS)
      await waitForComments(1)
      client.endStream('data: 1\n\n')
    },
    chatErrors,
    10,
  )
  assert.ok(other.text.startsWith(COMMENT))
})
