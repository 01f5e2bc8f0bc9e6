/**
 * Decides when an alert fires: once when its threshold is crossed, and again only after it was rearmed. Pure.
 */

export type AlertState = 'ok' | 'triggered'

export interface AlertRule {
  /** `below` fires under the threshold; `above` fires when the threshold is reached. */
  readonly direction: 'below' | 'above'
  readonly thresholdNano: bigint
}

export interface AlertStanding {
  readonly state: AlertState
  /** The period in which it fired last; null if it never fired, or if its kind has no day or month. */
  readonly firedPeriod: string | null
}

/** The value that was read; null when there is too little data to decide, and then nothing changes. */
export interface AlertReading {
  /** Null: infinite. */
  readonly valueNano: bigint | null
  /** The day or month of a spending alert, as text that sorts by time; null for other kinds. */
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
  if (standing.state === 'triggered' && !isRearmed(rule, standing, reading))
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
 * A value rearms its alert a tenth beyond the threshold, so that a value that fluctuates around it fires once.
 * Spending only grows, so it rearms with the next day or month.
 */
function isRearmed(
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
