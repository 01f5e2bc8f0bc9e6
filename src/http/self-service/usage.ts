import type { FastifyInstance } from 'fastify'
import { findAccount } from '../../ledger/entries.ts'
import { jsonBrl, jsonE4, jsonUsd } from '../../lib/money.ts'
import { listUsageEvents, type UsageEvent } from '../../usage/list-usage-events.ts'
import { authenticate } from '../authenticate.ts'
import type { HttpDeps } from '../http-deps.ts'
import { sendJson } from '../rest-error.ts'

/** The newest charges that `GET /usage` shows; exports have them all. */
const EVENTS_MAX = 100

export function addUsage(server: FastifyInstance, deps: HttpDeps): void {
  server.get('/v1/usage', async (request, reply) => {
    const key = await authenticate(deps, request, reply)
    if (!key) return reply
    const account = await findAccount(deps.db, key.customerId)
    const events = await listUsageEvents(deps.db, key.customerId, EVENTS_MAX)
    return sendJson(reply, {
      balance: {
        balance_brl: jsonBrl(account?.balanceNanoBrl ?? 0n),
        total_topped_up_brl: jsonBrl(account?.creditedNanoBrl ?? 0n),
        total_spent_brl: jsonBrl(account?.chargedNanoBrl ?? 0n),
      },
      usage_events: events.map(usageEventBody),
    })
  })
}

function usageEventBody(event: UsageEvent): unknown {
  return {
    id: event.id,
    request_id: event.requestId,
    model_id: event.modelId,
    api_key_id: event.apiKeyId,
    session_id: event.sessionId,
    prompt_tokens: event.promptTokens,
    completion_tokens: event.completionTokens,
    units: event.units,
    usage_kind: event.usageKind,
    cost_billed_brl: jsonBrl(event.costBilledNanoBrl),
    cost_upstream_usd: jsonUsd(event.costUpstreamPicoUsd),
    fx_rate: jsonE4(event.fxRateE4),
    fx_rate_date: event.fxRateDate,
    fx_rate_source: event.fxSource,
    markup_multiplier: jsonE4(event.markupE4),
    created_at: event.createdAt.toISOString(),
  }
}
