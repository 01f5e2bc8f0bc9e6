import { NANO_PER_BRL, type NanoBrl } from '../../platform/lib/money.ts'

export interface Runway {
  /** Rounded half up to the nano-BRL. */
  readonly dailyAverageNanoBrl: NanoBrl
  /** Whole days that the balance lasts at that average; null if too little was spent for an estimate. */
  readonly runwayDays: number | null
  readonly isCritical: boolean
}

/** One cent a day. */
const AVERAGE_MIN_NANO_BRL = NANO_PER_BRL / 100n
const CRITICAL_DAYS = 7

/** Estimates how long the balance lasts if spending goes on as in the last `days` days. A pure function. */
export function estimateRunway(
  balanceNanoBrl: NanoBrl,
  spentNanoBrl: NanoBrl,
  days: number,
): Runway {
  const dayCount = BigInt(days)
  const dailyAverageNanoBrl = (spentNanoBrl * 2n + dayCount) / (dayCount * 2n)
  // A debt lasts no day, however little is spent.
  if (balanceNanoBrl < 0n) return { dailyAverageNanoBrl, runwayDays: 0, isCritical: true }
  if (spentNanoBrl < AVERAGE_MIN_NANO_BRL * dayCount)
    return { dailyAverageNanoBrl, runwayDays: null, isCritical: false }
  // A single division: the rounded average could lose a day.
  const runwayDays = balanceNanoBrl > 0n ? Number((balanceNanoBrl * dayCount) / spentNanoBrl) : 0
  return { dailyAverageNanoBrl, runwayDays, isCritical: runwayDays < CRITICAL_DAYS }
}
