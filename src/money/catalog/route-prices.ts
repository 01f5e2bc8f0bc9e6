import type { Model, Route } from './model.ts'
import { priceAt, pricesBetween } from './price-schedule.ts'
import type { Price } from './prices.ts'

/** The time from a hold to the latest end of its call, by this node's clock. */
export interface CallSpan {
  readonly fromMs: number
  readonly untilMs: number
}

/** Returns the distinct prices by which the call may be charged: any route may answer, at any time of the span. */
export function chargeablePrices({ price, routes }: Model, span: CallSpan): readonly Price[] {
  const [first, ...others] = routes
  if (others.length === 0 && !first?.priceSchedule) return [first?.price ?? price]
  const prices = routes.flatMap((route) =>
    route.priceSchedule
      ? pricesBetween(route.priceSchedule, span.fromMs, span.untilMs)
      : [route.price],
  )
  return [...new Map(prices.map((each) => [each.id, each])).values()]
}

/**
 * Returns the price of an answer of this route that ends now: providers with prices by time of day bill by the end of
 * the answer. The time is kept within the span, so that the hold covers the price whatever the clock does.
 */
export function chargedPrice(route: Route, span: CallSpan, nowMs: number): Price {
  if (!route.priceSchedule) return route.price
  return priceAt(route.priceSchedule, Math.min(Math.max(nowMs, span.fromMs), span.untilMs))
}
