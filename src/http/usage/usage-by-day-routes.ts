import Type from 'typebox'
import { jsonBrl } from '../../platform/lib/money.ts'
import { findLatency, LATENCY_CALLS, sumUsageByDay } from '../../money/usage/sum-usage.ts'
import { answer, brl, count, nullable, wholeNumber } from '../rest/values.ts'
import type { HttpParts } from '../rest/parts.ts'
import { restRoute } from '../rest/rest-route.ts'

type Deps = Pick<HttpParts, 'db'>

const DAYS_DEFAULT = 30
/** Each day is summed separately. */
const DAYS_MAX = 90

const ms = nullable(Type.Integer({ minimum: 0 }))

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
  latency: {
    ...answer({
      calls: { ...count, maximum: LATENCY_CALLS },
      p50_ms: ms,
      p95_ms: ms,
      first_byte_p50_ms: ms,
    }),
    description: `Quanto demoraram as últimas ${LATENCY_CALLS} chamadas cobradas, do pedido ao modelo ao fim da resposta.`,
  },
})

export const usageByDayRoutes = [
  restRoute({
    method: 'GET',
    path: '/usage/by-day',
    tag: 'Uso',
    summary: 'O uso de cada um dos últimos dias',
    access: 'account',
    readsFrom: 'replica',
    query: { days: wholeNumber(1, DAYS_MAX, DAYS_DEFAULT) },
    answer: byDay,
    async handle({ caller, query }, deps: Deps) {
      const { days = DAYS_DEFAULT } = query
      const sums = await sumUsageByDay(deps.db, caller.customerId, days)
      const latency = await findLatency(deps.db, caller.customerId)
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
        latency: {
          calls: latency.calls,
          p50_ms: latency.p50Ms,
          p95_ms: latency.p95Ms,
          first_byte_p50_ms: latency.firstByteP50Ms,
        },
      }
    },
  }),
]
