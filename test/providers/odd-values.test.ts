// deep: every value of a request replaced by odd ones
/**
 * Every value of a request in each client's format is replaced by odd ones, one at a time. Whatever is sent, the request
 * is read or refused, and written for an upstream of its own format and for one of chat completions; nothing throws. An
 * image that is sent is an image that was counted.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createChatCompletionsFormat } from '../../src/gateway/calls/chat/formats/chat-completions/chat-completions-format.ts'
import { createMessagesFormat } from '../../src/gateway/calls/chat/formats/messages/messages-format.ts'
import { createReasoningSeals } from '../../src/gateway/calls/chat/formats/responses/reasoning-seal.ts'
import {
  createResponsesFormat,
  readResponsesRequest,
} from '../../src/gateway/calls/chat/formats/responses/responses-format.ts'
import { contentOf } from '../../src/gateway/calls/chat/bound-chat.ts'
import type { ChatRequest } from '../../src/gateway/calls/chat/chat-request.ts'
import { createToolCallIds } from '../../src/gateway/calls/chat/tool-call-ids.ts'
import { isRefusal, type Refusal } from '../../src/gateway/calls/refusal.ts'
import type { Model } from '../../src/money/catalog/model.ts'
import { writeNativeMessages } from '../../src/gateway/providers/ai-sdk/native-messages/write-native-messages.ts'
import type { JsonObject } from '../../src/gateway/providers/contract.ts'
import { createChatBody } from '../../src/gateway/providers/openai-compatible/chat-body.ts'
import { OPEN_CHAT_FIELDS } from '../../src/gateway/providers/openai-compatible/chat-deltas.ts'
import {
  isNativeResponse,
  writeNativeResponse,
} from '../../src/gateway/providers/openai-compatible/native-responses/write-native-response.ts'

const DATA = 'iVBORw0KGgo'.repeat(4)
const image = `data:image/png;base64,${DATA}`
const schema = { type: 'object', properties: { city: { type: 'string' } } }
const chat = {
  model: 'm',
  max_tokens: 64,
  temperature: 0.5,
  stream: true,
  stream_options: { include_usage: true },
  user: 'u',
  messages: [
    { role: 'system', content: 'Seja breve.' },
    {
      role: 'user',
      content: [
        { type: 'text', text: 'Olá' },
        { type: 'image_url', image_url: { url: image, detail: 'low' } },
      ],
    },
    {
      role: 'assistant',
      content: null,
      tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'f', arguments: '{}' } }],
    },
    { role: 'tool', tool_call_id: 'call_1', content: 'r' },
  ],
  tools: [{ type: 'function', function: { name: 'f', description: 'd', parameters: schema } }],
  tool_choice: { type: 'function', function: { name: 'f' } },
  response_format: { type: 'json_schema', json_schema: { name: 'n', schema } },
}
const messages = {
  model: 'm',
  max_tokens: 64,
  system: [{ type: 'text', text: 's', cache_control: { type: 'ephemeral', ttl: '1h' } }],
  thinking: { type: 'enabled', budget_tokens: 1_024 },
  metadata: { user_id: 'u' },
  stop_sequences: ['x'],
  messages: [
    {
      role: 'user',
      content: [
        { type: 'image', source: { type: 'base64', media_type: 'image/png', data: DATA } },
        { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'd' } },
      ],
    },
    {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 't', signature: 's' },
        { type: 'redacted_thinking', data: 'd' },
        { type: 'text', text: 'a' },
        { type: 'tool_use', id: 'toolu_1', name: 'f', input: {} },
      ],
    },
    {
      role: 'user',
      content: [
        {
          type: 'tool_result',
          tool_use_id: 'toolu_1',
          content: [
            { type: 'text', text: 'r' },
            { type: 'image', source: { type: 'base64', media_type: 'image/png', data: DATA } },
          ],
        },
      ],
    },
  ],
  tools: [
    { name: 'f', description: 'd', input_schema: schema },
    { type: 'web_search_20250305', name: 'web_search', max_uses: 2, user_location: { city: 'c' } },
  ],
  tool_choice: { type: 'tool', name: 'f' },
  output_config: { effort: 'low', format: { type: 'json_schema', schema } },
}
const responses = {
  model: 'm',
  instructions: 'i',
  max_output_tokens: 64,
  max_tool_calls: 2,
  temperature: 0.5,
  top_p: 0.5,
  user: 'u',
  metadata: { a: 'b' },
  include: ['reasoning.encrypted_content'],
  reasoning: { effort: 'low', summary: 'auto' },
  text: { verbosity: 'low', format: { type: 'json_schema', name: 'n', schema, strict: true } },
  input: [
    {
      type: 'message',
      role: 'user',
      content: [
        { type: 'input_text', text: 'Olá' },
        { type: 'input_image', image_url: image, detail: 'low' },
        { type: 'input_file', file_data: 'data:application/pdf;base64,AA==', filename: 'f.pdf' },
      ],
    },
    { type: 'reasoning', summary: [{ type: 'summary_text', text: 't' }], encrypted_content: 'e' },
    { type: 'function_call', call_id: 'call_1', name: 'f', namespace: 'n', arguments: '{}' },
    {
      type: 'function_call_output',
      call_id: 'call_1',
      output: [{ type: 'input_image', image_url: image }],
    },
    { type: 'custom_tool_call', call_id: 'call_2', name: 'c', input: 'x' },
    { type: 'custom_tool_call_output', call_id: 'call_2', output: 'r' },
    { type: 'web_search_call', status: 'completed', action: { type: 'search', query: 'q' } },
  ],
  tools: [
    { type: 'function', name: 'f', description: 'd', parameters: schema, strict: true },
    { type: 'namespace', name: 'n', tools: [{ type: 'function', name: 'f', parameters: schema }] },
    { type: 'custom', name: 'c', format: { type: 'grammar', syntax: 'lark', definition: 'g' } },
    { type: 'web_search', filters: { allowed_domains: ['a'] }, search_context_size: 'low' },
  ],
  tool_choice: {
    type: 'allowed_tools',
    mode: 'auto',
    tools: [{ type: 'function', name: 'f', namespace: 'n' }],
  },
}

/** `String` and `Number` throw for the first two, and take a list of one text for the text. */
const oddValues = (value: unknown): unknown[] => [
  { toString: 1, valueOf: 1 },
  [{ toString: 1, valueOf: 1 }],
  [value],
  null,
  true,
  -1,
  '',
  [],
  {},
  [[]],
]

const key = Buffer.alloc(32, 7)
const ids = createToolCallIds([key])
const seals = createReasoningSeals({ sealingKey: key })
const formats = {
  chat: {
    body: chat,
    format: createChatCompletionsFormat(ids, (body, bytes, customerId) =>
      readResponsesRequest(body, bytes, seals(customerId)),
    ),
  },
  messages: { body: messages, format: createMessagesFormat(ids, seals) },
  responses: { body: responses, format: createResponsesFormat(seals, ids) },
}
const model = { id: 'm', routes: [] } as unknown as Model
const chatBody = createChatBody({ fields: OPEN_CHAT_FIELDS, maxTokensField: 'max_tokens' })
const head = { model: 'm', max_tokens: 64 }

for (const [name, { body, format }] of Object.entries(formats))
  test(`a request in the format ${name} with an odd value is answered, whichever value it is`, () => {
    let accepted = 0
    for (const [place, odd] of variantsOf(body)) {
      const raw = Buffer.from(JSON.stringify(odd))
      const caller = { customerId: 'c', id: 'k', storedResponsesDays: null } as never
      try {
        const request: ChatRequest | Refusal = format.readRequest(raw, caller)
        if (isRefusal(request)) continue
        accepted += 1
        for (const text of writtenTexts(request))
          assert.ok(
            text.split(DATA).length - 1 <= request.imageCount,
            'an image is sent that was not counted',
          )
      } catch (cause) {
        throw new Error(`${place} ${JSON.stringify(odd).slice(0, 2_000)}`, { cause })
      }
    }
    assert.ok(accepted > 50, `${accepted} requests were accepted`)
  })

/** What each adapter that takes the request would send. */
function writtenTexts(request: ChatRequest): string[] {
  const content = contentOf(model, request, 'm', 64, request.native?.webSearches)
  const texts = [chatBody.write(content)]
  if (isNativeResponse(content)) texts.push(writeNativeResponse(content, undefined).text)
  if (request.native?.format === 'messages') {
    const written = writeNativeMessages(content, 'anthropic', 'claude-sonnet-4-5')
    if (written) texts.push(written.write(head))
  }
  return texts
}

/** Copies of a body, each with one odd value, and the place of that value. */
function* variantsOf(body: JsonObject): Generator<[string, JsonObject]> {
  for (const path of pathsOf(body, []))
    for (const odd of oddValues(valueAt(body, path))) {
      const copy = structuredClone(body)
      const carrier = valueAt(copy, path.slice(0, -1)) as Record<string, unknown>
      carrier[path.at(-1) as string] = odd
      yield [path.join('.'), copy]
    }
}

function* pathsOf(value: unknown, path: string[]): Generator<string[]> {
  if (path.length > 0) yield path
  if (typeof value !== 'object' || value === null) return
  for (const [name, inner] of Object.entries(value)) yield* pathsOf(inner, [...path, name])
}

function valueAt(value: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((at, name) => (at as Record<string, unknown>)[name], value)
}
