import type { LanguageModelV4Usage } from '@ai-sdk/provider'
import { isObject } from '../../../platform/lib/is-object.ts'
import type { ReportedUsage } from '../contract.ts'
import { readCount, readUsage } from '../openai-compatible/read-usage.ts'

/**
 * Converts usage to the gateway's counts: the whole prompt including cache reads and writes, and the whole output
 * including reasoning. Undefined if it is missing or implausible. The packages fill in zeros, so zero prompt tokens, or
 * zero output tokens for an answer with output, count as missing.
 */
export function toReportedUsage(
  usage: LanguageModelV4Usage,
  hasOutput: boolean,
  asked: AskedOfUsage = NOTHING_APART,
): ReportedUsage | undefined {
  const { inputTokens, outputTokens, raw } = usage
  const billed = isObject(raw) && isObject(raw.billed_units) ? raw.billed_units : {}
  // Cohere's token counts include its own prompt markup, which it does not bill.
  const prompt = readCount(billed.input_tokens ?? inputTokens.total) ?? 0
  const cached = inputTokens.cacheRead ?? (isObject(raw) ? raw.cached_tokens : undefined)
  const tokens = readUsage({
    prompt_tokens: billed.input_tokens ?? inputTokens.total,
    completion_tokens: billed.output_tokens ?? outputTokens.total,
    // Only Gemini's total can exceed the sum of the other counts.
    total_tokens: isObject(raw) ? raw.totalTokenCount : undefined,
    prompt_tokens_details: {
      // A part of the prompt; of Cohere's, also of its markup.
      cached_tokens: Math.min(readCount(cached) ?? 0, prompt),
      cache_write_tokens: asked.hasCacheControl ? inputTokens.cacheWrite : 0,
    },
    completion_tokens_details: { reasoning_tokens: outputTokens.reasoning },
  })
  if (!tokens || tokens.promptTokens === 0) return undefined
  if (tokens.completionTokens === 0 && hasOutput) return undefined
  return {
    ...tokens,
    ...(asked.hasAudio ? { audioInputTokens: audioTokens(raw, tokens.promptTokens) } : {}),
    ...(asked.cachesForAnHour && tokens.cacheWriteTokens > 0
      ? { hourCacheWriteTokens: hourWrites(raw, tokens.cacheWriteTokens) }
      : {}),
  }
}

/** The separately billed features of a request. If the upstream does not itemize them, the highest count is assumed. */
export interface AskedOfUsage {
  readonly hasAudio: boolean
  /** Without it nothing is written to a cache, and the hold covers no writing. */
  readonly hasCacheControl: boolean
  readonly cachesForAnHour: boolean
  readonly webSearchesMax: number
}

const NOTHING_APART: AskedOfUsage = {
  hasAudio: false,
  hasCacheControl: false,
  cachesForAnHour: false,
  webSearchesMax: 0,
}

/** The audio tokens that Gemini reports; without details, the whole prompt. */
function audioTokens(raw: unknown, promptTokens: number): number {
  const details = isObject(raw) ? raw.promptTokensDetails : undefined
  if (!Array.isArray(details) || details.length === 0) return promptTokens
  let sum = 0
  for (const detail of details as unknown[]) {
    if (isObject(detail) && detail.modality === 'AUDIO') sum += readCount(detail.tokenCount) ?? 0
  }
  return Math.min(sum, promptTokens)
}

/** The one-hour cache writes that Anthropic or Bedrock report; without details, all cache writes. */
function hourWrites(raw: unknown, cacheWriteTokens: number): number {
  const usage = isObject(raw) ? raw : {}
  const ofAnthropic = isObject(usage.cache_creation)
    ? readCount(usage.cache_creation.ephemeral_1h_input_tokens)
    : undefined
  if (ofAnthropic !== undefined) return Math.min(ofAnthropic, cacheWriteTokens)
  if (!Array.isArray(usage.cacheDetails)) return cacheWriteTokens
  let sum = 0
  for (const detail of usage.cacheDetails as unknown[]) {
    if (isObject(detail) && detail.ttl === '1h') sum += readCount(detail.inputTokens) ?? 0
  }
  return Math.min(sum, cacheWriteTokens)
}
