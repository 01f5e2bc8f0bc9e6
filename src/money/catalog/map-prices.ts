import type { Model } from './model.ts'
import { mapSchedule, type PriceSchedule } from './price-schedule.ts'
import type { PriceTerms } from './prices.ts'

interface Priced<P> {
  readonly price: P
  readonly priceSchedule?: PriceSchedule<P>
}

/** The model with all of its prices and those of its routes replaced, whenever they apply. */
export function mapPrices<P extends PriceTerms, Q extends PriceTerms>(
  model: Model<P>,
  map: (price: P) => Q,
): Model<Q> {
  return {
    ...mapped(model, map),
    routes: model.routes.map((route) => mapped(route, map)),
  }
}

function mapped<P, Q, Rest extends Priced<P>>(
  { price, priceSchedule, ...rest }: Rest,
  map: (price: P) => Q,
): Omit<Rest, keyof Priced<P>> & Priced<Q> {
  return {
    ...rest,
    price: map(price),
    ...(priceSchedule && { priceSchedule: mapSchedule(priceSchedule, map) }),
  }
}
