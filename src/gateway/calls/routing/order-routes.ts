import type { Route, RoutingStrategy } from '../../../money/catalog/model.ts'

/** The facts by which a route is ordered. */
export interface RouteView {
  readonly route: Route
  /** The average time to the first byte; undefined until a call has answered, infinite while the first one runs. */
  readonly latencyMs: number | undefined
  /** The upstream asked for a pause: the route comes after all routes that did not. */
  readonly isCooling: boolean
}

/**
 * Returns the order in which routes are tried.
 *
 * - `priority`: smaller numbers first; among equal priorities, at random in proportion to the weights;
 * - `latency`: the fastest first, and untried routes before all others;
 * - `price`: the cheapest first; among equal prices, by priority.
 */
export function orderRoutes(
  strategy: RoutingStrategy,
  views: readonly RouteView[],
  random: () => number = Math.random,
): Route[] {
  const drawn = views.map((view) => ({ view, draw: drawOf(view.route.weight, random) }))
  const byPriority = (left: RouteView, right: RouteView): number =>
    left.route.priority - right.route.priority
  const first: Record<RoutingStrategy, (left: RouteView, right: RouteView) => number> = {
    priority: byPriority,
    latency: (left, right) => (left.latencyMs ?? 0) - (right.latencyMs ?? 0),
    price: (left, right) =>
      comparablePrice(left.route) - comparablePrice(right.route) || byPriority(left, right),
  }
  return drawn
    .sort(
      (left, right) =>
        Number(left.view.isCooling) - Number(right.view.isCooling) ||
        first[strategy](left.view, right.view) ||
        left.draw - right.draw,
    )
    .map(({ view }) => view.route)
}

/** An exponential draw: a route has the smallest one with a probability of its weight over the sum of all weights. */
function drawOf(weight: number, random: () => number): number {
  return -Math.log(1 - random()) / weight
}

/** The price of a typical call: three input tokens per output token, and one of each unit. For comparisons only. */
function comparablePrice({ price }: Route): number {
  const tier = price.tiers[0]
  const units = Object.values(price.units ?? {}).reduce((sum, each) => sum + Number(each), 0)
  return 3 * Number(tier?.input ?? 0n) + Number(tier?.output ?? 0n) + units
}
