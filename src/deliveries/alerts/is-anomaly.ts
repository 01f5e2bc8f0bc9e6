import type { NanoBrl } from '../../platform/lib/money.ts'
import type { SpendingGuard } from '../../customers/spending-guard.ts'

/** Amounts of one hour. */
export interface Pace {
  /** Spent in the last 60 minutes. */
  readonly spentNanoBrl: NanoBrl
  /** The most that was usual in an hour. */
  readonly usualNanoBrl: NanoBrl
}

/** Whether so much in an hour is an anomaly. */
export function isAnomaly(
  { factor, floorNanoBrl }: SpendingGuard,
  { spentNanoBrl, usualNanoBrl }: Pace,
): boolean {
  if (factor === null || spentNanoBrl < floorNanoBrl) return false
  return spentNanoBrl >= BigInt(factor) * usualNanoBrl
}
