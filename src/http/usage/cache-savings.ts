import { costOf, type Price } from '../../money/catalog/prices.ts'
import { findPrices } from '../../money/catalog/register-prices.ts'
import type { Database } from '../../platform/db/open.ts'
import { chargeFor, type NanoBrl } from '../../platform/lib/money.ts'
import type { Call } from '../../money/usage/list-calls.ts'

/** Reads the prices of the calls; the result says what a call's cached tokens would have cost more as plain input. */
export async function readCacheSavings(
  db: Database,
  calls: readonly Call[],
): Promise<(call: Call) => NanoBrl> {
  const cached = calls.filter(({ cachedTokens }) => cachedTokens > 0)
  const prices = await findPrices(db, [...new Set(cached.map(({ priceId }) => priceId))])
  return (call) => savingOf(call, prices.get(call.priceId))
}

function savingOf(call: Call, price: Price | undefined): NanoBrl {
  if (!price || call.cachedTokens <= 0) return 0n
  const tokens = { ...call, units: {} }
  const saved = costOf(price, { ...tokens, cachedTokens: 0 }) - costOf(price, tokens)
  return saved > 0n ? chargeFor(saved, call) : 0n
}
