import Type from 'typebox'
import { readRunway, RUNWAY_PERIOD_DAYS } from '../../deliveries/alerts/read-runway.ts'
import { jsonBrl } from '../../platform/lib/money.ts'
import { answer, brl, count, nullable, wholeNumber } from '../rest/values.ts'
import type { HttpParts } from '../rest/parts.ts'
import { restRoute } from '../rest/rest-route.ts'

type Deps = Pick<HttpParts, 'db'>

const DAYS_MAX = 90

const runway = answer({
  balance_brl: brl,
  period_days: Type.Integer(),
  daily_avg_brl: Type.Number({
    description: 'O gasto dos últimos dias dividido pelo número de dias, em BRL.',
  }),
  runway_days: {
    ...nullable(count),
    description: 'Dias inteiros que o saldo dura; null com menos de R$ 0,01 por dia em média.',
  },
  critical: Type.Boolean({ description: 'O saldo dura menos de 7 dias.' }),
})

export const runwayRoutes = [
  restRoute({
    method: 'GET',
    path: '/me/runway',
    tag: 'Uso',
    summary: 'Por quantos dias o saldo ainda dura',
    access: 'account',
    query: { days: wholeNumber(1, DAYS_MAX, RUNWAY_PERIOD_DAYS) },
    answer: runway,
    async handle({ caller, query }, deps: Deps) {
      const { days = RUNWAY_PERIOD_DAYS } = query
      const estimate = await readRunway(deps.db, caller.customerId, days)
      return {
        balance_brl: jsonBrl(estimate.balanceNanoBrl),
        period_days: days,
        daily_avg_brl: jsonBrl(estimate.dailyAverageNanoBrl),
        runway_days: estimate.runwayDays,
        critical: estimate.isCritical,
      }
    },
  }),
]
