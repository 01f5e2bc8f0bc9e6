import { addDays } from '../../../../src/platform/lib/days.ts'
import { dayOf, endOfDay, shortDay, time } from '../../format/date.ts'
import type { Refusals } from './usage-queries.ts'

export interface RefusalBar {
  /** Its text is not enough: the clock shows an hour twice when summer time ends. */
  readonly id: string
  /** In the customer's time zone, as YYYY-MM-DD. */
  readonly day: string
  readonly text: string
  readonly refusals: number
}

const HOUR_MS = 3_600_000
/** The server keeps no older ones; the day before them may still have a rest. */
const DAYS_MAX = 91

/**
 * Every part of the period for which refusals are kept, until now, also those without refusals, which the API leaves out.
 * The period comes from the URL: thousands of years of bars would stop the page.
 */
export function refusalBars(
  { from, to, step, parts }: Pick<Refusals, 'from' | 'to' | 'step' | 'parts'>,
  nowMs: number = Date.now(),
): readonly RefusalBar[] {
  if (step === 'day') {
    const byDay = new Map(parts.map((part) => [dayOf(part.starts_at), part.refusals]))
    const today = dayOf(new Date(nowMs))
    const oldest = addDays(today, 1 - DAYS_MAX)
    const last = to < today ? to : today
    const bars: RefusalBar[] = []
    for (let day = from > oldest ? from : oldest; day <= last; day = addDays(day, 1))
      bars.push({ id: day, day, text: shortDay(day), refusals: byDay.get(day) ?? 0 })
    return bars
  }
  const byHour = new Map(parts.map((part) => [Date.parse(part.starts_at), part.refusals]))
  const firstMs = endOfDay(addDays(from, -1)).getTime() + 1_000
  const lastMs = Math.min(nowMs, endOfDay(to).getTime())
  const bars: RefusalBar[] = []
  for (let ms = firstMs; ms <= lastMs; ms += HOUR_MS) {
    const instant = new Date(ms)
    const day = dayOf(instant)
    const text = from === to ? time(instant) : `${shortDay(day)} ${time(instant)}`
    bars.push({ id: instant.toISOString(), day, text, refusals: byHour.get(ms) ?? 0 })
  }
  return bars
}
