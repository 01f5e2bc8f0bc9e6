/** The periods of the spending page, as days of the customer's time zone (YYYY-MM-DD), both included. */
import { addDays } from '../../../../src/platform/lib/days.ts'
import { t } from '../../language/t.ts'

export interface Days {
  readonly from: string
  readonly to: string
}

const DAY_MS = 86_400_000

function lengthOf({ from, to }: Days): number {
  return Math.round((Date.parse(to) - Date.parse(from)) / DAY_MS) + 1
}

/** As many days, just before. */
export function periodBefore(days: Days): Days {
  return { from: addDays(days.from, -lengthOf(days)), to: addDays(days.from, -1) }
}

/** Within the days for which refused calls are counted; the one before the last is the standard. */
export function refusalPeriods(today: string): readonly (readonly [string, Days])[] {
  return [
    [t('Hoje'), { from: today, to: today }],
    [t('7 dias'), { from: addDays(today, -6), to: today }],
    [t('30 dias'), { from: addDays(today, -29), to: today }],
    [t('90 dias'), { from: addDays(today, -89), to: today }],
  ]
}

export function presetsOf(today: string): readonly (readonly [string, Days])[] {
  const monthStart = `${today.slice(0, 7)}-01`
  const lastMonthEnd = addDays(monthStart, -1)
  return [
    [t('7 dias'), { from: addDays(today, -6), to: today }],
    [t('30 dias'), { from: addDays(today, -29), to: today }],
    [t('90 dias'), { from: addDays(today, -89), to: today }],
    [t('Este mês'), { from: monthStart, to: today }],
    [t('Mês passado'), { from: `${lastMonthEnd.slice(0, 7)}-01`, to: lastMonthEnd }],
  ]
}
