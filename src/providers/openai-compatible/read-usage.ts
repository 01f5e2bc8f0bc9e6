import { isObject } from '../../lib/is-object.ts'
import type { ReportedTokens } from '../contract.ts'

/** No answer has this many tokens: a larger number is garbage and counts as unknown usage. */
const TOKENS_MAX = 1_000_000_000

/**
 * Reads the `usage` object of a chat-completions answer. Undefined where it is missing or not to be
 * believed (negative, fractional, absurd).
 *
 * Some upstreams leave reasoning tokens out of `completion_tokens` but count them in `total_tokens`;
 * what the total says beyond the prompt is output, and is billed as output.
 */
export function readUsage(usage: unknown): ReportedTokens | undefined {
  if (!isObject(usage)) return undefined
  const promptTokens = count(usage.prompt_tokens)
  const completionReported = count(usage.completion_tokens)
  if (promptTokens === undefined || completionReported === undefined) return undefined
  const total = count(usage.total_tokens) ?? 0
  const completionTokens = Math.max(completionReported, Math.min(total - promptTokens, TOKENS_MAX))

  const promptDetails = isObject(usage.prompt_tokens_details) ? usage.prompt_tokens_details : {}
  const outputDetails = isObject(usage.completion_tokens_details)
    ? usage.completion_tokens_details
    : {}
  const cached = count(promptDetails.cached_tokens) ?? count(usage.prompt_cache_hit_tokens) ?? 0
  const cacheWrite =
    count(promptDetails.cache_write_tokens) ?? count(usage.cache_creation_input_tokens) ?? 0
  const reasoning = count(outputDetails.reasoning_tokens) ?? 0

  const cachedTokens = Math.min(cached, promptTokens)
  return {
    promptTokens,
    cachedTokens,
    cacheWriteTokens: Math.min(cacheWrite, promptTokens - cachedTokens),
    completionTokens,
    reasoningTokens: Math.min(reasoning, completionTokens),
  }
}

function count(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= TOKENS_MAX
    ? value
    : undefined
}
