/** The parts of a message that whole answers and streams have in common. */
import { hourCacheWrites } from '../../../../../money/catalog/hour-cache.ts'
import { webSearchesOf } from '../../../../../money/catalog/web-search.ts'
import { decimalBrl } from '../../../../../platform/lib/money.ts'
import type { JsonObject } from '../../../../providers/contract.ts'
import type { Charged } from '../../chat-format.ts'

/** The fields with which every message begins. */
export interface MessageHead {
  readonly id: string
  readonly modelId: string
}

export function openMessage({ id, modelId }: MessageHead): JsonObject {
  return { id, type: 'message', role: 'assistant', model: modelId }
}

const STOP_REASONS: ReadonlyMap<unknown, string> = new Map([
  ['stop', 'end_turn'],
  ['length', 'max_tokens'],
  ['tool_calls', 'tool_use'],
  ['function_call', 'tool_use'],
  ['content_filter', 'refusal'],
])

/**
 * Returns the `stop_reason` of an answer. Some upstreams report `stop` for an answer that calls tools; agents run them
 * only for `tool_use`.
 */
export function stopReasonOf(finishReason: unknown, hasToolCalls: boolean): string {
  const reason = STOP_REASONS.get(finishReason)
  if (reason !== undefined && reason !== 'end_turn') return reason
  return hasToolCalls ? 'tool_use' : 'end_turn'
}

/**
 * Returns the `usage` of a message. Tokens read from and written to the cache are not part of `input_tokens` in this
 * format.
 */
export function messageUsage(charged: Charged): JsonObject {
  const { promptTokens, cachedTokens, cacheWriteTokens, completionTokens } = charged
  const forAnHour = hourCacheWrites(charged.units)
  const searches = webSearchesOf(charged.units)
  return {
    input_tokens: promptTokens - cachedTokens - cacheWriteTokens,
    cache_creation_input_tokens: cacheWriteTokens,
    cache_read_input_tokens: cachedTokens,
    cache_creation: {
      ephemeral_5m_input_tokens: cacheWriteTokens - forAnHour,
      ephemeral_1h_input_tokens: forAnHour,
    },
    output_tokens: completionTokens,
    ...(searches > 0 ? { server_tool_use: { web_search_requests: searches } } : {}),
  }
}

/** Writes a server-sent event of the Messages format. */
export function messageEvent(data: JsonObject & { type: string }): string {
  return `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`
}

/** Appends the cost, in BRL to all nine decimals, to the JSON of an object: a JSON number is not exact in JavaScript. */
export function withCost(json: string, { billedNanoBrl }: Charged): string {
  return `${json.slice(0, -1)},"cost_billed_brl":${decimalBrl(billedNanoBrl)}}`
}

/** Returns the thinking of one of the `reasoning_details`. */
export function textOfDetail({ type, text }: JsonObject): string {
  return type === 'reasoning.text' && typeof text === 'string' ? text : ''
}
