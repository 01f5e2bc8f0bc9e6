import type { FastifyInstance } from 'fastify'
import Type from 'typebox'
import { summarizeHealth, type VendorHealth } from '../../health/summarize-health.ts'
import { answer, count, nullable, wholeNumber } from '../rest/values.ts'
import type { HttpDeps } from '../http-deps.ts'
import { addRestRoute } from '../rest/rest-route.ts'

const DAYS_DEFAULT = 30
const DAYS_MAX = 90
/** As long as clients may keep an answer, it is the answer for all of them. */
const MAX_AGE_SECONDS = 30

const days = wholeNumber(1, DAYS_MAX, DAYS_DEFAULT)

/** Uptime and latency by the maker of the models; the upstreams behind them are never named. */
export function addUpstreamHealth(server: FastifyInstance, deps: HttpDeps): void {
  const summaries = createSummaries((days) => summarizeHealth(deps.db, days))
  addRestRoute(server, deps, {
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
          uptime_percent: Type.Number({ minimum: 0, maximum: 100 }),
          p50_ms: nullable(Type.Number()),
          p95_ms: nullable(Type.Number()),
        }),
      ),
    }),
    async handle({ query, reply }) {
      const { days = DAYS_DEFAULT } = query
      const vendors = await summaries.find(days)
      reply.header('cache-control', `public, max-age=${MAX_AGE_SECONDS}`)
      return { days, providers: vendors.map(providerBody) }
    },
  })
}

/** Who needs no key must not keep the database busy: a window is added up once, whoever asks for it. */
function createSummaries(summarize: (days: number) => Promise<VendorHealth[]>): {
  find(days: number): Promise<VendorHealth[]>
} {
  const kept = new Map<number, { untilMs: number; vendors: Promise<VendorHealth[]> }>()
  return {
    find(days) {
      const nowMs = performance.now()
      const found = kept.get(days)
      if (found && nowMs < found.untilMs) return found.vendors
      const vendors = summarize(days)
      const entry = { untilMs: nowMs + MAX_AGE_SECONDS * 1000, vendors }
      kept.set(days, entry)
      vendors.catch(() => {
        if (kept.get(days) === entry) kept.delete(days)
      })
      return vendors
    },
  }
}

function providerBody(health: VendorHealth): unknown {
  return {
    provider: health.vendor,
    requests: health.requests,
    uptime_percent: health.uptimePercent,
    p50_ms: health.p50Ms,
    p95_ms: health.p95Ms,
  }
}
