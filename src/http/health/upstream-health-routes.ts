import Type from 'typebox'
import {
  SUMMARY_AGE_SECONDS_MAX,
  type VendorHealth,
  type HealthSummaries,
} from '../../platform/health/health-summaries.ts'
import { answer, count, date, nullable, wholeNumber } from '../rest/values.ts'
import { restRoute } from '../rest/rest-route.ts'

interface Deps {
  readonly healthSummaries: HealthSummaries
}

const DAYS_DEFAULT = 30
const DAYS_MAX = 90

const uptime = Type.Number({ minimum: 0, maximum: 100 })
const days = wholeNumber(1, DAYS_MAX, DAYS_DEFAULT)

/** The routes for uptime and latency by the maker of the models; the upstreams behind them are never named. */
export const upstreamHealthRoutes = [
  restRoute({
    method: 'GET',
    path: '/upstream-health',
    tag: 'Estado',
    summary: 'Disponibilidade e latência por provedor',
    access: 'public',
    query: { days },
    answer: answer({
      days: Type.Integer(),
      providers: Type.Array(
        answer({
          provider: Type.String(),
          requests: count,
          uptime_percent: uptime,
          p50_ms: nullable(Type.Number()),
          p95_ms: nullable(Type.Number()),
          by_day: Type.Array(answer({ day: date, uptime_percent: uptime }), {
            description: 'Os dias de Brasília com chamadas, do mais antigo ao mais novo.',
          }),
        }),
      ),
    }),
    async handle({ query, reply }, deps: Deps) {
      const { days = DAYS_DEFAULT } = query
      const vendors = await deps.healthSummaries.find(days)
      reply.header('cache-control', `public, max-age=${SUMMARY_AGE_SECONDS_MAX}`)
      return { days, providers: vendors.map(providerBody) }
    },
  }),
]

function providerBody(health: VendorHealth) {
  return {
    provider: health.vendor,
    requests: health.requests,
    uptime_percent: health.uptimePercent,
    p50_ms: health.p50Ms,
    p95_ms: health.p95Ms,
    by_day: health.byDay.map(({ day, uptimePercent }) => ({ day, uptime_percent: uptimePercent })),
  }
}
