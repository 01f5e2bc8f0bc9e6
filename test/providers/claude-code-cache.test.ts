/**
 * What a task of Claude Code 2.1.332 costs over an upstream that caches prefixes, as the client's own requests would cost
 * there. The requests are as it writes them: it moves one mark of the cache, writes a text as a list while it carries the
 * mark, adds a message of the role `system` behind each result, and loads a tool on the way.
 */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { JsonObject, Provider } from '../../src/gateway/providers/contract.ts'
import { createOpenAiCompatible } from '../../src/gateway/providers/openai-compatible/create-openai-compatible.ts'
import { costOf } from '../harness/prefix-cache.ts'
import { callOf, openChatFormats } from './chat-formats.ts'
import { TOKEN_PATH } from './fixture-server.ts'
import { answerJson, startScriptedServer, type ScriptedServer } from './scripted-server.ts'
import { LIMITS, openAiSdk, openByAccount } from './test-provider.ts'

const FLAGS = [
  'claude-code-20250219',
  'interleaved-thinking-2025-05-14',
  'context-management-2025-06-27',
  'thinking-token-count-2026-05-13',
  'advanced-tool-use-2025-11-20',
  'effort-2025-11-24',
  'thinking-display-updates-2026-08-18',
]
const CALLS = 6
const MARK = { cache_control: { type: 'ephemeral' } }
const long = (name: string, characters: number): string =>
  `${name} `.repeat(Math.ceil(characters / (name.length + 1)))

const tool = (name: string, more: JsonObject = {}): JsonObject => ({
  name,
  description: long(name, 2_000),
  input_schema: { type: 'object', properties: {} },
  ...more,
})

interface Task {
  readonly thinking: JsonObject
  /** Loads a tool by the second call. */
  readonly searches: boolean
}

/** The requests of a task of six calls of a tool, and the last one, which brings the last result. */
function requestsOf({ thinking, searches }: Task): JsonObject[] {
  return Array.from({ length: CALLS + 1 }, (_, calls) => {
    const isLoaded = searches && calls > 1
    const messages: JsonObject[] = [
      {
        role: 'user',
        content: [
          { type: 'text', text: `<system-reminder>\n${long('git', 900)}\n</system-reminder>` },
          { type: 'text', text: 'run six commands' },
        ],
      },
      reminder(long('# Environment', 4_000), calls === 0),
    ]
    for (let at = 0; at < calls; at += 1) {
      const isSearch = searches && at === 1
      const id = `toolu_${at}`
      messages.push({
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: `hm ${at}`, signature: `c2ln${at}` },
          { type: 'tool_use', id, name: isSearch ? 'ToolSearch' : 'Bash', input: { n: at } },
        ],
      })
      const result = { type: 'tool_result', tool_use_id: id }
      const found = [{ type: 'tool_reference', tool_name: 'WebFetch' }]
      messages.push({
        role: 'user',
        content: isSearch
          ? [
              { ...result, content: found },
              { type: 'text', text: 'Tool loaded.' },
            ]
          : [{ ...result, content: long(`line ${at}`, 2_800), is_error: false }],
      })
      messages.push(reminder(`<total_tokens>${at} tokens left</total_tokens>`, at === calls - 1))
    }
    return {
      model: 'claude-sonnet-5',
      system: [
        { type: 'text', text: 'x-anthropic-billing-header: cc_version=2.1.332.6b9' },
        { type: 'text', text: 'You are a Claude agent.', ...MARK },
        { type: 'text', text: long('You are an agent', 9_000), ...MARK },
      ],
      tools: [
        tool('Bash'),
        tool('ToolSearch'),
        ...(isLoaded ? [tool('WebFetch', { defer_loading: true })] : []),
        tool('DeferredToolPlaceholder', {
          defer_loading: true,
          description: 'Never call this tool.',
        }),
        tool('Write'),
      ],
      messages,
      max_tokens: 64_000,
      thinking,
      context_management: { edits: [{ type: 'clear_thinking_20251015', keep: 'all' }] },
      metadata: { user_id: '{}' },
    }
  })
}

function reminder(words: string, isMarked: boolean): JsonObject {
  const text = `<system-reminder>\n${words}\n</system-reminder>`
  return { role: 'system', content: isMarked ? [{ type: 'text', text, ...MARK }] : text }
}

const formats = openChatFormats()
let server: ScriptedServer
/** Why requests were not sent as they came. */
const translations: string[] = []

before(async () => {
  server = await startScriptedServer(({ path }, response) =>
    path === TOKEN_PATH
      ? answerJson(response, 200, { access_token: 'a-token', expires_in: 3_600 })
      : answerJson(response, 400, { error: { message: 'no answer is needed' } }),
  )
})

after(() => server.close())

async function sentBy(provider: Provider, model: string, requests: readonly JsonObject[]) {
  server.received.length = 0
  translations.length = 0
  const onTranslated = (reason: string): void => void translations.push(reason)
  for (const fields of requests) {
    const request = formats.read('messages', fields, undefined, FLAGS)
    const call = { ...callOf(request), model, onTranslated }
    await provider.completeChat?.(call, new AbortController().signal)
  }
  await provider.close()
  const sent = server.received.filter(({ path }) => path !== TOKEN_PATH)
  assert.equal(sent.length, requests.length)
  return sent
}

const ADAPTIVE = { type: 'adaptive', display: 'updates' }
const BUDGET = { type: 'enabled', budget_tokens: 2_000, display: 'updates' }

for (const [name, model, thinking] of [
  ['a model that takes instructions in the middle', 'claude-sonnet-5', ADAPTIVE],
  ['a model that takes none', 'claude-sonnet-4-5', BUDGET],
  ['a model that takes neither them nor its thinking', 'claude-sonnet-4-5', ADAPTIVE],
] as const)
  test(`a task of Claude Code costs at Anthropic, with ${name}, what its own requests cost`, async () => {
    const requests = requestsOf({
      thinking,
      searches: thinking === ADAPTIVE && model !== 'claude-sonnet-4-5',
    })
    const provider = openAiSdk('anthropic', { baseUrl: `${server.url}/v1`, apiKey: 'a-key' })
    const sent = await sentBy(provider, model, requests)
    const cost = costOf(sent.map(({ text }) => JSON.parse(text) as unknown))
    const own = costOf(requests)
    assert.ok(cost <= 1.05 * own, `${cost} is at most 1.05 times ${own}`)
    const isAsWritten = thinking === BUDGET || model === 'claude-sonnet-5'
    assert.deepEqual(translations, isAsWritten ? [] : requests.map(() => 'thinking'))
  })

test('a task of Claude Code costs on Vertex what its own requests cost', async () => {
  const requests = requestsOf({ thinking: BUDGET, searches: false })
  const sent = await sentBy(openByAccount(server.url), 'claude-sonnet-4-5@20250929', requests)
  const cost = costOf(sent.map(({ text }) => JSON.parse(text) as unknown))
  assert.ok(cost <= 1.05 * costOf(requests))
})

test('over chat completions, all that was sent of a task of Claude Code is sent again as it was', async () => {
  const provider = createOpenAiCompatible({
    ...LIMITS,
    baseUrl: `${server.url}/v1`,
    apiKey: 'a-key',
    maxTokensField: 'max_tokens',
  })
  const requests = requestsOf({ thinking: ADAPTIVE, searches: false })
  const sent = await sentBy(provider, 'gpt-5-mini', requests)
  let former = ''
  for (const { text } of sent) {
    const { messages, tools } = JSON.parse(text) as JsonObject
    const prompt = JSON.stringify([tools, messages])
    assert.ok(prompt.startsWith(former), 'the prompt begins as the one before')
    former = prompt.slice(0, -2)
  }
})

test('what Claude Code asks for with a flag reaches Anthropic with it, and not without', async () => {
  const provider = openAiSdk('anthropic', { baseUrl: `${server.url}/v1`, apiKey: 'a-key' })
  const [request] = requestsOf({ thinking: ADAPTIVE, searches: false }) as [JsonObject]
  const system = {
    role: 'system',
    content: [
      { type: 'text', text: 'Now.' },
      { type: 'tool_addition', tool: { type: 'tool_reference', name: 'Bash' } },
    ],
    output_config: { effort: 'high' },
    clear_at: 'next_user_message',
  }
  const fields = { ...request, messages: [{ role: 'user', content: 'Olá' }, system] }
  const flags = [
    ...FLAGS,
    'per-turn-control-2026-07-01',
    'mid-conversation-tool-changes-2026-07-01',
    'mid-conversation-system-clear-at-2026-08-21',
  ]
  for (const given of [flags, []]) {
    server.received.length = 0
    const call = callOf(formats.read('messages', fields, undefined, given))
    const { signal } = new AbortController()
    await provider.completeChat?.(
      { ...call, body: { ...call.body, reasoning_effort: 'high' }, model: 'claude-sonnet-5' },
      signal,
    )
    const sent = JSON.parse((server.received[0] as { text: string }).text)
    const isDeferred = sent.tools.some((one: JsonObject) => one.defer_loading)
    const has = given.length > 0
    assert.equal(sent.thinking.display, has ? 'updates' : undefined)
    assert.equal(isDeferred, has)
    assert.deepEqual(
      sent.messages[1],
      has ? system : { role: 'system', content: system.content.slice(0, 1) },
    )
  }
  await provider.close()
})
