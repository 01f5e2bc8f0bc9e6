import type { ReportedTokens } from './contract.ts'

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
