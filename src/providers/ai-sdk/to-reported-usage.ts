import type { LanguageModelV4Usage } from '@ai-sdk/provider'
import { isObject } from '../../lib/is-object.ts'
import type { ReportedTokens } from '../contract.ts'
import { readUsage } from '../openai-compatible/read-usage.ts'

/**
 * Usage as the gateway counts it: the whole prompt with what was read from and written to a cache, the
 * whole output with its reasoning. Undefined where it is missing or not to be believed; the packages
 * fill in zeros, so no prompt, or an answer of no tokens, counts as missing.
 */
export function toReportedUsage(
  usage: LanguageModelV4Usage,
  hasOutput: boolean,
): ReportedTokens | undefined {
  const { inputTokens, outputTokens, raw } = usage
  const billed = isObject(raw) && isObject(raw.billed_units) ? raw.billed_units : {}
  const tokens = readUsage({
    // Cohere counts markup that it adds and does not bill.
    prompt_tokens: billed.input_tokens ?? inputTokens.total,
    completion_tokens: billed.output_tokens ?? outputTokens.total,
    // Only Gemini's total says more than the sum of the others.
    total_tokens: isObject(raw) ? raw.totalTokenCount : undefined,
    prompt_tokens_details: {
      cached_tokens: inputTokens.cacheRead ?? (isObject(raw) ? raw.cached_tokens : undefined),
      cache_write_tokens: inputTokens.cacheWrite,
    },
    completion_tokens_details: { reasoning_tokens: outputTokens.reasoning },
  })
  if (!tokens || tokens.promptTokens === 0) return undefined
  return tokens.completionTokens === 0 && hasOutput ? undefined : tokens
}
