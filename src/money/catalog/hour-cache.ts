/**
 * The surcharge of Anthropic's models for cache writes with a lifetime of one hour instead of five minutes. It is
 * billed as a unit beside the tokens: a token written for an hour counts as a cache write at the ordinary price, and
 * once more as a unit at the surcharge. So one price covers both lifetimes, and the sum stays exact. The surcharge
 * depends on the tier of the prompt, so each tier has its own unit.
 */
import type { PriceTerms, PriceTier, UnitCounts } from './prices.ts'

/** The unit of the first tier; the names of other tiers append their lower bound, see `hourCacheUnitOfTier`. */
export const HOUR_CACHE_UNIT = 'cache_write_1h_tokens'

export function hourCacheUnitOfTier(abovePromptTokens: number): string {
  return abovePromptTokens === 0 ? HOUR_CACHE_UNIT : `${HOUR_CACHE_UNIT}:${abovePromptTokens}`
}

/** Returns the unit for a prompt of this size; undefined if the price has no one-hour cache writes. */
export function hourCacheUnit(price: PriceTerms, promptTokens: number): string | undefined {
  let found: string | undefined
  for (const { abovePromptTokens } of price.tiers) {
    if (abovePromptTokens > 0 && promptTokens <= abovePromptTokens) break
    found = hourCacheUnitOfTier(abovePromptTokens)
  }
  return found !== undefined && price.units?.[found] !== undefined ? found : undefined
}

/** Returns the highest surcharge per token for a prompt of at most this size. */
export function hourCacheSurchargeMax(price: PriceTerms, promptTokensMax: number): bigint {
  let most = 0n
  for (const { abovePromptTokens } of price.tiers) {
    if (abovePromptTokens > promptTokensMax) break
    const each = price.units?.[hourCacheUnitOfTier(abovePromptTokens)] ?? 0n
    if (each > most) most = each
  }
  return most
}

/** Returns the surcharge of each tier, computed from the full price of a token written for an hour. */
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

/** Returns the tokens that a settled call wrote for an hour; `units` is the JSON of its resolution. */
export function hourCacheWrites(units: string | null | undefined): number {
  if (!units?.includes(HOUR_CACHE_UNIT)) return 0
  const counts = JSON.parse(units) as UnitCounts
  let sum = 0
  for (const unit in counts) if (isHourCacheUnit(unit)) sum += counts[unit] as number
  return sum
}
