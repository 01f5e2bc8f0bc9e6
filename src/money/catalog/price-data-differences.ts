/** Where the prices in force differ from the price data, of the package or of a newer file. Pure. */
import { builtInModels } from './built-in-models.ts'
import { describeDifference } from './compare-amounts.ts'
import type { ConfiguredModel } from './model.ts'
import { scheduleFromData, type PriceData } from './price-from-data.ts'
import { nextPriceChange, priceAt, withoutPast, type PriceSchedule } from './price-schedule.ts'
import type { PriceTerms } from './prices.ts'
import { scheduleOf } from './with-price-changes.ts'

export interface PriceDifference {
  readonly modelId: string
  /** From the price in force to that of the data, for people. */
  readonly text: string
  /** The prices of the data; undefined if it lacks the model, or has a price that cannot be read. */
  readonly schedule: PriceSchedule<PriceTerms> | undefined
}

const DAY_MS = 86_400_000
/** Within eight days, each window of a daily price has begun and ended, on each day of the week. */
const WINDOWS_MS = 8 * DAY_MS

/**
 * Finds the built-in models whose price in the data is another. `models` are priced as they are in force, with the
 * changes of the operator.
 */
export function findPriceDifferences(
  models: readonly ConfiguredModel[],
  data: PriceData,
  now: Date,
): PriceDifference[] {
  return builtInModels.flatMap(({ id, priceFrom }): PriceDifference[] => {
    const model = models.find((each) => each.id === id)
    if (!model) return []
    try {
      const schedule = withoutPast(
        scheduleFromData(priceFrom, model.contextTokens, data),
        now.getTime(),
      )
      const text = differenceOf(scheduleOf(model), schedule, now.getTime())
      return text === undefined ? [] : [{ modelId: id, text, schedule }]
    } catch (error) {
      return [{ modelId: id, text: (error as Error).message, schedule: undefined }]
    }
  })
}

/** The first difference, and from when on. */
function differenceOf(
  ours: PriceSchedule<PriceTerms>,
  theirs: PriceSchedule<PriceTerms>,
  nowMs: number,
): string | undefined {
  for (const atMs of momentsOf([...ours, ...theirs], nowMs)) {
    const text = describeDifference(priceAt(ours, atMs), priceAt(theirs, atMs))
    if (text !== undefined)
      return atMs === nowMs ? text : `${text} at ${new Date(atMs).toISOString()}`
  }
  return undefined
}

/** Now, every announced start, and each moment of the days after one at which a price may change. */
function momentsOf(
  [first, ...later]: readonly PriceSchedule<PriceTerms>[number][],
  nowMs: number,
): number[] {
  const schedule = [first, ...later] as unknown as PriceSchedule<PriceTerms>
  const starts = schedule.flatMap(({ startsAt }) => startsAt?.getTime() ?? [])
  const moments = new Set<number>()
  for (const from of [nowMs, ...starts.filter((start) => start > nowMs)]) {
    for (let at = from; at <= from + WINDOWS_MS; at = nextPriceChange(schedule, at)) moments.add(at)
  }
  return [...moments].sort((a, b) => a - b)
}
