import Type from 'typebox'
import { answer, count, dateTime } from '../rest/values.ts'
import { answersInTime } from '../../platform/health/readiness.ts'
import type { HttpParts } from '../rest/parts.ts'
import { sendJson } from '../rest/rest-refusal.ts'
import { restRoute } from '../rest/rest-route.ts'

type Deps = Pick<HttpParts, 'config' | 'db'>

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
