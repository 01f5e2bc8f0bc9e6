import { hourCacheUnit } from '../../money/catalog/hour-cache.ts'
import type { Model } from '../../money/catalog/model.ts'
import type { PriceTerms, UsageCounts } from '../../money/catalog/prices.ts'
import { WEB_SEARCH_UNIT } from '../../money/catalog/web-search.ts'
import type { ReportedUsage } from '../providers/contract.ts'
import type { Quote } from '../../money/catalog/quote.ts'
import type { HeldCall } from './call.ts'

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
  completionTokens -= take(
    'output_audio_tokens',
    category === 'audio' ? completionTokens : 0,
    completionTokens,
  )
  if (price.units.audio_seconds !== undefined && reported.audioSeconds !== undefined) {
    units.audio_seconds = Math.max(audio?.secondsMin ?? 0, Math.ceil(reported.audioSeconds))
  }
  if (price.units.search_units !== undefined && reported.searchUnits !== undefined)
    units.search_units = reported.searchUnits
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

/** Why a call is charged by an estimate, for an answer that is complete. */
type EstimateReason = 'no_usage_reported' | 'impossible_usage_reported'

/** The least that an answer has used, proved by what was delivered of it. */
type LeastUsage = Partial<Record<keyof ReportedUsage, number>>

/**
 * Returns the report, unless it is below what was delivered, or above what this call can have used. Both are faults of
 * the upstream: the call is charged by an estimate, within the hold. A chat's report above the hold that is possible is
 * charged in full.
 */
export function possibleUsage<Reported extends ReportedUsage>(
  held: HeldCall,
  reported: Reported | undefined,
  least: LeastUsage,
): Reported | undefined {
  if (!reported || !isPossible(held, reported)) return undefined
  const fields = Object.keys(least) as (keyof ReportedUsage)[]
  // The seconds are counted as they are billed, rounded up.
  return fields.every((field) => Math.ceil(reported[field] ?? Infinity) >= (least[field] ?? 0))
    ? reported
    : undefined
}

/** Returns why the call is charged by an estimate and not by this report. */
export function estimateReason(
  held: HeldCall,
  reported: ReportedUsage | undefined,
): EstimateReason {
  return reported && !isPossible(held, reported) ? 'impossible_usage_reported' : 'no_usage_reported'
}

/** A search that was asked for may be several at the provider. */
const SEARCHES_FOR_ONE = 4

/**
 * A chat may use the model's window for each choice: an upstream may add to the prompt, and write on beyond the limit
 * that it was sent. All else is made of what we sent, and uses at most what the hold covers: so many seconds of this
 * file, so many tokens of these texts, so many of each picture. Tokens without a price are no matter.
 */
function isPossible({ model, quote }: HeldCall, reported: ReportedUsage): boolean {
  const { promptTokensMax, outputTokensMax, choices, unitsMax = {}, price } = quote
  const { promptTokens, completionTokens, webSearches = 0 } = reported
  if (webSearches > (unitsMax[WEB_SEARCH_UNIT] ?? 0) * SEARCHES_FOR_ONE) return false
  if (model.category === 'llm') {
    const window = model.contextTokens * choices
    return promptTokens <= Math.max(window, promptTokensMax) && completionTokens <= window
  }
  // Of the prompt, what is no text is held apart.
  const { units = {}, promptTokens: ofTexts } = billedUsage(model, price, reported)
  const { output_image_tokens: ofImages = 0, output_audio_tokens: ofSound = 0 } = unitsMax
  const outputHeld = outputTokensMax * choices + ofImages + ofSound
  return (
    (ofTexts <= promptTokensMax || !isPriced(quote, 'input')) &&
    (completionTokens <= outputHeld || !isPriced(quote, 'output')) &&
    Object.entries(units).every(([unit, count]) => count <= (unitsMax[unit] ?? 0))
  )
}

function isPriced({ prices }: Quote, side: 'input' | 'output'): boolean {
  return prices.some(({ tiers }) => tiers.some((tier) => tier[side] > 0n))
}
