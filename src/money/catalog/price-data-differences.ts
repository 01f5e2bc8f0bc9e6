/** Where the prices in force differ from the price data, of the package or of a newer one. Pure. */
import { describeDifference, isBelowCost, isOnlyCheaper } from './compare-amounts.ts'
import type { ConfiguredModel } from './model.ts'
import { scheduleFromData, type PriceData } from './price-from-data.ts'
import { momentsOf, priceAt, withoutPast, type PriceSchedule } from './price-schedule.ts'
import type { PriceTerms } from './prices.ts'
import { scheduleOf } from './with-price-changes.ts'

const SAME = 'no difference'

export interface PriceDifference {
  readonly modelId: string
  /** From the price in force to that of the data, at every time at which they differ, for people. */
  readonly text: string
  /** `dearer` if any amount is, at any time. */
  readonly kind: 'cheaper' | 'dearer' | 'unreadable'
  /** Another amount, or the same one at another time, is cheaper. */
  readonly isMixed?: boolean
  /** The second list says something else than the data: no rule takes it. */
  readonly isDisputed?: boolean
  /** The prices of the data; undefined if it lacks the model, or has a price that cannot be read. */
  readonly schedule: PriceSchedule<PriceTerms> | undefined
  /** An amount of the data is above what customers pay now. */
  readonly isBelowCost: boolean
}

/** A price in use of which only the second list says something else: there is nothing to take. */
export interface Dispute {
  readonly modelId: string
  readonly text: string
  readonly kind: 'disputed'
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
      const moments = compareMoments(scheduleOf(model), schedule, fromMs)
      const differing = moments.filter(({ text }) => text !== undefined)
      if (differing.length === 0) return []
      const isCheaper = differing.every(({ ours, theirs }) => isOnlyCheaper(ours, theirs))
      return [
        {
          modelId: id,
          text: describe(moments, now.getTime()),
          kind: isCheaper ? 'cheaper' : 'dearer',
          isMixed:
            !isCheaper && !differing.every(({ ours, theirs }) => isOnlyCheaper(theirs, ours)),
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

interface Moment {
  /** The last start of a price until then. */
  readonly startMs: number
  /** Undefined if the prices are the same. */
  readonly text: string | undefined
  readonly ours: PriceTerms
  readonly theirs: PriceTerms
}

/** Each moment at which one of the prices may change. */
function compareMoments(
  ours: PriceSchedule<PriceTerms>,
  theirs: PriceSchedule<PriceTerms>,
  fromMs: number,
): Moment[] {
  const starts = new Set([...ours, ...theirs].map(({ startsAt }) => startsAt?.getTime()))
  let startMs = fromMs
  return momentsOf([...ours, ...theirs], fromMs).map((atMs) => {
    if (starts.has(atMs)) startMs = atMs
    const [own, their] = [priceAt(ours, atMs), priceAt(theirs, atMs)]
    return { startMs, text: describeDifference(own, their), ours: own, theirs: their }
  })
}

/** From each start on. The hours of a day are not named, so that the text stays the same while a day passes. */
function describe(moments: readonly Moment[], nowMs: number): string {
  const parts: string[] = []
  let before: string = SAME
  for (const startMs of new Set(moments.map((each) => each.startMs))) {
    const within = moments.filter((each) => each.startMs === startMs)
    const texts = [...new Set(within.map(({ text = SAME }) => text))].toSorted()
    const text = texts.join(', at other hours ')
    if (text === before) continue
    before = text
    parts.push(startMs === nowMs ? text : `from ${new Date(startMs).toISOString()}: ${text}`)
  }
  return parts.join('; ')
}
