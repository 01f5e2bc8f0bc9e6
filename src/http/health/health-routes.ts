/** What the service says of itself: to anybody, to balancers and to the operator's Prometheus. */
import Type from 'typebox'
import { answerProbe, PROBE_PATHS } from '../../platform/health/probes.ts'
import { sendJson, restError } from '../rest/rest-refusal.ts'
import { hiddenRoute } from '../rest/route.ts'
import { type Readiness, answersInTime } from '../../platform/health/readiness.ts'
import type { HttpParts } from '../rest/parts.ts'
import { isOperator } from '../rest/is-operator.ts'
import { answer, count, dateTime, date, nullable, wholeNumber } from '../rest/values.ts'
import { restRoute } from '../rest/rest-route.ts'
import {
  SUMMARY_AGE_SECONDS_MAX,
  type VendorHealth,
  type HealthSummaries,
} from '../../platform/health/health-summaries.ts'

interface Deps extends Pick<HttpParts, 'config' | 'db' | 'operatorAccess'> {
  readonly readiness: Readiness
  readonly healthSummaries: HealthSummaries
  readonly metrics: { readonly contentType: string; text(): Promise<string> }
}

const databaseHealth = answer({ ok: Type.Boolean(), latency_ms: count, timestamp: dateTime })

export const healthRoutes = [
  restRoute({
    method: 'GET',
    path: '/healthz',
    tag: 'Estado',
    summary: 'Se o serviço está no ar',
    access: 'public',
    answer: answer({ status: Type.Literal('ok'), mode: Type.Enum(['sandbox', 'live']) }),
    handle: (_call, deps: Deps) => ({ status: 'ok' as const, mode: deps.config.mode }),
  }),

  restRoute({
    method: 'GET',
    path: '/healthz/db',
    tag: 'Estado',
    summary: 'Se o banco de dados responde; 503 se não',
    access: 'public',
    answer: databaseHealth,
    otherAnswers: {
      503: { answer: databaseHealth, description: 'O banco de dados não responde.' },
    },
    async handle({ reply }, deps: Deps) {
      const startedAtMs = performance.now()
      const ok = await answersInTime(deps.db)
      const latency_ms = Math.round(performance.now() - startedAtMs)
      const body = { ok, latency_ms, timestamp: new Date().toISOString() }
      return sendJson(reply, body, ok ? 200 : 503)
    },
  }),
]

/**
 * The routes that answer balancers in front of this port. `PROBE_PORT` answers the same, and also while the server
 * starts.
 */
export const probeRoutes = PROBE_PATHS.map((path) =>
  hiddenRoute({
    method: 'GET',
    url: path,
    access: 'public',
    async handle(_request, reply, { readiness }: Deps) {
      const { status, body } = await answerProbe(path, readiness)
      return sendJson(reply.header('cache-control', 'no-store'), body, status)
    },
  }),
)

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

/** The route of Prometheus metrics, which takes the operator's token. */
export const metricsRoutes = [
  hiddenRoute({
    method: 'GET',
    url: '/metrics',
    access: 'machine',
    async handle(request, reply, deps: Deps) {
      if (!isOperator(request, deps.operatorAccess)) return restError(reply, 403, 'forbidden')
      return reply.type(deps.metrics.contentType).send(await deps.metrics.text())
    },
  }),
]
