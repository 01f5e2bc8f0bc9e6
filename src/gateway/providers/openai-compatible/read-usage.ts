import { isObject } from '../../../platform/lib/is-object.ts'
import type { JsonObject, ReportedTokens } from '../contract.ts'

/** The most tokens that an answer can have; a larger number counts as unknown usage. */
const TOKENS_MAX = 1_000_000_000

/** A number of tokens; undefined if it is missing or implausible. */
export function readCount(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= TOKENS_MAX
    ? value
    : undefined
}

/** The names of providers for tokens that came from their cache, and for those that were written to it. */
const CACHED = ['cached_tokens', 'prompt_cache_hit_tokens', 'cache_read_input_tokens'] as const
const CACHE_WRITES = [
  'cache_write_tokens',
  'cache_creation_input_tokens',
  'cache_creation_tokens',
] as const

/** Returns the usage of an answer or chunk; Moonshot's streams have it in their last choice. */
export function usageIn({ usage, choices }: JsonObject): unknown {
  if (usage || !Array.isArray(choices)) return usage
  return choices.filter(isObject).findLast((choice) => choice.usage)?.usage
}

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
  const places = [promptDetails, usage]
  const cached = countOf(places, CACHED) ?? 0
  const cacheWrite = countOf(places, CACHE_WRITES) ?? 0
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

/** The largest: an upstream may name a count twice, and leave one of them at zero. */
function countOf(places: readonly JsonObject[], names: readonly string[]): number | undefined {
  let largest: number | undefined
  for (const place of places)
    for (const name of names) {
      const count = readCount(place[name])
      if (count !== undefined && (largest === undefined || count > largest)) largest = count
    }
  return largest
}
