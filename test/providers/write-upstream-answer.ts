/** One answer as upstreams of each format send it, plain and as the events of a stream. */
import type { JsonObject } from '../../src/gateway/providers/contract.ts'
import { toolCall, type Answer, type Thought } from './conversation-formats.ts'

export type Cut = (text: string) => string[]

/** By the path to which the request was sent. */
export function plainAnswer(path: string, answer: Answer): JsonObject {
  if (path.endsWith('/chat/completions')) return plainChat(answer)
  return path.endsWith('/messages') ? plainMessage(answer) : plainResponse(answer)
}

export function streamedAnswer(path: string, answer: Answer, cut: Cut): string {
  if (path.endsWith('/chat/completions')) return chatEvents(answer, cut)
  const events = path.endsWith('/messages')
    ? messageEvents(answer, cut)
    : responseEvents(answer, cut)
  return events
    .map((event) => `event: ${String(event.type)}\ndata: ${JSON.stringify(event)}\n\n`)
    .join('')
}

const same = (id: string): string => id

/** The thinking of a chat's upstream has no signature. */
const textOf = (thinking: readonly Thought[]): string => thinking.map((one) => one.text).join('')

function finishOf({ calls }: Answer): string {
  return calls.length > 0 ? 'tool_calls' : 'stop'
}

const CHAT_USAGE = { prompt_tokens: 50, completion_tokens: 20 }

function plainChat(answer: Answer): JsonObject {
  const { thinking, said, calls } = answer
  const message = {
    role: 'assistant',
    content: said.length > 0 ? said.join('') : null,
    ...(thinking.length > 0 ? { reasoning_content: textOf(thinking) } : {}),
    ...(calls.length > 0 ? { tool_calls: calls.map((one) => toolCall(one, same)) } : {}),
  }
  return { choices: [{ index: 0, message, finish_reason: finishOf(answer) }], usage: CHAT_USAGE }
}

function chatEvents(answer: Answer, cut: Cut): string {
  const { thinking, said, calls } = answer
  const deltas: JsonObject[] = [
    { role: 'assistant', content: '' },
    ...cut(textOf(thinking)).map((piece) => ({ reasoning_content: piece })),
    ...said.flatMap(cut).map((piece) => ({ content: piece })),
    ...calls.flatMap((one, index) => {
      const whole = toolCall(one, same)
      const { name } = one
      const [first = '', ...rest] = cut(JSON.stringify(one.input))
      return [
        { tool_calls: [{ ...whole, index, function: { name, arguments: first } }] },
        ...rest.map((piece) => ({ tool_calls: [{ index, function: { arguments: piece } }] })),
      ]
    }),
  ]
  const chunks = [
    ...deltas.map((delta) => ({ choices: [{ index: 0, delta, finish_reason: null }] })),
    { choices: [{ index: 0, delta: {}, finish_reason: finishOf(answer) }] },
    { choices: [], usage: CHAT_USAGE },
  ]
  return `${chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join('')}data: [DONE]\n\n`
}

const MESSAGE = { id: 'msg_up', type: 'message', role: 'assistant', model: 'up' }
const MESSAGE_USAGE = { input_tokens: 50, output_tokens: 20 }

function blocksOf({ thinking, said, calls }: Answer): JsonObject[] {
  return [
    ...thinking.map(({ text, signature, data }) =>
      data === undefined
        ? { type: 'thinking', thinking: text, signature }
        : { type: 'redacted_thinking', data },
    ),
    ...said.map((text) => ({ type: 'text', text })),
    ...calls.map(({ id, name, input }) => ({ type: 'tool_use', id, name, input })),
  ]
}

const stopOf = ({ calls }: Answer): string => (calls.length > 0 ? 'tool_use' : 'end_turn')

function plainMessage(answer: Answer): JsonObject {
  const end = { stop_reason: stopOf(answer), stop_sequence: null, usage: MESSAGE_USAGE }
  return { ...MESSAGE, content: blocksOf(answer), ...end }
}

function messageEvents(answer: Answer, cut: Cut): JsonObject[] {
  const start = { ...MESSAGE, content: [], stop_reason: null, stop_sequence: null }
  return [
    { type: 'message_start', message: { ...start, usage: { ...MESSAGE_USAGE, output_tokens: 1 } } },
    ...blocksOf(answer).flatMap((block, index) => {
      const { begun, deltas } = inPieces(block, cut)
      return [
        { type: 'content_block_start', index, content_block: begun },
        ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
        { type: 'content_block_stop', index },
      ]
    }),
    {
      type: 'message_delta',
      delta: { stop_reason: stopOf(answer), stop_sequence: null },
      usage: { output_tokens: 20 },
    },
    { type: 'message_stop' },
  ]
}

function inPieces(block: any, cut: Cut): { begun: JsonObject; deltas: JsonObject[] } {
  switch (block.type) {
    case 'thinking':
      return {
        begun: { ...block, thinking: '', signature: '' },
        deltas: [
          ...cut(block.thinking).map((thinking) => ({ type: 'thinking_delta', thinking })),
          { type: 'signature_delta', signature: block.signature },
        ],
      }
    case 'text':
      return {
        begun: { ...block, text: '' },
        deltas: cut(block.text).map((text) => ({ type: 'text_delta', text })),
      }
    case 'tool_use':
      return {
        begun: { ...block, input: {} },
        deltas: cut(JSON.stringify(block.input)).map((piece) => ({
          type: 'input_json_delta',
          partial_json: piece,
        })),
      }
    default:
      return { begun: block, deltas: [] }
  }
}

const RESPONSE_USAGE = {
  input_tokens: 50,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens: 20,
  output_tokens_details: { reasoning_tokens: 5 },
  total_tokens: 70,
}

function itemsOf({ thinking, said, calls }: Answer): JsonObject[] {
  return [
    ...thinking.map(({ text, signature, data }, at) => ({
      id: `rs_up${at}`,
      type: 'reasoning',
      summary: text === '' ? [] : [{ type: 'summary_text', text }],
      encrypted_content: signature ?? data,
    })),
    ...said.map((text, at) => ({
      id: `msg_up${at}`,
      type: 'message',
      role: 'assistant',
      status: 'completed',
      content: [{ type: 'output_text', text, annotations: [], logprobs: [] }],
    })),
    ...calls.map(({ id, name, input }, at) => ({
      id: `fc_up${at}`,
      type: 'function_call',
      call_id: id,
      name,
      arguments: JSON.stringify(input),
      status: 'completed',
    })),
  ]
}

function plainResponse(answer: Answer): JsonObject {
  const head = { id: 'resp_up', object: 'response', status: 'completed', model: 'up' }
  return { ...head, output: itemsOf(answer), usage: RESPONSE_USAGE }
}

function responseEvents(answer: Answer, cut: Cut): JsonObject[] {
  const response = plainResponse(answer)
  const begun = { ...response, status: 'in_progress', output: [], usage: null }
  const events: JsonObject[] = [
    { type: 'response.created', response: begun },
    { type: 'response.in_progress', response: begun },
    ...itemsOf(answer).flatMap((item, index) => itemEvents(item, index, cut)),
    { type: 'response.completed', response },
  ]
  return events.map((event, sequence) => ({ ...event, sequence_number: sequence }))
}

function itemEvents(item: any, index: number, cut: Cut): JsonObject[] {
  const at = { item_id: item.id, output_index: index }
  const done = { type: 'response.output_item.done', output_index: index, item }
  const added = (begun: object): JsonObject => ({
    type: 'response.output_item.added',
    output_index: index,
    item: { ...item, ...begun },
  })
  if (item.type === 'function_call')
    return [
      added({ arguments: '', status: 'in_progress' }),
      ...cut(item.arguments).map((delta) => ({
        type: 'response.function_call_arguments.delta',
        ...at,
        delta,
      })),
      {
        type: 'response.function_call_arguments.done',
        ...at,
        name: item.name,
        arguments: item.arguments,
      },
      done,
    ]
  const isReasoning = item.type === 'reasoning'
  const begun = isReasoning ? { summary: [] } : { content: [], status: 'in_progress' }
  const parts: any[] = isReasoning ? item.summary : item.content
  return [added(begun), ...parts.flatMap((part) => partEvents(part, isReasoning, at, cut)), done]
}

function partEvents(part: any, isReasoning: boolean, item: object, cut: Cut): JsonObject[] {
  const at = { ...item, ...(isReasoning ? { summary_index: 0 } : { content_index: 0 }) }
  const name = isReasoning ? 'reasoning_summary_text' : 'output_text'
  const wrapper = isReasoning ? 'reasoning_summary_part' : 'content_part'
  const logprobs = isReasoning ? {} : { logprobs: [] }
  return [
    { type: `response.${wrapper}.added`, ...at, part: { ...part, text: '' } },
    ...cut(part.text).map((delta) => ({
      type: `response.${name}.delta`,
      ...at,
      delta,
      ...logprobs,
    })),
    { type: `response.${name}.done`, ...at, text: part.text, ...logprobs },
    { type: `response.${wrapper}.done`, ...at, part },
  ]
}

const chatNoise = (choice: JsonObject): JsonObject => ({
  choices: [{ index: 0, finish_reason: null, ...choice }],
})

/** Events and comments that say nothing, as some upstreams send them anywhere. */
const NOISE: Readonly<Record<'chat' | 'messages' | 'responses', readonly (JsonObject | string)[]>> =
  {
    chat: [
      ': keep-alive',
      'event: ping',
      { choices: [] },
      { choices: [], usage: null },
      { choices: null },
      { id: 'a', object: 'chat.completion.chunk', model: 'm' },
      { ...chatNoise({ delta: {} }), usage: { prompt_tokens: 1, completion_tokens: 1 } },
      chatNoise({ delta: { role: 'assistant' } }),
      chatNoise({ delta: { role: 'assistant', content: null, refusal: null } }),
      chatNoise({ delta: { content: '', reasoning_content: '', tool_calls: [] } }),
      chatNoise({
        delta: { content: null, tool_calls: null, function_call: null },
        logprobs: null,
      }),
      chatNoise({ delta: null }),
      chatNoise({}),
    ],
    messages: [': keep-alive', { type: 'ping' }, { type: 'vendor_event', index: 0, delta: {} }],
    responses: [
      ': keep-alive',
      { type: 'keepalive', sequence_number: 0 },
      { type: 'response.vendor.progress', item_id: 'a', output_index: 0 },
    ],
  }

/** With noise at these places of a stream, after its first event. */
export function withNoise(path: string, stream: string, places: readonly number[]): string {
  const events = stream.split('\n\n').slice(0, -1)
  const format = path.endsWith('/messages')
    ? 'messages'
    : path.endsWith('/responses')
      ? 'responses'
      : 'chat'
  const kinds = NOISE[format]
  for (const place of places) {
    const noise = kinds[place % kinds.length] as JsonObject | string
    const text = typeof noise === 'string' ? noise : `data: ${JSON.stringify(noise)}`
    events.splice(1 + (place % (events.length - 1)), 0, text)
  }
  return `${events.join('\n\n')}\n\n`
}
