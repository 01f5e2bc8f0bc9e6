/** When an alert fires: once when its threshold is crossed, and again only after it was armed again. Pure. */

export type AlertState = 'ok' | 'triggered'

export interface AlertRule {
  /** `below`: it fires where there is less than the threshold; `above`: where it is reached. */
  readonly direction: 'below' | 'above'
  readonly thresholdNano: bigint
}

export interface AlertStanding {
  readonly state: AlertState
  /** In which it fired last; null where it never did, or is not of a day or a month. */
  readonly firedPeriod: string | null
}

/** What was read; null where there is too little to tell, and then nothing changes. */
export interface AlertReading {
  /** Null: without end. */
  readonly valueNano: bigint | null
  /** Of spending, which begins again with each: text that grows with time. */
  readonly period: string | null
}

export interface AlertDecision extends AlertStanding {
  readonly fires: boolean
}

export function decideAlert(
  rule: AlertRule,
  standing: AlertStanding,
  reading: AlertReading | null,
): AlertDecision {
  if (!reading) return { ...standing, fires: false }
  if (standing.state === 'triggered' && !isArmedAgain(rule, standing, reading))
    return { ...standing, fires: false }
  if (isBeyond(rule, reading))
    return { state: 'triggered', firedPeriod: reading.period, fires: true }
  return { state: 'ok', firedPeriod: standing.firedPeriod, fires: false }
}

function isBeyond({ direction, thresholdNano }: AlertRule, { valueNano }: AlertReading): boolean {
  if (valueNano === null) return direction === 'above'
  return direction === 'below' ? valueNano < thresholdNano : valueNano >= thresholdNano
}

/**
 * A tenth beyond the threshold, so that a value that wavers about it is told once. Spending only grows, until a
 * new day or month begins.
 */
function isArmedAgain(
  { direction, thresholdNano }: AlertRule,
  { firedPeriod }: AlertStanding,
  { valueNano, period }: AlertReading,
): boolean {
  if (period !== null) return firedPeriod === null || period > firedPeriod
  if (valueNano === null) return direction === 'below'
  return direction === 'below'
    ? valueNano * 10n >= thresholdNano * 11n
    : valueNano * 10n <= thresholdNano * 9n
}
