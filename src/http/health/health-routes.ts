import { sql } from 'kysely'
import Type from 'typebox'
import { answer, count, dateTime } from '../rest/values.ts'
import type { HealthDeps } from './health-deps.ts'
import { sendJson } from '../rest/rest-error.ts'
import { restRoute } from '../rest/rest-route.ts'

/** A database that does not answer in this time counts as unavailable. */
const DATABASE_TIMEOUT_MS = 2_000

const databaseHealth = answer({ ok: Type.Boolean(), latency_ms: count, timestamp: dateTime })

export const healthRoutes = [
  restRoute({
    method: 'GET',
    path: '/healthz',
    tag: 'Estado',
    summary: 'Se o serviço está no ar',
    access: 'public',
    answer: answer({ status: Type.Literal('ok'), mode: Type.Enum(['sandbox', 'live']) }),
    handle: (_call, deps: HealthDeps) => ({ status: 'ok' as const, mode: deps.mode }),
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
    async handle({ reply }, deps: HealthDeps) {
      const startedAtMs = performance.now()
      const ok = await answersInTime(deps)
      const latency_ms = Math.round(performance.now() - startedAtMs)
      const body = { ok, latency_ms, timestamp: new Date().toISOString() }
      return sendJson(reply, body, ok ? 200 : 503)
    },
  }),
]

/** Anybody may ask, so concurrent requests share one query. */
const running = new WeakMap<HealthDeps, Promise<boolean>>()

function answersInTime(deps: HealthDeps): Promise<boolean> {
  const shared = running.get(deps)
  if (shared) return shared
  const answer = askDatabase(deps).finally(() => running.delete(deps))
  running.set(deps, answer)
  return answer
}

async function askDatabase(deps: HealthDeps): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined
  const timeout = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), DATABASE_TIMEOUT_MS)
  })
  const answer = sql`select 1`.execute(deps.db).then(
    () => true,
    () => false,
  )
  try {
    return await Promise.race([answer, timeout])
  } finally {
    clearTimeout(timer)
  }
}
