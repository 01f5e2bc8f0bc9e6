import type { FastifyInstance } from 'fastify'
import Type from 'typebox'
import { jsonBrl } from '../../lib/money.ts'
import { sumUsageByDay } from '../../usage/sum-usage-by-day.ts'
import { answer, brl, count, wholeNumber } from '../contract/values.ts'
import type { HttpDeps } from '../http-deps.ts'
import { addRestRoute } from '../rest-route.ts'

const DAYS_DEFAULT = 30
/** Each day is added up by itself. */
const DAYS_MAX = 90

const byDay = answer({
  days: Type.Integer(),
  by_day: Type.Array(
    answer({
      day: Type.String({ format: 'date', description: 'No fuso do cliente.' }),
      requests: count,
      failed_requests: { ...count, description: 'Chamadas que falharam e não custaram nada.' },
      prompt_tokens: count,
      completion_tokens: count,
      cost_billed_brl: brl,
    }),
    { maxItems: DAYS_MAX, description: 'Do mais antigo até hoje; os dias sem uso também.' },
  ),
})

export function addUsageByDay(server: FastifyInstance, deps: HttpDeps): void {
  addRestRoute(server, deps, {
    method: 'GET',
    path: '/usage/by-day',
    tag: 'Uso',
    summary: 'O uso de cada um dos últimos dias',
    access: 'customer',
    query: { days: wholeNumber(1, DAYS_MAX, DAYS_DEFAULT) },
    answer: byDay,
    async handle({ caller, query }) {
      const { days = DAYS_DEFAULT } = query
      const sums = await sumUsageByDay(deps.db, caller.customerId, days)
      return {
        days,
        by_day: sums.map((each) => ({
          day: each.day,
          requests: each.requests,
          failed_requests: each.failedRequests,
          prompt_tokens: each.promptTokens,
          completion_tokens: each.completionTokens,
          cost_billed_brl: jsonBrl(each.costBilledNanoBrl),
        })),
      }
    },
  })
}
