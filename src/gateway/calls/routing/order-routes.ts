import { hash } from 'node:crypto'
import type { Route, RouteOrder } from '../../../money/catalog/model.ts'

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
 * - `latency` and `fastest`: the fastest first, and untried routes before all others;
 * - `price`: the cheapest first; among equal prices, by priority.
 *
 * A conversation has the same draw on every node, for as long as these routes are configured (weighted rendezvous
 * hashing): among equals it goes to one route, where its prompt is cached, and for `latency` all routes are equal that are
 * not slow.
 */
export function orderRoutes(
  strategy: RouteOrder,
  views: readonly RouteView[],
  conversation?: string,
  random: () => number = Math.random,
): Route[] {
  const drawn = views.map((view) => {
    const { route } = view
    const part = conversation === undefined ? random() : partOf(conversation, route)
    return { view, draw: drawOf(route.weight, part) }
  })
  const byPriority = (left: RouteView, right: RouteView): number =>
    left.route.priority - right.route.priority
  const quickMs = conversation === undefined ? 0 : quickMsOf(views)
  const first: Record<RouteOrder, (left: RouteView, right: RouteView) => number> = {
    priority: byPriority,
    latency: (left, right) => latencyBeyond(quickMs, left) - latencyBeyond(quickMs, right),
    fastest: (left, right) => latencyBeyond(0, left) - latencyBeyond(0, right),
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
function drawOf(weight: number, part: number): number {
  return -Math.log(1 - part) / weight
}

/** A number from 0 to below 1, always the same one for this conversation and route. */
function partOf(conversation: string, { upstreamId, upstreamModel }: Route): number {
  const digest = hash('sha256', `${upstreamId}\n${upstreamModel}\n${conversation}`, 'buffer')
  return digest.readUIntBE(0, 6) / 2 ** 48
}

/** The latency up to which a conversation keeps its route: a cached prompt is read sooner than elsewhere, and costs less. */
function quickMsOf(views: readonly RouteView[]): number {
  return 2 * Math.min(...views.map(({ latencyMs = Infinity }) => latencyMs)) + 1_000
}

/** The latency by which routes are compared: one up to `quickMs` is as good as none. */
function latencyBeyond(quickMs: number, { latencyMs = 0 }: RouteView): number {
  return latencyMs > quickMs ? latencyMs : 0
}

/** The price of a typical call: three input tokens per output token, and one of each unit. For comparisons only. */
function comparablePrice({ price }: Route): number {
  const tier = price.tiers[0]
  const units = Object.values(price.units ?? {}).reduce((sum, each) => sum + Number(each), 0)
  return 3 * Number(tier?.input ?? 0n) + Number(tier?.output ?? 0n) + units
}
