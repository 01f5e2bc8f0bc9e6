/** Periods of days in São Paulo's time zone, as the API counts them. */
import { addDays } from '../../../../../src/platform/lib/days.ts'
import { perLanguage } from '../../../language/per-language.ts'
import { t } from '../../../language/t.ts'

export interface Window {
  readonly from: string
  readonly to: string
}

const PERIODS = perLanguage(
  () =>
    ({
      hoje: { name: t('Hoje'), window: (today) => lastDays(today, 1) },
      '7-dias': { name: t('Últimos 7 dias'), window: (today) => lastDays(today, 7) },
      '30-dias': { name: t('Últimos 30 dias'), window: (today) => lastDays(today, 30) },
      '92-dias': { name: t('Últimos 92 dias'), window: (today) => lastDays(today, 92) },
      mes: {
        name: t('Este mês'),
        window: (today) => ({ from: `${today.slice(0, 7)}-01`, to: today }),
      },
      'mes-passado': { name: t('Mês passado'), window: monthBefore },
    }) as const satisfies Record<string, { name: string; window: (today: string) => Window }>,
)

export type Period = keyof ReturnType<typeof PERIODS>

export const PERIOD_NAMES = perLanguage(() =>
  Object.entries(PERIODS()).map(([period, { name }]) => [period as Period, name] as const),
)

export function periodOf(text: string): Period {
  return PERIOD_NAMES().find(([period]) => period === text)?.[0] ?? '30-dias'
}

export function windowOf(period: Period, now: Date = new Date()): Window {
  const today = new Intl.DateTimeFormat('sv-SE', {
    timeZone: 'America/Sao_Paulo',
    dateStyle: 'short',
  }).format(now)
  return PERIODS()[period].window(today)
}

function lastDays(today: string, days: number): Window {
  return { from: addDays(today, 1 - days), to: today }
}

function monthBefore(today: string): Window {
  const to = addDays(`${today.slice(0, 7)}-01`, -1)
  return { from: `${to.slice(0, 7)}-01`, to }
}
