/** The upstream's answer in the formats beside chat completions. */
import { answerText, answerTokens, promptTokenCount } from './chat-request.ts'

export interface FormatEvent {
  readonly type: string
  readonly [field: string]: unknown
}

const messagesUsage = {
  input_tokens: promptTokenCount,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
  output_tokens: answerTokens.length,
}
const message = {
  id: 'msg_bench',
  type: 'message',
  role: 'assistant',
  model: 'bench',
  content: [{ type: 'text', text: answerText }],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: messagesUsage,
}

export const messagesPlain: object = message

export const messagesEvents: readonly FormatEvent[] = [
  {
    type: 'message_start',
    message: {
      ...message,
      content: [],
      stop_reason: null,
      usage: { ...messagesUsage, output_tokens: 1 },
    },
  },
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  ...answerTokens.map((text) => ({
    type: 'content_block_delta',
    index: 0,
    delta: { type: 'text_delta', text },
  })),
  { type: 'content_block_stop', index: 0 },
  {
    type: 'message_delta',
    delta: { stop_reason: 'end_turn', stop_sequence: null },
    usage: { output_tokens: answerTokens.length },
  },
  { type: 'message_stop' },
]

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

export const responsesPlain: object = {
  id: 'resp_bench',
  object: 'response',
  created_at: 1_790_000_000,
  status: 'completed',
  model: 'bench',
  error: null,
  incomplete_details: null,
  output: [item('completed', [part(answerText)])],
  parallel_tool_calls: true,
  temperature: 0.7,
  tool_choice: 'auto',
  tools: [],
  usage: {
    input_tokens: promptTokenCount,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: answerTokens.length,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: promptTokenCount + answerTokens.length,
  },
}

const begun = { ...responsesPlain, status: 'in_progress', output: [], usage: null }

export const responsesEvents: readonly FormatEvent[] = [
  { type: 'response.created', response: begun },
  { type: 'response.in_progress', response: begun },
  { type: 'response.output_item.added', output_index: 0, item: item('in_progress', []) },
  { type: 'response.content_part.added', ...place, part: part('') },
  ...answerTokens.map((delta) => ({
    type: 'response.output_text.delta',
    ...place,
    delta,
    logprobs: [],
  })),
  { type: 'response.output_text.done', ...place, text: answerText, logprobs: [] },
  { type: 'response.content_part.done', ...place, part: part(answerText) },
  {
    type: 'response.output_item.done',
    output_index: 0,
    item: item('completed', [part(answerText)]),
  },
  { type: 'response.completed', response: responsesPlain },
].map((event, at) => ({ ...event, sequence_number: at }))
