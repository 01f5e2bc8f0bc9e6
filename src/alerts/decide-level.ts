import { decideAlert } from './decide-alert.ts'

/** Of how long a balance lasts. */
export type BalanceLevel = 'ok' | 'low' | 'critical'

/** As `GET /me/runway` calls it. */
const CRITICAL_DAYS = 7
const LOW_DAYS = 14

/**
 * Each level is reached as an alert with that threshold fires, and left as it is armed again. From critical it is
 * left for low without a word: only what got worse is told. Pure.
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
