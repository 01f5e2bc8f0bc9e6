import type { AlertRule } from './decide-alert.ts'

export const ALERT_KINDS = [
  'balance_below',
  'daily_spend',
  'monthly_spend',
  'runway_days',
  'error_rate',
] as const
export type AlertKind = (typeof ALERT_KINDS)[number]

export interface AlertKindRules {
  readonly direction: AlertRule['direction']
  readonly unit: 'brl' | 'days' | 'percent'
  /** Bounds of the threshold, in its unit. */
  readonly min: number
  readonly max: number
  readonly decimals: number
  /** API keys and teams have no balance of their own. */
  readonly isForWholeAccountOnly: boolean
}

const BRL = { unit: 'brl', min: 0.01, max: 1_000_000, decimals: 2 } as const

export const ALERT_RULES: Readonly<Record<AlertKind, AlertKindRules>> = {
  balance_below: { ...BRL, direction: 'below', isForWholeAccountOnly: true },
  daily_spend: { ...BRL, direction: 'above', isForWholeAccountOnly: false },
  monthly_spend: { ...BRL, direction: 'above', isForWholeAccountOnly: false },
  runway_days: {
    unit: 'days',
    min: 1,
    max: 365,
    decimals: 0,
    direction: 'below',
    isForWholeAccountOnly: true,
  },
  error_rate: {
    unit: 'percent',
    min: 1,
    max: 100,
    decimals: 2,
    direction: 'above',
    isForWholeAccountOnly: false,
  },
}
