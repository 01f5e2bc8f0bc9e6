// deep: generated conversations
/**
 * A conversation that only grows reaches every upstream as a prompt that only grows: what an upstream has cached of one
 * request is the beginning of the next one. Of what a client sends, only the marks of `cache_control` move.
 */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { JsonObject, Provider } from '../../src/gateway/providers/contract.ts'
import { shieldChat } from '../../src/gateway/shield/shield-chat.ts'
import { createOpenAiCompatible } from '../../src/gateway/providers/openai-compatible/create-openai-compatible.ts'
import { effort } from '../harness/effort.ts'
import fc from '../harness/fast-check.ts'
import { PLACEHOLDER, prompt } from '../harness/personal-texts.ts'
import { callOf, openChatFormats } from './chat-formats.ts'
import {
  answer,
  answerIn,
  CLIENTS,
  functionResponse,
  text,
  type Answer,
  type Call,
  type Client,
  type Kept,
} from './conversation-formats.ts'
import { TOKEN_PATH } from './fixture-server.ts'
import { answerJson, startScriptedServer, type ScriptedServer } from './scripted-server.ts'
import { BEDROCK, COHERE, GOOGLE, LIMITS, openAiSdk, openByAccount } from './test-provider.ts'

const formats = openChatFormats()
const { marks } = formats

interface Target {
  readonly model: string
  open(url: string): Provider
}

const openai = (speaksResponses: boolean): Target => ({
  model: 'gpt-5-mini',
  open: (url) =>
    createOpenAiCompatible({
      ...LIMITS,
      baseUrl: `${url}/v1`,
      apiKey: 'a-key',
      maxTokensField: 'max_tokens',
      speaksResponses,
    }),
})
const anthropic = (model: string): Target => ({
  model,
  open: (url) => openAiSdk('anthropic', { baseUrl: `${url}/v1`, apiKey: 'a-key' }),
})

const TARGETS: Readonly<Record<string, Target>> = {
  'chat completions': openai(false),
  Responses: openai(true),
  'Anthropic, with instructions in the middle': anthropic('claude-sonnet-5'),
  'Anthropic, without': anthropic('claude-sonnet-4-5'),
  Gemini: GOOGLE,
  'Claude on Vertex': { model: 'claude-sonnet-4-5@20250929', open: openByAccount },
  'Gemini on Vertex': { model: 'gemini-2.5-pro', open: openByAccount },
  'Claude on Bedrock': BEDROCK,
  'Nova on Bedrock': { model: 'us.amazon.nova-pro-v1:0', open: (url) => BEDROCK.open(url) },
  Cohere: COHERE,
}

/** One exchange: what the client sends, instructions that it adds behind it, and the model's answer. */
interface Round {
  readonly asked: readonly string[]
  readonly reminders: readonly string[]
  readonly answer: Answer
}

interface Growing {
  readonly instructions: readonly string[]
  readonly rounds: readonly Round[]
  readonly isMarked: boolean
}

const round = fc.record({
  asked: fc.array(text, { maxLength: 2 }),
  reminders: fc.array(text, { maxLength: 2 }),
  answer,
})

const growing: fc.Arbitrary<Growing> = fc
  .record({
    instructions: fc.array(text, { maxLength: 2 }),
    rounds: fc.array(round, { minLength: 2, maxLength: 5 }),
    isMarked: fc.boolean(),
  })
  .map(({ rounds, ...one }) => ({
    ...one,
    rounds: rounds.map(({ asked, answer: { calls, ...said }, ...each }, at) => ({
      ...each,
      // Results alone go on with an agent's turn; without any there is a question.
      asked: at > 0 && (rounds[at - 1] as Round).answer.calls.length > 0 ? asked : ['?', ...asked],
      answer: { ...said, calls: calls.map((call) => ({ ...call, id: `${call.id}${at}` })) },
    })),
  }))

/** A text as clients write it: a string, but where it carries the mark. */
function contentOf(texts: readonly string[], isMarked: boolean): unknown {
  const parts: JsonObject[] = texts.map((one) => ({ type: 'text', text: one }))
  if (isMarked) Object.assign(parts.at(-1) as object, { cache_control: { type: 'ephemeral' } })
  return parts.length === 1 && !isMarked ? texts[0] : parts
}

/** What a client says in one round, as the items of its list. The last of its texts is marked, if there is one. */
function said(
  client: Client,
  { asked, reminders }: Round,
  results: readonly Call[],
  isMarked: boolean,
): JsonObject[] {
  const marksUser = isMarked && reminders.length === 0
  const system = (one: string, at: number): JsonObject => ({
    role: client === 'messages' || at === 0 ? 'system' : 'developer',
    content:
      client === 'responses' ? one : contentOf([one], isMarked && at === reminders.length - 1),
  })
  const shown = (id: string): string => marks.hidden(id)
  const wordsOf = ({ result }: Call): string =>
    result.map((one) => ('text' in one ? one.text : '')).join(' ')
  if (client === 'gemini') {
    const parts = [
      ...results.map((call) => functionResponse(call, shown)),
      ...asked.map((one): JsonObject => ({ text: one })),
    ]
    return parts.length > 0 ? [{ role: 'user', parts }] : []
  }
  if (client === 'messages') {
    const blocks: JsonObject[] = results.map((call) => ({
      type: 'tool_result',
      tool_use_id: shown(call.id),
      content: wordsOf(call),
      is_error: call.isError,
    }))
    const texts = asked.map((one): JsonObject => ({ type: 'text', text: one }))
    const content = [...blocks, ...texts]
    if (marksUser) Object.assign(content.at(-1) as object, { cache_control: { type: 'ephemeral' } })
    return [{ role: 'user', content }, ...reminders.map(system)]
  }
  const outputs = results.map((call): JsonObject =>
    client === 'chat'
      ? { role: 'tool', tool_call_id: shown(call.id), content: wordsOf(call) }
      : { type: 'function_call_output', call_id: shown(call.id), output: wordsOf(call) },
  )
  const isLast = marksUser && asked.length > 0
  const content = client === 'chat' ? contentOf(asked, isLast) : asked.join(' ')
  return [
    ...outputs,
    ...(asked.length > 0 ? [{ role: 'user', content }] : []),
    ...reminders.map(system),
  ]
}

/** The requests of a client as its conversation grows. */
function requestsOf(client: Client, { instructions, rounds, isMarked }: Growing): JsonObject[] {
  return rounds.map((_, last) => {
    const list = rounds.slice(0, last + 1).flatMap((each, at): JsonObject[] => {
      const results = rounds[at - 1]?.answer.calls ?? []
      const kept = at < last ? answerIn(client, each.answer, marks) : []
      const answered = at < last ? answeredIn(client, kept) : []
      return [...said(client, each, results, isMarked && at === last), ...answered]
    })
    const system = instructions.map((content) => ({ role: 'system', content }))
    const tools = toolsOf(client, rounds)
    if (client === 'chat') return { tools, messages: [...system, ...list] }
    if (client === 'responses') return { tools, instructions: instructions.join(' '), input: list }
    if (client === 'gemini')
      return {
        tools: [{ functionDeclarations: tools }],
        systemInstruction: { parts: instructions.map((one) => ({ text: one })) },
        contents: list,
      }
    return {
      tools,
      max_tokens: 100,
      system: instructions.map((one) => ({ type: 'text', text: one })),
      messages: list,
    }
  })
}

function answeredIn(client: Client, kept: Kept): Kept {
  if (client === 'messages') return [{ role: 'assistant', content: kept }]
  return client === 'gemini' ? [{ role: 'model', parts: kept }] : kept
}

function toolsOf(client: Client, rounds: readonly Round[]): JsonObject[] {
  const names = new Set(rounds.flatMap(({ answer: { calls } }) => calls.map(({ name }) => name)))
  const schema = { type: 'object', properties: {} }
  return ['look', ...names].map((name) => {
    if (client === 'messages') return { name, input_schema: schema }
    const described = { name, parameters: schema }
    if (client === 'gemini') return described
    return client === 'chat'
      ? { type: 'function', function: described }
      : { type: 'function', ...described }
  })
}

/**
 * The list of a body's messages, and all before it, without marks for the cache. Natively, a client's text is a list while
 * it carries the mark, which is the same to the format; `isExact` compares the bytes.
 */
function promptOf(body: JsonObject, isExact: boolean): { head: string; list: string[] } {
  const list = (body.messages ?? body.contents ?? body.input) as unknown[]
  const { system, systemInstruction, instructions, tools, toolConfig } = body
  const text = (value: unknown): string =>
    JSON.stringify(value, (key, inner: unknown) => {
      if (key === 'cache_control') return undefined
      if (!Array.isArray(inner)) return inner
      const kept = inner.filter(
        (one) => !(one !== null && typeof one === 'object' && 'cachePoint' in one),
      )
      const [only] = kept as JsonObject[]
      const isText = key === 'content' && kept.length === 1 && only?.type === 'text'
      return isText && !isExact ? only.text : kept
    })
  return {
    head: text({ system, systemInstruction, instructions, tools, toolConfig }),
    list: list.map(text),
  }
}

let server: ScriptedServer
const providers = new Map<string, Provider>()

before(async () => {
  server = await startScriptedServer(({ path }, response) =>
    path === TOKEN_PATH
      ? answerJson(response, 200, { access_token: 'a-token', expires_in: 3_600 })
      : answerJson(response, 400, { error: { message: 'no answer is needed' } }),
  )
  for (const [name, target] of Object.entries(TARGETS)) providers.set(name, target.open(server.url))
})

after(async () => {
  for (const each of providers.values()) await each.close()
  await server.close()
})

async function sentTo(name: string, client: Client, fields: JsonObject): Promise<string> {
  server.received.length = 0
  const call = { ...callOf(formats.read(client, fields)), model: TARGETS[name]?.model as string }
  const answered = await providers.get(name)?.completeChat?.(call, new AbortController().signal)
  const sent = server.received.find(({ path }) => path !== TOKEN_PATH)
  assert.ok(sent, `the request is sent: ${JSON.stringify(answered)}`)
  return sent.text
}

for (const client of CLIENTS)
  for (const name of Object.keys(TARGETS))
    test(`a conversation of ${client} that grows reaches ${name} as a prompt that grows`, async () => {
      await fc.assert(
        fc.asyncProperty(growing, async (one) => {
          let former: { head: string; list: string[] } | undefined
          for (const fields of requestsOf(client, one)) {
            const body = JSON.parse(await sentTo(name, client, fields)) as JsonObject
            const prompt = promptOf(body, !name.startsWith('Anthropic'))
            if (former) {
              assert.equal(prompt.head, former.head)
              assert.deepEqual(prompt.list.slice(0, former.list.length), former.list)
            }
            former = prompt
          }
        }),
        { numRuns: effort({ ordinary: 12, full: 500 }) },
      )
    })

/** A text that looks like a placeholder changes those of the whole request. */
const plain = prompt.filter(({ text: one }) => one.search(PLACEHOLDER) === -1)

test('a conversation that grows behind the shield keeps its placeholders', () => {
  fc.assert(
    fc.property(fc.array(plain, { minLength: 2, maxLength: 6 }), (prompts) => {
      let former: string[] = []
      for (const [at] of prompts.entries()) {
        const messages = prompts.slice(0, at + 1).map(({ text: content }, turn) => ({
          role: ['user', 'assistant', 'system'][turn % 3] as string,
          content,
        }))
        const masked = shieldChat({ model: 'm', messages }, { action: 'mask', uuids: 'near_pix' })
        const body = masked.kind === 'masked' ? masked.body : { messages }
        const list = (body.messages as object[]).map((one) => JSON.stringify(one))
        assert.deepEqual(list.slice(0, former.length), former)
        former = list
      }
    }),
    { numRuns: effort({ ordinary: 50, full: 1_000 }) },
  )
})
