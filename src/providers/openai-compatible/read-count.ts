import type { ReportedTokens } from '../contract.ts'

/** No answer has this many tokens: a larger number is garbage and counts as unknown usage. */
export const TOKENS_MAX = 1_000_000_000

/** A number of tokens; undefined where it is missing or not to be believed. */
export function readCount(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= TOKENS_MAX
    ? value
    : undefined
}

/** Tokens of a call that knows neither a cache nor reasoning. */
export function plainTokens(promptTokens: number, completionTokens: number): ReportedTokens {
  return {
    promptTokens,
    cachedTokens: 0,
    cacheWriteTokens: 0,
    completionTokens,
    reasoningTokens: 0,
  }
}
