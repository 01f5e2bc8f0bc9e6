import type { Model } from './model.ts'
import type { PriceSchedule, ScheduledPrice } from './price-schedule.ts'
import type { Price, PriceTerms } from './prices.ts'
import { unitNames } from './read-price-schedule.ts'

/** A change of a model's prices, which an operator set. */
export interface PriceChange<P extends PriceTerms = Price> {
  readonly id: number
  readonly modelId: string
  readonly startsAt: Date
  readonly schedule: PriceSchedule<P>
  readonly note: string | null
}

/**
 * Returns the model with the changes of its prices behind its own. A change whose units are not the model's is left
 * out: the configuration was changed after it, and calls are billed by the units of the model.
 */
export function withPriceChanges<P extends PriceTerms>(
  model: Model<P>,
  changes: readonly PriceChange<P>[],
): Model<P> {
  const added = changes
    .filter((change) => change.modelId === model.id && hasUnitsOf(change, model))
    .flatMap(toScheduled)
  if (added.length === 0) return model
  const extended = <Priced extends Pick<Model<P>, 'price' | 'priceSchedule'>>(priced: Priced) => {
    const [first, ...later] = scheduleOf<P>(priced)
    return { ...priced, priceSchedule: [first, ...later, ...added] as const }
  }
  return {
    ...extended(model),
    routes: model.routes.map((route) => (route.hasOwnPrice ? route : extended(route))),
  }
}

export function scheduleOf<P extends PriceTerms>({
  price,
  priceSchedule,
}: Pick<Model<P>, 'price' | 'priceSchedule'>): PriceSchedule<P> {
  return priceSchedule ?? [{ price }]
}

export function hasUnitsOf(
  { schedule }: Pick<PriceChange<PriceTerms>, 'schedule'>,
  { price }: Pick<Model<PriceTerms>, 'price'>,
): boolean {
  return schedule.every((each) => unitNames(each.price) === unitNames(price))
}

/** No price of a change applies before the change starts. */
function toScheduled<P extends PriceTerms>(change: PriceChange<P>): ScheduledPrice<P>[] {
  return change.schedule.map((each) => ({
    ...each,
    startsAt: each.startsAt && each.startsAt > change.startsAt ? each.startsAt : change.startsAt,
  }))
}
