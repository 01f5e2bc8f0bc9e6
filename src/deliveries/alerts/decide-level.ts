import { decideAlert } from './decide-alert.ts'

/** How long the balance will last. */
export type BalanceLevel = 'ok' | 'low' | 'critical'

/** The limits of `GET /me/runway`. */
const CRITICAL_DAYS = 7
const LOW_DAYS = 14

/**
 * A level is entered when an alert with its threshold would fire, and left when that alert would be rearmed.
 * Only a change for the worse is a warning: from critical to low there is none. Pure.
 */
export function decideLevel(
  level: BalanceLevel,
  runwayDays: number | null,
): { readonly level: BalanceLevel; readonly isWorse: boolean } {
  const next = isWithin(CRITICAL_DAYS, level === 'critical', runwayDays)
    ? 'critical'
    : isWithin(LOW_DAYS, level !== 'ok', runwayDays)
      ? 'low'
      : 'ok'
  const isWorse = next !== level && next !== 'ok' && level !== 'critical'
  return { level: next, isWorse }
}

function isWithin(days: number, isTriggered: boolean, runwayDays: number | null): boolean {
  const { state } = decideAlert(
    { direction: 'below', thresholdNano: BigInt(days) },
    { state: isTriggered ? 'triggered' : 'ok', firedPeriod: null },
    { valueNano: runwayDays === null ? null : BigInt(runwayDays), period: null },
  )
  return state === 'triggered'
}
