/** The most that a call can cost before its usage is known. Pure; no floating point. */
import type { PicoUsd } from '../lib/money.ts'
import { HOUR_CACHE_UNIT, hourCacheSurchargeMax } from './hour-cache.ts'
import { costOfUnits, type PriceTerms, type UnitCounts } from './prices.ts'

/**
 * The most that a request with at most this usage can cost: every prompt token at the highest input price, and every
 * output token at the highest output price, of any tier that the prompt can reach.
 */
export function costCeilingOf(
  price: PriceTerms,
  promptTokensMax: number,
  outputTokensMax: number,
  unitsMax?: UnitCounts,
): PicoUsd {
  const { input, output } = highestPrices(price, promptTokensMax)
  return (
    BigInt(promptTokensMax) * input +
    BigInt(outputTokensMax) * output +
    ceilingOfUnits(price, promptTokensMax, unitsMax)
  )
}

/** The highest price of a prompt token and of an output token, over the tiers that a prompt of this size can reach. */
export function highestPrices(
  price: PriceTerms,
  promptTokensMax: number,
): { input: bigint; output: bigint } {
  let input = 0n
  let output = 0n
  for (const tier of price.tiers) {
    if (tier.abovePromptTokens > promptTokensMax) break
    for (const each of [tier.input, tier.cachedInput, tier.cacheWrite])
      if (each > input) input = each
    for (const each of [tier.output, tier.reasoning]) if (each > output) output = each
  }
  return { input, output }
}

function ceilingOfUnits(
  price: PriceTerms,
  promptTokensMax: number,
  unitsMax: UnitCounts | undefined,
): PicoUsd {
  const writes = unitsMax?.[HOUR_CACHE_UNIT]
  if (writes === undefined) return costOfUnits(price, unitsMax)
  const { [HOUR_CACHE_UNIT]: _writes, ...others } = unitsMax as UnitCounts
  const surcharge = BigInt(writes) * hourCacheSurchargeMax(price, promptTokensMax)
  return surcharge + costOfUnits(price, others)
}
