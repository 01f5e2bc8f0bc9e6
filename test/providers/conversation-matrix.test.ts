// deep: every format of a client over every format of an upstream
/**
 * Conversations in each format of clients over an upstream of each format: roles, order, ids of calls, signatures and
 * images arrive as the client has them, and what an answer brought, plain or as a stream cut anywhere, goes back to its
 * upstream with the next request.
 */
import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { after, before, test } from 'node:test'
import type { ChatRequest } from '../../src/gateway/calls/chat/chat-request.ts'
import type { Provider } from '../../src/gateway/providers/contract.ts'
import { createOpenAiCompatible } from '../../src/gateway/providers/openai-compatible/create-openai-compatible.ts'
import { effort } from '../harness/effort.ts'
import fc from '../harness/fast-check.ts'
import { callOf, openChatFormats } from './chat-formats.ts'
import {
  answer,
  assemble,
  CLIENTS,
  conversation,
  entriesOf,
  entriesOfAnswer,
  opaque,
  readChat,
  readEntries,
  requestOf,
  resultsOf,
  text,
  type Answer,
  type Client,
  type Conversation,
  type Entry,
} from './conversation-formats.ts'
import {
  goesBack,
  keptOf,
  playable,
  UPSTREAMS,
  withJoinedTexts,
  withLosses,
  type Upstream,
} from './conversation-losses.ts'
import { answerJson, startScriptedServer, type ScriptedServer } from './scripted-server.ts'
import { openAiSdk } from './test-provider.ts'
import { plainAnswer, streamedAnswer, withNoise } from './write-upstream-answer.ts'

const formats = openChatFormats()
const { marks } = formats

/** What the upstreams answer; nothing: an error. */
let played:
  | {
      readonly answer: Answer
      readonly lengths: readonly number[]
      readonly noise?: readonly number[]
    }
  | undefined
let server: ScriptedServer
let providers: Record<Upstream, Provider>

before(async () => {
  server = await startScriptedServer(({ path, text: sent }, response) => {
    if (!played) return answerJson(response, 500, { error: { message: 'no answer is needed' } })
    if (!sent.includes('"stream":true'))
      return answerJson(response, 200, plainAnswer(path, played.answer))
    const cut = cutter(played.lengths)
    const events = streamedAnswer(path, played.answer, cut)
    const stream = Buffer.from(withNoise(path, events, played.noise ?? []))
    sendInPieces(response, stream, played.lengths).catch((error: Error) => response.destroy(error))
  })
  const limits = {
    apiKey: 'a-key',
    cancelStopsBilling: true,
    connectTimeoutMs: 2_000,
    firstByteTimeoutMs: 2_000,
    idleTimeoutMs: 2_000,
    connectionsMax: 4,
  }
  const baseUrl = `${server.url}/v1`
  const open = (speaksResponses: boolean): Provider =>
    createOpenAiCompatible({ ...limits, baseUrl, maxTokensField: 'max_tokens', speaksResponses })
  providers = {
    chat: open(false),
    messages: openAiSdk('anthropic', { ...limits, baseUrl }),
    responses: open(true),
  }
})

after(async () => {
  for (const each of Object.values(providers)) await each.close()
  await server.close()
})

/** Into whole characters: no upstream cuts one, and JSON could not hold the halves. */
function cutter(lengths: readonly number[]): (text: string) => string[] {
  return (whole) => {
    const characters = Array.from(whole)
    const pieces: string[] = []
    for (let turn = 0; characters.length > 0; turn += 1)
      pieces.push(characters.splice(0, lengths[turn % lengths.length] as number).join(''))
    return pieces
  }
}

/** The bytes are cut also within characters and events. */
async function sendInPieces(
  response: ServerResponse,
  bytes: Buffer,
  lengths: readonly number[],
): Promise<void> {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  for (let at = 0, turn = 0; at < bytes.length; turn += 1) {
    const length = 40 * (lengths[turn % lengths.length] as number) + 1
    response.write(bytes.subarray(at, at + length))
    at += length
    await new Promise((resolve) => setImmediate(resolve))
  }
  response.end()
}

async function sentTo(upstream: Upstream, request: ChatRequest): Promise<Entry[]> {
  played = undefined
  server.received.length = 0
  const signal = new AbortController().signal
  const answered = await providers[upstream].completeChat?.(callOf(request), signal)
  const [sent] = server.received
  assert.ok(sent, `the request is sent: ${JSON.stringify(answered)}`)
  return readEntries(sent.path, JSON.parse(sent.text))
}

/** Without what the pair of formats has no place for, as the docs say. */
function expected(client: Client, upstream: Upstream, one: Conversation): Entry[] {
  const entries = entriesOf(one)
  // Only its own upstream reads what it sealed; what is sealed here is for translations.
  const isNativeResponse = client === 'responses' && upstream === 'responses'
  const readable = isNativeResponse
    ? entries.filter(([who]) => who !== 'thinking' && who !== 'hidden')
    : entries
  return withLosses(client, upstream, readable)
}

test('the formats of clients say one conversation as one chat', () => {
  fc.assert(
    fc.property(conversation, (one) => {
      for (const client of CLIENTS)
        assert.deepEqual(
          readChat(formats.read(client, requestOf(client, one, marks)).messages),
          withLosses(client, 'chat', entriesOf(one)),
        )
    }),
    { numRuns: effort({ ordinary: 40, full: 2_000 }) },
  )
})

for (const client of CLIENTS)
  for (const upstream of UPSTREAMS)
    test(`${client} to an upstream of ${upstream}: roles, order, ids, signatures and images arrive`, async () => {
      await fc.assert(
        fc.asyncProperty(conversation, async (one) => {
          const request = formats.read(client, requestOf(client, one, marks))
          assert.deepEqual(await sentTo(upstream, request), expected(client, upstream, one))
        }),
        { numRuns: effort({ ordinary: 15, full: 500 }) },
      )
    })

const lengths = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 5 })

for (const client of CLIENTS)
  for (const upstream of UPSTREAMS)
    test(`an answer from an upstream of ${upstream} to ${client}, plain or cut anywhere, goes back as it came`, async () => {
      await fc.assert(
        fc.asyncProperty(
          answer,
          opaque,
          lengths,
          fc.boolean(),
          text,
          fc.array(fc.nat({ max: 10_000 }), { maxLength: 4 }),
          async (made, signature, lengths, isStream, said, noise) => {
            const answer = playable(client, upstream, made, signature)
            const asked = [{ text: said }]
            const question = assemble(client, [], [], said, marks)
            played = { answer, lengths, noise }
            const first = formats.read(client, { ...question, stream: isStream })
            const kept = keptOf(
              client,
              await formats.deliver(client, providers[upstream], first),
              isStream,
            )
            const turn = { asked, said: kept, calls: answer.calls }
            const next = formats.read(client, assemble(client, [], [turn], said, marks))
            const all: Entry[] = [
              ['user', said],
              ...goesBack(entriesOfAnswer(answer), client, upstream),
              ...resultsOf(answer.calls),
              ['user', said],
            ]
            assert.deepEqual(
              withJoinedTexts(await sentTo(upstream, next)),
              withJoinedTexts(withLosses(client, upstream, all)),
            )
          },
        ),
        { numRuns: effort({ ordinary: 25, full: 500 }) },
      )
    })

test('what is sealed in thinking reaches neither another model, nor another customer, nor an upstream that cannot read it', async () => {
  const made = { id: 'call_1', name: 'look', input: {}, result: [{ text: 'sun' }], isError: false }
  const answer: Answer = {
    thinking: [{ text: 'Hm.' }],
    said: ['Look.'],
    calls: [{ ...made, signature: 'c2ln' }],
  }
  played = { answer, lengths: [9] }
  const first = formats.read('messages', assemble('messages', [], [], 'Olá', marks))
  const kept = keptOf('messages', await formats.deliver('messages', providers.chat, first), false)
  const asked = [{ text: 'Olá' }]
  const turn = { asked, said: kept, calls: answer.calls }
  const next = assemble('messages', [], [turn], 'E?', marks)
  const bare: Answer = { thinking: [], said: answer.said, calls: [made] }
  const expectedEntries = entriesOf({
    instructions: [],
    turns: [{ asked, answer: bare }],
    last: 'E?',
  })
  assert.deepEqual(await sentTo('messages', formats.read('messages', next)), expectedEntries)
  const ofOther = formats.read('messages', { ...next, model: 'claude-opus-4-5' })
  assert.deepEqual(await sentTo('chat', ofOther), expectedEntries)
  const byOther = formats.read('messages', next, 'another customer')
  assert.deepEqual(await sentTo('chat', byOther), expectedEntries)
})
