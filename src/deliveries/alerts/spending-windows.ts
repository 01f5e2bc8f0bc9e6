/** The hours that the spending guard compares. All are whole UTC hours, as the roll-ups are. */
export interface SpendingWindows {
  readonly now: Date
  readonly hourAt: Date
  readonly previousHourAt: Date
  /** The share of the previous hour that lies within the last 60 minutes, in millionths. */
  readonly previousShareE6: bigint
  /** The usual pace is that of the hours from here to `previousHourAt`. */
  readonly usualFrom: Date
}

const HOUR_MS = 3_600_000
/** More than a month: what happens once a month is usual. */
const USUAL_DAYS = 35

export function spendingWindows(now: Date): SpendingWindows {
  const sinceFullHour = now.getTime() % HOUR_MS
  const hourAt = new Date(now.getTime() - sinceFullHour)
  const previousHourAt = new Date(hourAt.getTime() - HOUR_MS)
  return {
    now,
    hourAt,
    previousHourAt,
    previousShareE6: BigInt(Math.round((1 - sinceFullHour / HOUR_MS) * 1e6)),
    usualFrom: new Date(hourAt.getTime() - USUAL_DAYS * 24 * HOUR_MS),
  }
}
