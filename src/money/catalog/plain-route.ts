import type { Route } from './model.ts'
import type { PriceTerms } from './prices.ts'

/** A route with the default weight and no limit of concurrent calls. */
export function plainRoute<P extends PriceTerms>(
  upstreamId: string,
  upstreamModel: string,
  price: P,
  priority = 0,
): Route<P> {
  return { upstreamId, upstreamModel, price, priority, weight: 1, concurrencyMax: Infinity }
}
