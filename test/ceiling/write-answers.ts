/** The shortest valid answers of each provider format, with the billed usage. */
import { eventFrame } from '../providers/event-stream.ts'
import { anthropicUsage, bedrockUsage, cohereUsage, geminiUsage } from './ai-sdk-formats.ts'
import type { Bill } from './bill.ts'
import { openAiUsage, responseUsage } from './openai-format.ts'

export interface Answer {
  readonly type: string
  readonly body: string | Buffer
}

const JSON_TYPE = 'application/json'
const sse = (events: readonly (string | object)[]): Answer => ({
  type: 'text/event-stream',
  body: events
    .map((event) => {
      const name =
        typeof event === 'object' && 'type' in event ? `event: ${String(event.type)}\n` : ''
      return `${name}data: ${typeof event === 'string' ? event : JSON.stringify(event)}\n\n`
    })
    .join(''),
})
const json = (body: object): Answer => ({ type: JSON_TYPE, body: JSON.stringify(body) })

export function openAiAnswer(bill: Bill, choices: number, isStream: boolean): Answer {
  const indexes = Array.from({ length: choices }, (_, index) => index)
  const usage = openAiUsage(bill)
  if (!isStream) {
    const message = { role: 'assistant', content: 'x' }
    return json({
      id: 'c',
      object: 'chat.completion',
      choices: indexes.map((index) => ({ index, message, finish_reason: 'length' })),
      usage,
    })
  }
  const chunk = (more: object): object => ({ id: 'c', object: 'chat.completion.chunk', ...more })
  const delta = { content: 'x' }
  return sse([
    chunk({ choices: indexes.map((index) => ({ index, delta, finish_reason: null })) }),
    chunk({ choices: indexes.map((index) => ({ index, delta: {}, finish_reason: 'length' })) }),
    chunk({ choices: [], usage }),
    '[DONE]',
  ])
}

export function openAiResponse(bill: Bill, isStream: boolean): Answer {
  const content = [{ type: 'output_text', text: 'x', annotations: [] }]
  const item = { id: 'm', type: 'message', role: 'assistant', status: 'incomplete', content }
  const searches = Array.from({ length: bill.searches }, (_, index) => ({
    id: `ws${index}`,
    type: 'web_search_call',
    status: 'completed',
    action: { type: 'search', query: 'x' },
  }))
  const response = {
    id: 'r',
    object: 'response',
    status: 'incomplete',
    incomplete_details: { reason: 'max_output_tokens' },
    output: [...searches, item],
    usage: responseUsage(bill),
  }
  if (!isStream) return json(response)
  const at = { item_id: 'm', output_index: 0, content_index: 0 }
  return sse([
    { type: 'response.created', response: { ...response, status: 'in_progress', output: [] } },
    { type: 'response.output_item.added', output_index: 0, item: { ...item, content: [] } },
    { type: 'response.output_text.delta', ...at, delta: 'x' },
    { type: 'response.output_item.done', output_index: 0, item },
    { type: 'response.incomplete', response },
  ])
}

export function anthropicAnswer(bill: Bill, isStream: boolean): Answer {
  const usage = anthropicUsage(bill)
  const message = { id: 'm', type: 'message', role: 'assistant', model: 'm', stop_sequence: null }
  if (!isStream) {
    const content = [{ type: 'text', text: 'x' }]
    return json({ ...message, content, stop_reason: 'max_tokens', usage })
  }
  const begun = {
    ...message,
    content: [],
    stop_reason: null,
    usage: { ...usage, output_tokens: 1 },
  }
  return sse([
    { type: 'message_start', message: begun },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'x' } },
    { type: 'content_block_stop', index: 0 },
    {
      type: 'message_delta',
      delta: { stop_reason: 'max_tokens', stop_sequence: null },
      usage: { output_tokens: bill.completionTokens },
    },
    { type: 'message_stop' },
  ])
}

const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

export function geminiAnswer(bill: Bill, isStream: boolean, isImage: boolean): Answer {
  const part = isImage ? { inlineData: { mimeType: 'image/png', data: PIXEL } } : { text: 'x' }
  const candidate = {
    content: { role: 'model', parts: [part] },
    index: 0,
    finishReason: isImage ? 'STOP' : 'MAX_TOKENS',
  }
  const body = { candidates: [candidate], usageMetadata: geminiUsage(bill) }
  return isStream ? sse([body]) : json(body)
}

export function bedrockAnswer(bill: Bill, isStream: boolean): Answer {
  const usage = bedrockUsage(bill)
  if (!isStream) {
    const message = { role: 'assistant', content: [{ text: 'x' }] }
    return json({ output: { message }, stopReason: 'max_tokens', usage, metrics: { latencyMs: 1 } })
  }
  const events = [
    { messageStart: { role: 'assistant' } },
    { contentBlockDelta: { contentBlockIndex: 0, delta: { text: 'x' } } },
    { contentBlockStop: { contentBlockIndex: 0 } },
    { messageStop: { stopReason: 'max_tokens' } },
    { metadata: { metrics: { latencyMs: 1 }, usage } },
  ]
  return {
    type: 'application/vnd.amazon.eventstream',
    body: Buffer.concat(events.map((event) => eventFrame(JSON.stringify(event)))),
  }
}

export function cohereAnswer(bill: Bill, isStream: boolean): Answer {
  const usage = cohereUsage(bill)
  if (!isStream) {
    const message = { role: 'assistant', content: [{ type: 'text', text: 'x' }] }
    return json({ id: 'c', message, finish_reason: 'MAX_TOKENS', usage })
  }
  const content = (content: object): object => ({ message: { content } })
  return sse([
    {
      id: 'c',
      type: 'message-start',
      delta: {
        message: { role: 'assistant', content: [], tool_plan: '', tool_calls: [], citations: [] },
      },
    },
    { type: 'content-start', index: 0, delta: content({ type: 'text', text: '' }) },
    { type: 'content-delta', index: 0, delta: content({ text: 'x' }) },
    { type: 'content-end', index: 0 },
    { type: 'message-end', delta: { finish_reason: 'MAX_TOKENS', usage } },
    '[DONE]',
  ])
}

export function openAiEmbeddings(bill: Bill, inputs: number): Answer {
  const data = Array.from({ length: inputs }, (_, index) => ({ index, embedding: [0.5] }))
  const tokens = bill.promptTokens
  return json({ data, usage: { prompt_tokens: tokens, total_tokens: tokens } })
}

export function openAiImages(bill: Bill, count: number): Answer {
  return json({
    data: Array.from({ length: count }, () => ({ b64_json: PIXEL })),
    ...(bill.model.megapixel === undefined
      ? {
          usage: {
            input_tokens: bill.promptTokens,
            output_tokens: bill.completionTokens,
            total_tokens: bill.promptTokens + bill.completionTokens,
            input_tokens_details: {
              text_tokens: bill.promptTokens - bill.imageInputTokens,
              image_tokens: bill.imageInputTokens,
            },
          },
        }
      : {}),
  })
}

export function ranks(bill: Bill, count: number): Answer {
  const results = Array.from({ length: count }, (_, index) => ({ index, relevance_score: 0.5 }))
  return json({
    results,
    ...(bill.model.searchUnit === undefined
      ? { usage: { total_tokens: bill.promptTokens } }
      : { meta: { billed_units: { search_units: bill.searchUnits } } }),
  })
}

export function judgements(bill: Bill, input: readonly unknown[]): Answer {
  const count = typeof input[0] === 'string' ? input.length : 1
  const result = { flagged: false, categories: { hate: false }, category_scores: { hate: 0.5 } }
  return json({
    results: Array.from({ length: count }, () => result),
    usage: { prompt_tokens: bill.promptTokens },
  })
}

export function speech(bill: Bill, isStream: boolean): Answer {
  if (!isStream) return { type: 'audio/mpeg', body: Buffer.from('sound') }
  const input = bill.promptTokens
  const output = bill.completionTokens
  const usage = { input_tokens: input, output_tokens: output, total_tokens: input + output }
  return sse([
    { type: 'speech.audio.delta', audio: Buffer.from('sound').toString('base64') },
    { type: 'speech.audio.done', usage },
  ])
}

export function transcription(bill: Bill, isStream: boolean): Answer {
  const isByToken = bill.model.audioHour === undefined
  const usage = isByToken
    ? {
        type: 'tokens',
        input_tokens: bill.promptTokens,
        output_tokens: bill.completionTokens,
        total_tokens: bill.promptTokens + bill.completionTokens,
        input_token_details: {
          audio_tokens: bill.audioTokens,
          text_tokens: bill.promptTokens - bill.audioTokens,
        },
      }
    : { type: 'duration', seconds: bill.audioSeconds }
  if (!isStream) return json({ text: 'x', duration: bill.audioSeconds, segments: [], usage })
  return sse([
    { type: 'transcript.text.delta', delta: 'x' },
    { type: 'transcript.text.done', text: 'x', usage },
  ])
}

export const plainJson = json
