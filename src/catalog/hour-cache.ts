/**
 * What Anthropic's models cost more where they keep a prompt in their cache for an hour: a unit beside
 * the tokens. A token that is written for an hour counts among the tokens written to the cache, at their
 * price, and once more as a unit, at the difference; so a price says both lives, and the sum stays exact.
 * The difference rises with the tier of the prompt, so each tier has a unit of its own.
 */
import type { Model } from './model.ts'
import type { PriceTerms, PriceTier } from './prices.ts'

/** Of the first tier; of others with their beginning: see `hourCacheUnitOfTier`. */
export const HOUR_CACHE_UNIT = 'cache_write_1h_tokens'

export function hourCacheUnitOfTier(abovePromptTokens: number): string {
  return abovePromptTokens === 0 ? HOUR_CACHE_UNIT : `${HOUR_CACHE_UNIT}:${abovePromptTokens}`
}

/** The unit of a prompt of this size; undefined where the price does not know the life of an hour. */
export function hourCacheUnit(price: PriceTerms, promptTokens: number): string | undefined {
  let found: string | undefined
  for (const { abovePromptTokens } of price.tiers) {
    if (abovePromptTokens > 0 && promptTokens <= abovePromptTokens) break
    found = hourCacheUnitOfTier(abovePromptTokens)
  }
  return found !== undefined && price.units?.[found] !== undefined ? found : undefined
}

/** The dearest that a token of a prompt of at most this size can cost more. */
export function hourCacheSurchargeMax(price: PriceTerms, promptTokensMax: number): bigint {
  let most = 0n
  for (const { abovePromptTokens } of price.tiers) {
    if (abovePromptTokens > promptTokensMax) break
    const each = price.units?.[hourCacheUnitOfTier(abovePromptTokens)] ?? 0n
    if (each > most) most = each
  }
  return most
}

/** Whether every route of the model can bill it: which one answers is not known when money is held. */
export function hasHourCachePrice({ routes }: Model): boolean {
  return (
    routes.length > 0 && routes.every(({ price }) => price.units?.[HOUR_CACHE_UNIT] !== undefined)
  )
}

/** The surcharges of a price, from what a token costs in all that is kept for an hour, tier by tier. */
export function hourCacheUnits(
  tiers: readonly PriceTier[],
  hourPrices: readonly bigint[],
): Record<string, bigint> {
  const units: Record<string, bigint> = {}
  for (const [place, { abovePromptTokens, cacheWrite }] of tiers.entries()) {
    const more = (hourPrices[place] as bigint) - cacheWrite
    units[hourCacheUnitOfTier(abovePromptTokens)] = more > 0n ? more : 0n
  }
  return units
}

export function isHourCacheUnit(unit: string): boolean {
  return unit === HOUR_CACHE_UNIT || unit.startsWith(`${HOUR_CACHE_UNIT}:`)
}
