import type { Route } from './model.ts'
import type { PriceTerms } from './prices.ts'

/** A route without a weight or a limit of its own. */
export function plainRoute<P extends PriceTerms>(
  upstreamId: string,
  upstreamModel: string,
  price: P,
  priority = 0,
): Route<P> {
  return { upstreamId, upstreamModel, price, priority, weight: 1, concurrencyMax: Infinity }
}
