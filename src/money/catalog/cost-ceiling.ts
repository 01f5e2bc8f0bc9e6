/** The most that a call can cost before its usage is known. Pure; no floating point. */
import type { PicoUsd } from '../../platform/lib/money.ts'
import { HOUR_CACHE_UNIT, hourCacheSurchargeMax } from './hour-cache.ts'
import { costOfUnits, type PriceTerms, type UnitCounts } from './prices.ts'

interface PromptBounds {
  readonly promptTokensMax: number
  /** False if the prompt is written to no cache. */
  readonly writesCache?: boolean | undefined
}

/**
 * The most that a request with at most this usage can cost: every prompt token at the highest input price, and every
 * output token at the highest output price, of any tier that the prompt can reach.
 */
export function costCeilingOf(
  price: PriceTerms,
  bounds: PromptBounds & { readonly unitsMax?: UnitCounts | undefined },
  outputTokensMax: number,
): PicoUsd {
  const { promptTokensMax, unitsMax } = bounds
  const { input, output } = highestPrices(price, bounds)
  return (
    BigInt(promptTokensMax) * input +
    BigInt(outputTokensMax) * output +
    ceilingOfUnits(price, promptTokensMax, unitsMax)
  )
}

/** The highest price of a prompt token and of an output token, over the tiers that a prompt of this size can reach. */
export function highestPrices(
  price: PriceTerms,
  { promptTokensMax, writesCache = true }: PromptBounds,
): { input: bigint; output: bigint } {
  let input = 0n
  let output = 0n
  for (const tier of price.tiers) {
    if (tier.abovePromptTokens > promptTokensMax) break
    const written = writesCache ? tier.cacheWrite : 0n
    for (const each of [tier.input, tier.cachedInput, written]) if (each > input) input = each
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
