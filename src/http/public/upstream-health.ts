import type { FastifyInstance } from 'fastify'
import { summarizeHealth, type VendorHealth } from '../../health/summarize-health.ts'
import type { HttpDeps } from '../http-deps.ts'
import { restError, sendJson } from '../rest-error.ts'

const DAYS_DEFAULT = 30
const DAYS_MAX = 90
/** As long as clients may keep an answer, it is the answer for all of them. */
const MAX_AGE_SECONDS = 30

/** Uptime and latency by the maker of the models; the upstreams behind them are never named. */
export function addUpstreamHealth(server: FastifyInstance, deps: HttpDeps): void {
  const summaries = createSummaries((days) => summarizeHealth(deps.db, days))
  server.get<{ Querystring: { days?: unknown } }>('/v1/upstream-health', async (request, reply) => {
    const days = parseDays(request.query.days)
    if (days === undefined) {
      return restError(
        reply,
        400,
        'invalid_request',
        `days: must be a whole number from 1 to ${DAYS_MAX}`,
      )
    }
    const vendors = await summaries.find(days)
    reply.header('cache-control', `public, max-age=${MAX_AGE_SECONDS}`)
    return sendJson(reply, { days, providers: vendors.map(providerBody) })
  })
}

function parseDays(value: unknown): number | undefined {
  if (value === undefined) return DAYS_DEFAULT
  if (typeof value !== 'string' || !/^[1-9]\d?$/.test(value)) return undefined
  const days = Number(value)
  return days <= DAYS_MAX ? days : undefined
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
