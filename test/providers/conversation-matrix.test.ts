/**
 * Conversations in each format of clients over an upstream of each format: roles, order, ids of calls, signatures and
 * images arrive as the client has them, and what an answer brought, plain or as a stream cut anywhere, goes back to its
 * upstream with the next request.
 */
import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { after, before, test } from 'node:test'
import type { WholeChatFormat } from '../../src/gateway/chat/chat-format.ts'
import type { ChatRequest } from '../../src/gateway/chat/chat-request.ts'
import { createChatCompletionsFormat } from '../../src/gateway/chat/formats/chat-completions/chat-completions-format.ts'
import { createMessagesFormat } from '../../src/gateway/chat/formats/messages/messages-format.ts'
import { createReasoningSeals } from '../../src/gateway/chat/formats/responses/reasoning-seal.ts'
import {
  createResponsesFormat,
  readResponsesRequest,
} from '../../src/gateway/chat/formats/responses/responses-format.ts'
import { createToolCallIds } from '../../src/gateway/chat/tool-call-ids.ts'
import { isRefusal } from '../../src/gateway/refusal.ts'
import type { ChatCall, JsonObject, Provider } from '../../src/providers/contract.ts'
import { createOpenAiCompatible } from '../../src/providers/openai-compatible/create-openai-compatible.ts'
import { accumulateMessage } from '../harness/accumulate-message.ts'
import { effort } from '../harness/effort.ts'
import fc from '../harness/fast-check.ts'
import { assertStreamIsWhole, responseEvents } from '../responses/assert-response.ts'
import {
  answer,
  assemble,
  CLIENTS,
  conversation,
  entriesOf,
  entriesOfAnswer,
  opaque,
  readEntries,
  requestOf,
  resultsOf,
  text,
  type Answer,
  type Client,
  type Conversation,
  type Entry,
  type Kept,
  type Marks,
} from './conversation-formats.ts'
import { answerJson, startScriptedServer, type ScriptedServer } from './scripted-server.ts'
import { openAiSdk } from './test-provider.ts'
import { assembleChunks } from './weather-conversation.ts'
import { plainAnswer, streamedAnswer } from './write-upstream-answer.ts'

const UPSTREAMS = ['chat', 'messages', 'responses'] as const
type Upstream = (typeof UPSTREAMS)[number]

const MODEL = 'claude-sonnet-4-5'
const CUSTOMER = 'a customer'
const ids = createToolCallIds([randomBytes(32)])
const seals = createReasoningSeals({ sealingKey: randomBytes(32) })
const FORMATS: Record<Client, WholeChatFormat<any>> = {
  chat: createChatCompletionsFormat(ids, (body, bytes, customerId) =>
    readResponsesRequest(body, bytes, seals(customerId)),
  ),
  messages: createMessagesFormat(ids, seals),
  responses: createResponsesFormat(seals, ids),
}
const marks: Marks = {
  hidden: (id) => ids.hidden(id),
  seal: (fields) => seals(CUSTOMER).seal({ fields, calls: {} }, [MODEL]),
}

/** What the upstreams answer; nothing: an error. */
let played: { readonly answer: Answer; readonly lengths: readonly number[] } | undefined
let server: ScriptedServer
let providers: Record<Upstream, Provider>

before(async () => {
  server = await startScriptedServer(({ path, text: sent }, response) => {
    if (!played) return answerJson(response, 500, { error: { message: 'no answer is needed' } })
    if (!sent.includes('"stream":true'))
      return answerJson(response, 200, plainAnswer(path, played.answer))
    const cut = cutter(played.lengths)
    const stream = Buffer.from(streamedAnswer(path, played.answer, cut))
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

function readRequest(client: Client, fields: JsonObject, customerId = CUSTOMER): ChatRequest {
  const request = FORMATS[client].readRequest(
    Buffer.from(JSON.stringify({ model: MODEL, ...fields })),
    { customerId },
  )
  if (isRefusal(request)) assert.fail(request.message)
  return request
}

function callOf(request: ChatRequest): ChatCall {
  return {
    ...request,
    model: MODEL,
    outputTokensMax: 4_096,
    callId: 'call-1',
    webSearchesMax: 0,
  }
}

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
  if (isNativeResponse) return entries.filter(([who]) => who !== 'thinking' && who !== 'hidden')
  return joinedResults(client, upstream, entries)
}

/** A result is one text for Anthropic, but where the client wrote it itself. */
function joinedResults(client: Client, upstream: Upstream, entries: readonly Entry[]): Entry[] {
  if (upstream !== 'messages' || client === 'messages') return [...entries]
  return entries.map((entry): Entry => {
    const [who, id, texts] = entry
    return who === 'result' ? [who, id, [(texts as string[]).join('\n')]] : entry
  })
}

for (const client of CLIENTS)
  for (const upstream of UPSTREAMS)
    test(`${client} to an upstream of ${upstream}: roles, order, ids, signatures and images arrive`, async () => {
      await fc.assert(
        fc.asyncProperty(conversation, async (one) => {
          const request = readRequest(client, requestOf(client, one, marks))
          assert.deepEqual(await sentTo(upstream, request), expected(client, upstream, one))
        }),
        { numRuns: effort({ ordinary: 50, full: 500 }) },
      )
    })

const CHARGED = {
  promptTokens: 50,
  cachedTokens: 0,
  cacheWriteTokens: 0,
  completionTokens: 20,
  reasoningTokens: 5,
  billedNanoBrl: 1_000n,
}

/** The answer as the client gets it: JSON, or the text of a stream. */
async function delivered(
  client: Client,
  upstream: Upstream,
  request: ChatRequest,
): Promise<string> {
  const writer = FORMATS[client].createWriter({ id: randomUUID(), modelId: MODEL, request })
  const signal = new AbortController().signal
  const answered = await providers[upstream].completeChat?.(callOf(request), signal)
  assert.ok(answered)
  if (answered.kind === 'failure') assert.fail(answered.detail)
  if (answered.kind === 'answer') return writer.answer(answered.body, CHARGED, answered.native)
  let written = ''
  await answered.each((chunks) => {
    for (const { body, delta, native } of chunks)
      written += (delta && writer.delta?.(delta)) ?? writer.chunk(body, native) ?? ''
    return undefined
  })
  return written + writer.end(CHARGED)
}

/** What the client keeps of an answer, and sends back as it is. */
function keptOf(client: Client, written: string, isStream: boolean): Kept {
  if (client === 'chat') {
    if (!isStream) return [JSON.parse(written).choices[0].message]
    const chunks = written.split('\n\n').filter((one) => one.startsWith('data: {'))
    const bodies = chunks.map((one) => JSON.parse(one.slice('data: '.length)))
    return [assembleChunks(bodies).message]
  }
  if (client === 'messages')
    return (isStream ? accumulateMessage(written).message : JSON.parse(written)).content
  const response = isStream ? assertStreamIsWhole(responseEvents(written)) : JSON.parse(written)
  return response.output
}

/** The texts of an answer are one text in some formats. */
function withJoinedTexts(entries: readonly Entry[]): Entry[] {
  const joined: Entry[] = []
  for (const entry of entries) {
    const last = joined.at(-1)
    if (last?.[0] === 'assistant' && entry[0] === 'assistant')
      joined[joined.length - 1] = ['assistant', `${String(last[1])}${String(entry[1])}`]
    else joined.push(entry)
  }
  return joined
}

/** As an upstream reached in this format answers it: the thinking of a chat's upstream has no signature. */
function playable(client: Client, upstream: Upstream, one: Answer, signature: string): Answer {
  const isChat = upstream === 'chat' || (upstream === 'responses' && client !== 'responses')
  if (!isChat) return one
  const thought = one.thinking.map((each) => each.text).join('')
  const [first, ...others] = one.calls
  return {
    thinking: thought === '' ? [] : [{ text: thought }],
    said: one.said,
    // Of parallel calls, Gemini signs the first.
    calls: first ? [{ ...first, signature }, ...others] : [],
  }
}

/** Every upstream of Responses encrypts, and has nothing hidden apart. */
function goesBack(entries: readonly Entry[], client: Client, upstream: Upstream): Entry[] {
  if (client !== 'responses' || upstream !== 'responses') return [...entries]
  return entries.map((entry) => (entry[0] === 'hidden' ? ['thinking', '', entry[1]] : entry))
}

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
          async (made, signature, lengths, isStream, said) => {
            const answer = playable(client, upstream, made, signature)
            const asked = [{ text: said }]
            const question = assemble(client, [], [], said, marks)
            played = { answer, lengths }
            const first = readRequest(client, { ...question, stream: isStream })
            const kept = keptOf(client, await delivered(client, upstream, first), isStream)
            const turn = { asked, said: kept, calls: answer.calls }
            const next = readRequest(client, assemble(client, [], [turn], said, marks))
            const all: Entry[] = [
              ['user', said],
              ...goesBack(entriesOfAnswer(answer), client, upstream),
              ...resultsOf(answer.calls),
              ['user', said],
            ]
            assert.deepEqual(
              withJoinedTexts(await sentTo(upstream, next)),
              withJoinedTexts(joinedResults(client, upstream, all)),
            )
          },
        ),
        { numRuns: effort({ ordinary: 25, full: 500 }) },
      )
    })

test('what is sealed in thinking reaches neither another model, nor another customer, nor an upstream that cannot read it', async () => {
  const made = { id: 'call_1', name: 'look', input: {}, result: [{ text: 'sun' }] }
  const answer: Answer = {
    thinking: [{ text: 'Hm.' }],
    said: ['Look.'],
    calls: [{ ...made, signature: 'c2ln' }],
  }
  played = { answer, lengths: [9] }
  const first = readRequest('messages', assemble('messages', [], [], 'Olá', marks))
  const kept = keptOf('messages', await delivered('messages', 'chat', first), false)
  const asked = [{ text: 'Olá' }]
  const turn = { asked, said: kept, calls: answer.calls }
  const next = assemble('messages', [], [turn], 'E?', marks)
  const bare: Answer = { thinking: [], said: answer.said, calls: [made] }
  const expectedEntries = entriesOf({
    instructions: [],
    turns: [{ asked, answer: bare }],
    last: 'E?',
  })
  assert.deepEqual(await sentTo('messages', readRequest('messages', next)), expectedEntries)
  const ofOther = readRequest('messages', { ...next, model: 'claude-opus-4-5' })
  assert.deepEqual(await sentTo('chat', ofOther), expectedEntries)
  const byOther = readRequest('messages', next, 'another customer')
  assert.deepEqual(await sentTo('chat', byOther), expectedEntries)
})
