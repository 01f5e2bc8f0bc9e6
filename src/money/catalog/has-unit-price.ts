import type { Model } from './model.ts'
import type { PriceTerms } from './prices.ts'

/** Whether every price of the model's routes has this unit, because any of them may be charged. */
export function hasUnitPrice({ routes }: Model, unit: string): boolean {
  const isPriced = ({ units }: PriceTerms): boolean => units?.[unit] !== undefined
  return (
    routes.length > 0 &&
    routes.every(
      ({ price, priceSchedule = [] }) =>
        isPriced(price) && priceSchedule.every((scheduled) => isPriced(scheduled.price)),
    )
  )
}
