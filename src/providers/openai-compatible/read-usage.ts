import { isObject } from '../../lib/is-object.ts'
import type { ReportedTokens } from '../contract.ts'
import { readCount, TOKENS_MAX } from './read-count.ts'

/**
 * Reads the `usage` object of a chat-completions answer. Undefined if it is missing or implausible (negative,
 * fractional or absurdly large).
 *
 * Some upstreams leave reasoning tokens out of `completion_tokens` but include them in `total_tokens`, so all tokens of
 * the total beyond the prompt are billed as output. Others leave cached and cache-written tokens out of `prompt_tokens`:
 * where these are more than the prompt, or just as many as the total has beyond both, they are a part of the prompt.
 */
export function readUsage(usage: unknown): ReportedTokens | undefined {
  if (!isObject(usage)) return undefined
  const promptReported = readCount(usage.prompt_tokens)
  const completionReported = readCount(usage.completion_tokens)
  if (promptReported === undefined || completionReported === undefined) return undefined
  const promptDetails = isObject(usage.prompt_tokens_details) ? usage.prompt_tokens_details : {}
  const outputDetails = isObject(usage.completion_tokens_details)
    ? usage.completion_tokens_details
    : {}
  const cached =
    readCount(promptDetails.cached_tokens) ?? readCount(usage.prompt_cache_hit_tokens) ?? 0
  const cacheWrite =
    readCount(promptDetails.cache_write_tokens) ?? readCount(usage.cache_creation_input_tokens) ?? 0
  const reasoning = readCount(outputDetails.reasoning_tokens) ?? 0

  const total = readCount(usage.total_tokens) ?? 0
  const beside = cached + cacheWrite
  const isBeside = beside > promptReported || beside === total - promptReported - completionReported
  const promptTokens = promptReported + (isBeside ? beside : 0)
  const completionTokens = Math.max(completionReported, Math.min(total - promptTokens, TOKENS_MAX))
  const cachedTokens = Math.min(cached, promptTokens)
  return {
    promptTokens,
    cachedTokens,
    cacheWriteTokens: Math.min(cacheWrite, promptTokens - cachedTokens),
    completionTokens,
    reasoningTokens: Math.min(reasoning, completionTokens),
  }
}
