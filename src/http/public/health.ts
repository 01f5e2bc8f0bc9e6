import type { FastifyInstance } from 'fastify'
import { sql } from 'kysely'
import type { HttpDeps } from '../http-deps.ts'
import { sendJson } from '../rest-error.ts'

/** A database that does not answer in this time does not answer. */
const DATABASE_TIMEOUT_MS = 2_000

export function addHealth(server: FastifyInstance, deps: HttpDeps): void {
  server.get('/v1/healthz', (_request, reply) => sendJson(reply, { status: 'ok', mode: deps.mode }))

  server.get('/v1/healthz/db', async (_request, reply) => {
    const startedAtMs = performance.now()
    const ok = await answersInTime(deps)
    const latency_ms = Math.round(performance.now() - startedAtMs)
    return sendJson(reply, { ok, latency_ms, timestamp: new Date().toISOString() }, ok ? 200 : 503)
  })
}

async function answersInTime(deps: HttpDeps): Promise<boolean> {
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
