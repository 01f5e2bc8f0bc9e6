import type { LanguageModelV4Usage } from '@ai-sdk/provider'
import { isObject } from '../../../platform/lib/is-object.ts'
import type { ReportedTokens } from '../contract.ts'
import { readCount } from '../openai-compatible/read-count.ts'
import { toReportedUsage } from './to-reported-usage.ts'

export interface ImageUsage extends ReportedTokens {
  readonly imageOutputTokens: number
}

/** The usage of one answer. Without details from Gemini, all output except reasoning counts as image tokens. */
export function toImageUsage(
  usage: LanguageModelV4Usage,
  hasOutput: boolean,
): ImageUsage | undefined {
  const tokens = toReportedUsage(usage, hasOutput)
  if (!tokens) return undefined
  const details = isObject(usage.raw) ? usage.raw.candidatesTokensDetails : undefined
  const images = Array.isArray(details)
    ? details.reduce((sum: number, detail: unknown) => sum + imageTokens(detail), 0)
    : tokens.completionTokens - tokens.reasoningTokens
  return { ...tokens, imageOutputTokens: Math.min(images, tokens.completionTokens) }
}

function imageTokens(detail: unknown): number {
  if (!isObject(detail) || detail.modality !== 'IMAGE') return 0
  return readCount(detail.tokenCount) ?? 0
}

/** The sum of the usages; undefined if one of them is unknown. */
export function sumImageUsage(usages: readonly (ImageUsage | undefined)[]): ImageUsage | undefined {
  const sum = {
    promptTokens: 0,
    cachedTokens: 0,
    cacheWriteTokens: 0,
    completionTokens: 0,
    reasoningTokens: 0,
    imageOutputTokens: 0,
  }
  for (const usage of usages) {
    if (!usage) return undefined
    for (const kind of Object.keys(sum) as (keyof typeof sum)[]) sum[kind] += usage[kind]
  }
  return sum
}
