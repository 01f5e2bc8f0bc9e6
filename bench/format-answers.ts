/** The upstream's answers in the formats beside chat completions. */
import { promptTokenCount } from './chat-request.ts'

export interface FormatEvent {
  readonly type: string
  readonly [field: string]: unknown
}

/** The same answer, whole and as the events of a stream. */
export interface FormatAnswer {
  readonly plain: object
  readonly events: readonly FormatEvent[]
}

export function messagesAnswer(tokens: readonly string[]): FormatAnswer {
  const usage = {
    input_tokens: promptTokenCount,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: 0,
    output_tokens: tokens.length,
  }
  const message = {
    id: 'msg_bench',
    type: 'message',
    role: 'assistant',
    model: 'bench',
    content: [{ type: 'text', text: tokens.join('') }],
    stop_reason: 'end_turn',
    stop_sequence: null,
    usage,
  }
  const begun = {
    ...message,
    content: [],
    stop_reason: null,
    usage: { ...usage, output_tokens: 1 },
  }
  const events = [
    { type: 'message_start', message: begun },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    ...tokens.map((text) => ({
      type: 'content_block_delta',
      index: 0,
      delta: { type: 'text_delta', text },
    })),
    { type: 'content_block_stop', index: 0 },
    {
      type: 'message_delta',
      delta: { stop_reason: 'end_turn', stop_sequence: null },
      usage: { output_tokens: tokens.length },
    },
    { type: 'message_stop' },
  ]
  return { plain: message, events }
}

const place = { item_id: 'msg_bench', output_index: 0, content_index: 0 }
const part = (text: string): object => ({
  type: 'output_text',
  text,
  annotations: [],
  logprobs: [],
})
const item = (status: string, content: readonly object[]): object => ({
  id: 'msg_bench',
  type: 'message',
  status,
  role: 'assistant',
  content,
})

export function responsesAnswer(tokens: readonly string[]): FormatAnswer {
  const text = tokens.join('')
  const plain = {
    id: 'resp_bench',
    object: 'response',
    created_at: 1_790_000_000,
    status: 'completed',
    model: 'bench',
    error: null,
    incomplete_details: null,
    output: [item('completed', [part(text)])],
    parallel_tool_calls: true,
    temperature: 0.7,
    tool_choice: 'auto',
    tools: [],
    usage: {
      input_tokens: promptTokenCount,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: tokens.length,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: promptTokenCount + tokens.length,
    },
  }
  const begun = { ...plain, status: 'in_progress', output: [], usage: null }
  const events = [
    { type: 'response.created', response: begun },
    { type: 'response.in_progress', response: begun },
    { type: 'response.output_item.added', output_index: 0, item: item('in_progress', []) },
    { type: 'response.content_part.added', ...place, part: part('') },
    ...tokens.map((delta) => ({
      type: 'response.output_text.delta',
      ...place,
      delta,
      logprobs: [],
    })),
    { type: 'response.output_text.done', ...place, text, logprobs: [] },
    { type: 'response.content_part.done', ...place, part: part(text) },
    { type: 'response.output_item.done', output_index: 0, item: item('completed', [part(text)]) },
    { type: 'response.completed', response: plain },
  ].map((event, at) => ({ ...event, sequence_number: at }))
  return { plain, events }
}
