import type { PriceScheduleConfig } from './catalog-config-schema.ts'
import { isHourCacheUnit } from './hour-cache.ts'
import type { ModelCategory } from './model.ts'
import type { PriceSchedule, PriceWindow, ScheduledPrice } from './price-schedule.ts'
import type { PriceTerms } from './prices.ts'
import { readPrices } from './read-prices.ts'
import { WEB_SEARCH_UNIT } from './web-search.ts'

/** Returns the schedule with the prices that the configuration adds to it. */
export function readPriceSchedule(
  modelId: string,
  category: ModelCategory,
  base: PriceSchedule<PriceTerms>,
  given: PriceScheduleConfig | undefined,
  faults: string[],
): PriceSchedule<PriceTerms> {
  const fault = (text: string): void =>
    void faults.push(`model "${modelId}": "price_schedule": ${text}`)
  const added = (given ?? []).map((each): ScheduledPrice<PriceTerms> => {
    const window = readWindow(each, fault)
    const startsAt = each.starts_at === undefined ? undefined : new Date(each.starts_at)
    if (startsAt && Number.isNaN(startsAt.getTime())) fault(`${each.starts_at} is not a time`)
    if (!startsAt && !window) fault('an entry needs "starts_at", or "from" and "until"')
    const price = readPrices(modelId, category, each.prices, faults)
    // A call may be charged by any of them, so all of them must bill it by the same units.
    if (unitNames(price) !== unitNames(base[0].price))
      fault(`its prices must be of the same units (${unitNames(base[0].price) || 'tokens'})`)
    return { ...(startsAt && { startsAt }), ...(window && { window }), price }
  })
  return [...base, ...added]
}

type Entry = PriceScheduleConfig[number]

function readWindow(
  { from, until, weekdays, weekdays_utc_offset: utcOffsetHours = 0 }: Entry,
  fault: (text: string) => void,
): PriceWindow | undefined {
  if (from === undefined && until === undefined && weekdays === undefined) return undefined
  if (from === undefined || until === undefined || from === until) {
    fault('"from" and "until" belong together, and must differ')
    return undefined
  }
  return {
    fromSecond: secondOf(from),
    untilSecond: secondOf(until),
    ...(weekdays && { weekdays: { days: weekdays, utcOffsetHours } }),
  }
}

/** `01:30` */
function secondOf(time: string): number {
  const [hours = '', minutes = ''] = time.split(':')
  return (Number(hours) * 60 + Number(minutes)) * 60
}

/**
 * Returns the names of a price's units without one-hour cache writes and searches: no call depends on them, and they
 * are offered only if every price has them.
 */
export function unitNames({ units }: PriceTerms): string {
  return Object.keys(units ?? {})
    .filter((unit) => !isHourCacheUnit(unit) && unit !== WEB_SEARCH_UNIT)
    .sort()
    .join(', ')
}
