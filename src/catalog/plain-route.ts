import type { Route } from './model.ts'
import type { Price } from './prices.ts'

/** A route without a weight or a limit of its own. */
export function plainRoute(
  upstreamId: string,
  upstreamModel: string,
  price: Price,
  priority = 0,
): Route {
  return { upstreamId, upstreamModel, price, priority, weight: 1, concurrencyMax: Infinity }
}
