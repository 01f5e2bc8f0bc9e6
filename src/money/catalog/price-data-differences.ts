/** Where the prices in force differ from the price data, of the package or of a newer one. Pure. */
import { describeDifference, isBelowCost, isOnlyCheaper } from './compare-amounts.ts'
import type { ConfiguredModel } from './model.ts'
import { scheduleFromData, type PriceData } from './price-from-data.ts'
import { momentsOf, priceAt, withoutPast, type PriceSchedule } from './price-schedule.ts'
import type { PriceTerms } from './prices.ts'
import { scheduleOf } from './with-price-changes.ts'

export interface PriceDifference {
  readonly modelId: string
  /** From the price in force to that of the data, for people. */
  readonly text: string
  /** `dearer` if any amount is, at any time. */
  readonly kind: 'cheaper' | 'dearer' | 'unreadable'
  /** The prices of the data; undefined if it lacks the model, or has a price that cannot be read. */
  readonly schedule: PriceSchedule<PriceTerms> | undefined
  /** An amount of the data is above what customers pay now. */
  readonly isBelowCost: boolean
}

/**
 * Finds the models of the data whose price there is another. `models` are priced as they are in force, with the changes
 * of the operator. With `plannedAt`, they are compared from the last change on that a model has before it.
 */
export function findPriceDifferences(
  models: readonly ConfiguredModel[],
  data: PriceData,
  now: Date,
  plannedAt: (modelId: string) => Date | undefined = () => undefined,
): PriceDifference[] {
  return models.flatMap((model): PriceDifference[] => {
    const { id, priceFrom, contextTokens } = model
    if (!priceFrom) return []
    try {
      const schedule = withoutPast(scheduleFromData(priceFrom, contextTokens, data), now.getTime())
      const fromMs = Math.max(now.getTime(), plannedAt(id)?.getTime() ?? 0)
      const differing = differencesOf(scheduleOf(model), schedule, fromMs)
      const [first] = differing
      if (!first) return []
      return [
        {
          modelId: id,
          text: first.atMs === now.getTime() ? first.text : `${first.text} at ${isoOf(first.atMs)}`,
          kind: differing.every(({ ours, theirs }) => isOnlyCheaper(ours, theirs))
            ? 'cheaper'
            : 'dearer',
          schedule,
          isBelowCost: isBelowCost(
            priceAt(scheduleOf(model), now.getTime()),
            priceAt(schedule, now.getTime()),
            model.markupE4,
          ),
        },
      ]
    } catch (error) {
      const text = (error as Error).message
      return [{ modelId: id, text, kind: 'unreadable', schedule: undefined, isBelowCost: false }]
    }
  })
}

function isoOf(ms: number): string {
  return new Date(ms).toISOString()
}

/** Each moment at which the prices differ. */
function differencesOf(
  ours: PriceSchedule<PriceTerms>,
  theirs: PriceSchedule<PriceTerms>,
  fromMs: number,
) {
  return momentsOf([...ours, ...theirs], fromMs).flatMap((atMs) => {
    const [own, their] = [priceAt(ours, atMs), priceAt(theirs, atMs)]
    const text = describeDifference(own, their)
    return text === undefined ? [] : [{ atMs, text, ours: own, theirs: their }]
  })
}
