import { hourCacheUnit } from '../../money/catalog/hour-cache.ts'
import type { Model } from '../../money/catalog/model.ts'
import type { PriceTerms, UsageCounts } from '../../money/catalog/prices.ts'
import { WEB_SEARCH_UNIT } from '../../money/catalog/web-search.ts'
import type { ReportedUsage } from '../providers/contract.ts'

/**
 * Splits reported usage by the units of a price. Audio and image tokens are taken out of the text tokens if the price
 * bills them separately. Tokens that the upstream did not split are billed as the model's own medium. Seconds are
 * rounded up, and at least the model's minimum.
 */
export function billedUsage(
  { category, audio }: Model,
  price: PriceTerms,
  reported: ReportedUsage,
): UsageCounts {
  if (price.units === undefined) return reported
  const units: Record<string, number> = {}
  let { promptTokens, completionTokens } = reported
  const take = (unit: string, count: number, of: number): number => {
    if (price.units?.[unit] === undefined || count === 0) return 0
    const taken = Math.min(count, of)
    units[unit] = taken
    return taken
  }
  promptTokens -= take(
    'input_audio_tokens',
    reported.audioInputTokens ?? (category === 'audio' ? promptTokens : 0),
    promptTokens,
  )
  promptTokens -= take('input_image_tokens', reported.imageInputTokens ?? 0, promptTokens)
  completionTokens -= take(
    'output_image_tokens',
    reported.imageOutputTokens ?? (category === 'image' ? completionTokens : 0),
    completionTokens,
  )
  if (price.units.audio_seconds !== undefined && reported.audioSeconds !== undefined) {
    units.audio_seconds = Math.max(audio?.secondsMin ?? 0, Math.ceil(reported.audioSeconds))
  }
  const { webSearches = 0 } = reported
  if (webSearches > 0 && price.units[WEB_SEARCH_UNIT] !== undefined)
    units[WEB_SEARCH_UNIT] = webSearches
  const cachedTokens = Math.min(reported.cachedTokens, promptTokens)
  const cacheWriteTokens = Math.min(reported.cacheWriteTokens, promptTokens - cachedTokens)
  const hourWrites = Math.min(reported.hourCacheWriteTokens ?? 0, cacheWriteTokens)
  const hourUnit = hourWrites > 0 ? hourCacheUnit(price, promptTokens) : undefined
  if (hourUnit !== undefined) units[hourUnit] = hourWrites
  const tokens = {
    promptTokens,
    cachedTokens,
    cacheWriteTokens,
    completionTokens,
    reasoningTokens: Math.min(reported.reasoningTokens, completionTokens),
  }
  return Object.keys(units).length > 0 ? { ...tokens, units } : tokens
}
