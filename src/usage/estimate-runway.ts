import { NANO_PER_BRL, type NanoBrl } from '../lib/money.ts'

export interface Runway {
  /** Rounded half up to the nano-BRL. */
  readonly dailyAverageNanoBrl: NanoBrl
  /** Whole days that the balance lasts at that average; null where too little is spent to tell. */
  readonly runwayDays: number | null
  readonly isCritical: boolean
}

/** One cent a day. */
const AVERAGE_MIN_NANO_BRL = NANO_PER_BRL / 100n
const CRITICAL_DAYS = 7

/** How long the balance lasts if as much is spent as in these days. Pure. */
export function estimateRunway(
  balanceNanoBrl: NanoBrl,
  spentNanoBrl: NanoBrl,
  days: number,
): Runway {
  const dayCount = BigInt(days)
  const dailyAverageNanoBrl = (spentNanoBrl * 2n + dayCount) / (dayCount * 2n)
  if (spentNanoBrl < AVERAGE_MIN_NANO_BRL * dayCount)
    return { dailyAverageNanoBrl, runwayDays: null, isCritical: false }
  // Divided once: with the average that is rounded a day could be lost.
  const runwayDays = balanceNanoBrl > 0n ? Number((balanceNanoBrl * dayCount) / spentNanoBrl) : 0
  return { dailyAverageNanoBrl, runwayDays, isCritical: runwayDays < CRITICAL_DAYS }
}
