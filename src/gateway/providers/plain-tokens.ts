import type { ReportedTokens } from './contract.ts'

/** Returns the tokens of a call without caching and reasoning. */
export function plainTokens(promptTokens: number, completionTokens: number): ReportedTokens {
  return {
    promptTokens,
    cachedTokens: 0,
    cacheWriteTokens: 0,
    completionTokens,
    reasoningTokens: 0,
  }
}
