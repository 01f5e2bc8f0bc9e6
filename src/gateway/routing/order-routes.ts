import type { Route, RoutingStrategy } from '../../catalog/model.ts'

/** What ordering looks at. */
export interface RouteView {
  readonly route: Route
  /** The usual time to the first byte; undefined until it is known. */
  readonly latencyMs: number | undefined
  /** It asked for a pause: it comes after those that did not. */
  readonly isCooling: boolean
}

/**
 * The order in which routes are tried.
 *
 * - `priority`: smaller numbers first; of one priority each comes first as often as its weight says;
 * - `latency`: the quickest first, and before them what was never tried;
 * - `price`: the cheapest first, and among equals as by priority.
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
    price: (left, right) => dearness(left.route) - dearness(right.route) || byPriority(left, right),
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

/** The smallest of such draws is each route's as often as its weight is of all weights. */
function drawOf(weight: number, random: () => number): number {
  return -Math.log(1 - random()) / weight
}

/** Of a typical call: three tokens read for each one written, and of units one each. Only for comparing. */
function dearness({ price }: Route): number {
  const tier = price.tiers[0]
  const units = Object.values(price.units ?? {}).reduce((sum, each) => sum + Number(each), 0)
  return 3 * Number(tier?.input ?? 0n) + Number(tier?.output ?? 0n) + units
}
