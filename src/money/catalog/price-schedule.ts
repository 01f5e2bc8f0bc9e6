/** Prices that depend on the time: from a date on, or at certain times of day. Pure. */

/** A part of each day. */
export interface PriceWindow {
  /** Seconds of the day in UTC. `untilSecond` is exclusive; if it is the smaller one, it is on the next day. */
  readonly fromSecond: number
  readonly untilSecond: number
  /** ISO weekdays (1 is Monday) of a calendar that is this far from UTC; without it, every day. */
  readonly weekdays?: { readonly days: readonly number[]; readonly utcOffsetHours: number }
}

/** A price with the times at which it applies; without both, always. */
export interface ScheduledPrice<P> {
  readonly startsAt?: Date
  readonly window?: PriceWindow
  readonly price: P
}

/** The last price that applies is charged. The first one has no conditions. */
export type PriceSchedule<P> = readonly [ScheduledPrice<P>, ...ScheduledPrice<P>[]]

const SECOND_MS = 1_000
const HOUR_MS = 3_600_000
const DAY_MS = 86_400_000
/** Within eight days, each window of a daily price has begun and ended, on each day of the week. */
const WINDOWS_MS = 8 * DAY_MS

export function priceAt<P>(schedule: PriceSchedule<P>, atMs: number): P {
  return (schedule.findLast((each) => applies(each, atMs)) ?? schedule[0]).price
}

/** Returns every price that applies at some moment from the first to the last, both inclusive. */
export function pricesBetween<P>(schedule: PriceSchedule<P>, fromMs: number, untilMs: number): P[] {
  const found = new Set([priceAt(schedule, fromMs)])
  for (
    let at = nextPriceChange(schedule, fromMs);
    at <= untilMs;
    at = nextPriceChange(schedule, at)
  )
    found.add(priceAt(schedule, at))
  return [...found]
}

/** Returns the first moment after the given one at which another price may apply; `Infinity` if none can. */
export function nextPriceChange(
  schedule: readonly ScheduledPrice<unknown>[],
  afterMs: number,
): number {
  let next = Infinity
  for (const { startsAt, window } of schedule) {
    const moments = window ? boundariesAfter(window, afterMs) : []
    if (startsAt) moments.push(startsAt.getTime())
    for (const moment of moments) if (moment > afterMs && moment < next) next = moment
  }
  return next
}

/** Now, every announced start, and each moment of the days after one at which a price may change. */
export function momentsOf(prices: readonly ScheduledPrice<unknown>[], nowMs: number): number[] {
  const starts = prices.flatMap(({ startsAt }) => startsAt?.getTime() ?? [])
  const moments = new Set<number>()
  for (const from of [nowMs, ...starts.filter((start) => start > nowMs)]) {
    for (let at = from; at <= from + WINDOWS_MS; at = nextPriceChange(prices, at)) moments.add(at)
  }
  return [...moments].sort((a, b) => a - b)
}

/** Returns the schedule without prices that can never apply again. */
export function withoutPast<P>(schedule: PriceSchedule<P>, nowMs: number): PriceSchedule<P> {
  const first = schedule.findLastIndex(
    ({ startsAt, window }) => !window && (!startsAt || startsAt.getTime() <= nowMs),
  )
  const [base = schedule[0], ...later] = schedule.slice(Math.max(first, 0))
  return [{ price: base.price }, ...later]
}

/** Returns the same schedule of other prices, such as prices with ids. */
export function mapSchedule<P, Q>(
  [first, ...later]: PriceSchedule<P>,
  map: (price: P) => Q,
): PriceSchedule<Q> {
  const mapped = (each: ScheduledPrice<P>): ScheduledPrice<Q> => ({
    ...each,
    price: map(each.price),
  })
  return [mapped(first), ...later.map(mapped)]
}

function applies({ startsAt, window }: ScheduledPrice<unknown>, atMs: number): boolean {
  if (startsAt && atMs < startsAt.getTime()) return false
  if (!window) return true
  const second = (atMs % DAY_MS) / SECOND_MS
  const { fromSecond, untilSecond, weekdays } = window
  const isWithin =
    untilSecond < fromSecond
      ? second >= fromSecond || second < untilSecond
      : second >= fromSecond && second < untilSecond
  if (!isWithin || !weekdays) return isWithin
  const local = new Date(atMs + weekdays.utcOffsetHours * HOUR_MS)
  return weekdays.days.includes(local.getUTCDay() || 7)
}

/** The next begin and end of the window, and the next midnight of its calendar. */
function boundariesAfter({ fromSecond, untilSecond, weekdays }: PriceWindow, afterMs: number) {
  const offsets = [fromSecond * SECOND_MS, untilSecond * SECOND_MS]
  if (weekdays) offsets.push(((24 - weekdays.utcOffsetHours) % 24) * HOUR_MS)
  const midnight = afterMs - (afterMs % DAY_MS)
  return offsets.map((offset) => {
    const moment = midnight + offset
    return moment > afterMs ? moment : moment + DAY_MS
  })
}
