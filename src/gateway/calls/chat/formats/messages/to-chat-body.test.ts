import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from '../../../../../../test/harness/fast-check.ts'
import {
  conversation,
  PNG_BASE64,
  type Conversation,
} from '../../../../../../test/harness/generate-messages-conversation.ts'
import { isObject } from '../../../../../platform/lib/is-object.ts'
import type { JsonObject } from '../../../../providers/contract.ts'
import { readMessages } from '../../read-messages.ts'
import { InvalidField } from '../fields.ts'
import { toChatBody } from './to-chat-body.ts'

const REQUEST = { model: 'a-model', max_tokens: 100 }
const HELLO = [{ role: 'user', content: 'Olá' }]

const messagesOf = (more: JsonObject): any =>
  toChatBody({ ...REQUEST, messages: HELLO, ...more }).messages

/** Reads a conversation in the chat-completions shape back to Messages: the reverse of the translation. */
function toMessages(chat: readonly JsonObject[]): Conversation {
  const system: JsonObject[] = []
  const messages: { role: string; content: JsonObject[] }[] = []
  let results: JsonObject[] = []
  for (const message of chat) {
    if (message.role === 'system') system.push(...(message.content as JsonObject[]))
    if (message.role === 'tool') {
      const { tool_call_id: id, content } = message
      results.push({ type: 'tool_result', tool_use_id: id, content })
    }
    if (message.role === 'user') {
      const content = (message.content as any[]).map((part) =>
        part.type === 'image_url' ? imageOf(part.image_url.url) : part,
      )
      messages.push({ role: 'user', content: [...results, ...content] })
      results = []
    }
    if (message.role === 'assistant')
      messages.push({
        role: 'assistant',
        content: [
          ...((message.reasoning_details ?? []) as any[]).map(thinkingOf),
          ...((message.content ?? []) as JsonObject[]),
          ...((message.tool_calls ?? []) as any[]).map((call) => ({
            type: 'tool_use',
            id: call.id,
            name: call.function.name,
            input: JSON.parse(call.function.arguments),
          })),
        ],
      })
  }
  return { system, messages }
}

function imageOf(url: string): JsonObject {
  const [, mediaType, data] = /^data:(.*);base64,(.*)$/.exec(url) ?? []
  return { type: 'image', source: { type: 'base64', media_type: mediaType, data } }
}

function thinkingOf({ type, text, signature, data }: any): JsonObject {
  return type === 'reasoning.encrypted'
    ? { type: 'redacted_thinking', data }
    : { type: 'thinking', thinking: text, signature }
}

test('a conversation keeps roles, order, tool ids, signatures and images', () => {
  fc.assert(
    fc.property(conversation, (one) => {
      const chat = toChatBody({ ...REQUEST, ...structuredClone(one) }).messages as JsonObject[]
      assert.deepEqual(toMessages(chat), one)
      // The check of every chat takes it, and takes nothing away: a single text is no list.
      const before = chat.map((message) => ({ ...message, content: plainOf(message.content) }))
      assert.ok(isObject(readMessages(chat)))
      assert.deepEqual(chat, before)
    }),
    { numRuns: 300 },
  )
})

function plainOf(content: unknown): unknown {
  const [only, ...others] = Array.isArray(content) ? (content as JsonObject[]) : []
  const isText = only?.type === 'text' && only.cache_control === undefined
  return others.length === 0 && isText ? only.text : structuredClone(content)
}

test('instructions within the messages keep their place', () => {
  const messages = messagesOf({
    system: 'Seja breve.',
    messages: [...HELLO, { role: 'system', content: 'Seja gentil.' }, ...HELLO],
  })
  assert.deepEqual(
    messages.map(({ role }: JsonObject) => role),
    ['system', 'user', 'system', 'user'],
  )
})

test('images of a tool result follow in the message of the user, because a tool has only text', () => {
  const source = { type: 'base64', media_type: 'image/png', data: PNG_BASE64 }
  const messages = messagesOf({
    messages: [
      ...HELLO,
      { role: 'assistant', content: [{ type: 'tool_use', id: 't', name: 'foto', input: {} }] },
      {
        role: 'user',
        content: [
          {
            type: 'tool_result',
            tool_use_id: 't',
            content: [
              { type: 'text', text: 'A foto:' },
              { type: 'image', source },
            ],
          },
        ],
      },
    ],
  })
  assert.deepEqual(messages.slice(-2), [
    { role: 'tool', tool_call_id: 't', content: [{ type: 'text', text: 'A foto:' }] },
    {
      role: 'user',
      content: [{ type: 'image_url', image_url: { url: `data:image/png;base64,${PNG_BASE64}` } }],
    },
  ])
})

test('marks of the cache stay on their texts, results and tools, with their lifetime', () => {
  const mark = { type: 'ephemeral', ttl: '1h' }
  const text = { type: 'text', text: 'x', cache_control: mark }
  const body = toChatBody({
    ...REQUEST,
    system: [text],
    messages: [
      { role: 'user', content: [text] },
      { role: 'assistant', content: [{ type: 'tool_use', id: 't', name: 'a', input: {} }] },
      {
        role: 'user',
        content: [{ type: 'tool_result', tool_use_id: 't', content: 'y', cache_control: mark }],
      },
    ],
    tools: [{ name: 'a', input_schema: {}, cache_control: mark }],
  }) as any
  const marked = [
    body.messages[0].content[0],
    body.messages[1].content[0],
    body.messages[3].content[0],
    body.tools[0],
  ]
  for (const carrier of marked) assert.deepEqual(carrier.cache_control, mark)
})

test('thinking without a signature is left out: no provider accepts it back', () => {
  const [message] = messagesOf({
    messages: [
      { role: 'assistant', content: [{ type: 'thinking', thinking: 'a', signature: '' }] },
    ],
  })
  assert.deepEqual(message, { role: 'assistant', content: '' })
})

test('documents become files, and those of text become text', () => {
  const data = Buffer.from('%PDF-1.4').toString('base64')
  const source = { type: 'base64', media_type: 'application/pdf', data }
  const [message] = messagesOf({
    messages: [
      {
        role: 'user',
        content: [
          { type: 'document', title: 'contrato.pdf', source },
          { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'claro' } },
        ],
      },
    ],
  })
  assert.deepEqual(message.content, [
    {
      type: 'file',
      file: { filename: 'contrato.pdf', file_data: `data:application/pdf;base64,${data}` },
    },
    { type: 'text', text: 'claro' },
  ])
})

test('the tools of the client pass; the search of the web is left out, with its choice', () => {
  const own = { name: 'ler', description: 'Lê.', input_schema: { type: 'object' } }
  const search = { type: 'web_search_20250305', name: 'web_search', max_uses: 5 }
  const body = (choice: object): JsonObject =>
    toChatBody({
      ...REQUEST,
      messages: HELLO,
      tools: [search, own, { ...own, type: 'custom', name: 'gravar', defer_loading: true }],
      tool_choice: choice,
    })
  const { tools } = body({ type: 'auto' }) as { tools: any[] }
  assert.deepEqual(
    tools.map((tool) => [tool.type, tool.function.name, tool.function.parameters]),
    [
      ['function', 'ler', { type: 'object', properties: {} }],
      ['function', 'gravar', { type: 'object', properties: {} }],
    ],
  )
  const chosen = { name: 'ler' }
  const choices: [object, unknown, unknown][] = [
    [{ type: 'auto' }, undefined, undefined],
    [{ type: 'any' }, 'required', undefined],
    [{ type: 'none' }, 'none', undefined],
    [{ type: 'auto', disable_parallel_tool_use: true }, undefined, false],
    [{ type: 'tool', name: 'ler' }, { type: 'function', function: chosen }, undefined],
    [{ type: 'tool', name: 'web_search' }, undefined, undefined],
  ]
  for (const [choice, expected, parallel] of choices) {
    const { tool_choice, parallel_tool_calls } = body(choice)
    assert.deepEqual([tool_choice, parallel_tool_calls], [expected, parallel])
  }
  const onlySearch = toChatBody({ ...REQUEST, messages: HELLO, tools: [search] })
  assert.equal(onlySearch.tools, undefined)
})

test('tools that the client runs and the provider describes are functions with the documented input', () => {
  const typed = [
    { type: 'bash_20250124', name: 'bash' },
    { type: 'bash_20241022', name: 'bash' },
    { type: 'text_editor_20250728', name: 'str_replace_based_edit_tool', max_characters: 100 },
    { type: 'text_editor_20241022', name: 'str_replace_editor' },
    { type: 'memory_20250818', name: 'memory' },
    { type: 'computer_20251124', name: 'computer', display_width_px: 800, display_height_px: 600 },
    { type: 'computer_20991231', name: 'computer' },
  ]
  for (const tool of typed) {
    const choice = { type: 'tool', name: tool.name }
    const { tools, tool_choice } = toChatBody({
      ...REQUEST,
      messages: HELLO,
      tools: [tool],
      tool_choice: choice,
    }) as { tools: any[]; tool_choice: unknown }
    assert.deepEqual(tool_choice, { type: 'function', function: { name: tool.name } })
    const [{ function: made }] = tools
    assert.equal(made.name, tool.name)
    assert.equal(made.parameters.type, 'object')
    const main = tool.type.startsWith('computer') ? 'action' : 'command'
    assert.ok(isObject(made.parameters.properties[main]), tool.type)
  }
})

test('tools that only the provider runs are refused; the searches of the web and of tools are left out', () => {
  const read = (type: string): JsonObject =>
    toChatBody({ ...REQUEST, messages: HELLO, tools: [{ type, name: 'x' }] })
  for (const type of [
    'code_execution_20250825',
    'web_fetch_20250910',
    'mcp_toolset',
    'advisor_20260301',
    'new',
  ])
    assert.throws(() => read(type), /só o provedor do modelo executa/)
  for (const type of ['web_search_20260318', 'tool_search_tool_bm25_20251119'])
    assert.equal(read(type).tools, undefined)
})

test('the budget of thinking becomes an effort', () => {
  const effort = (more: JsonObject): unknown =>
    toChatBody({ ...REQUEST, messages: HELLO, ...more }).reasoning_effort
  const enabled = (budget_tokens: number): JsonObject => ({
    max_tokens: 10_000,
    thinking: { type: 'enabled', budget_tokens },
  })
  assert.equal(effort({}), undefined)
  assert.equal(effort({ thinking: { type: 'disabled' } }), 'none')
  assert.equal(effort({ output_config: { effort: 'low' } }), 'low')
  assert.equal(effort(enabled(1_024)), 'low')
  assert.equal(effort(enabled(4_000)), 'medium')
  assert.equal(effort(enabled(9_999)), 'high')
  const adaptive = { thinking: { type: 'adaptive' } }
  assert.equal(effort(adaptive), 'medium')
  for (const [asked, sent] of Object.entries({ low: 'low', high: 'high', max: 'high' }))
    assert.equal(effort({ ...adaptive, output_config: { effort: asked } }), sent)
})

test('a schema of the output is passed on', () => {
  const schema = { type: 'object', properties: {} }
  const { response_format: format } = toChatBody({
    ...REQUEST,
    messages: HELLO,
    output_config: { format: { type: 'json_schema', schema } },
  }) as any
  assert.deepEqual(format.json_schema.schema, schema)
})

test('faults are found, with their place', () => {
  const user = (content: unknown): JsonObject => ({ messages: [{ role: 'user', content }] })
  const faulty: Record<string, [JsonObject, RegExp]> = {
    'no limit': [{ max_tokens: undefined }, /"max_tokens"/],
    'no messages': [{ messages: undefined }, /"messages"/],
    'empty messages': [{ messages: [] }, /"messages"/],
    'a message that is a text': [{ messages: ['x'] }, /messages\[0\]/],
    'an unknown role': [{ messages: [{ role: 'tool', content: 'x' }] }, /messages\[0\]\.role/],
    'content that is a number': [user(5), /messages\[0\]\.content/],
    'a text block without text': [user([{ type: 'text' }]), /messages\[0\]\.content\[0\]/],
    'an image without data': [user([{ type: 'image' }]), /messages\[0\]\.content\[0\]\.source/],
    'a result of no call': [user([{ type: 'tool_result' }]), /tool_use_id/],
    'a call without a name': [
      { messages: [{ role: 'assistant', content: [{ type: 'tool_use', id: 'a' }] }] },
      /"name"/,
    ],
    'a system of images': [{ system: [{ type: 'image' }] }, /system\[0\]/],
    'tools that are no list': [{ tools: {} }, /"tools"/],
    'a tool without a name': [{ tools: [{ input_schema: {} }] }, /"name"/],
    'servers of tools': [{ mcp_servers: [{ url: 'https://example.com' }] }, /"mcp_servers"/],
  }
  for (const [name, [more, place]] of Object.entries(faulty))
    assert.throws(
      () => toChatBody({ ...REQUEST, messages: HELLO, ...more }),
      (error) => error instanceof InvalidField && place.test(error.message),
      name,
    )
})

test('a signature is given to one call, however often a request repeats its id', () => {
  const open = (sealed: unknown) =>
    sealed === 'sealed' ? { fields: {}, calls: { a: 's'.repeat(1_000) } } : undefined
  const call = { type: 'tool_use', id: 'a', name: 'f', input: {} }
  const content = [
    { type: 'redacted_thinking', data: 'sealed' },
    ...Array.from({ length: 50 }, () => call),
  ]
  const body = toChatBody({ ...REQUEST, messages: [{ role: 'assistant', content }] }, open)
  assert.equal(JSON.stringify(body).split('s'.repeat(1_000)).length - 1, 1)
})
