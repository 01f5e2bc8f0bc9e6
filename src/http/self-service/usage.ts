import type { FastifyInstance } from 'fastify'
import Type from 'typebox'
import { findAccount } from '../../ledger/entries.ts'
import { jsonBrl, jsonE4, jsonUsd } from '../../lib/money.ts'
import { listUsageEvents, type UsageEvent } from '../../usage/list-usage-events.ts'
import { answer, brl, count, date, dateTime, nullable, usd, uuid } from '../contract/values.ts'
import type { HttpDeps } from '../http-deps.ts'
import { addRestRoute } from '../rest-route.ts'

/** The newest charges that `GET /usage` shows; exports have them all. */
const EVENTS_MAX = 100

const usageEvent = answer({
  id: uuid,
  request_id: uuid,
  model_id: Type.String(),
  api_key_id: nullable(uuid),
  session_id: nullable(Type.String()),
  prompt_tokens: nullable(count),
  completion_tokens: nullable(count),
  units: nullable(Type.Record(Type.String(), count)),
  usage_kind: Type.Enum(['exact', 'estimated', 'none']),
  cost_billed_brl: brl,
  cost_upstream_usd: usd,
  fx_rate: Type.Number(),
  fx_rate_date: date,
  fx_rate_source: Type.String(),
  markup_multiplier: Type.Number(),
  created_at: dateTime,
})

export function addUsage(server: FastifyInstance, deps: HttpDeps): void {
  addRestRoute(server, deps, {
    method: 'GET',
    path: '/usage',
    tag: 'Uso',
    summary: 'O saldo e as cobranças mais novas',
    access: 'customer',
    answer: answer({
      balance: answer({ balance_brl: brl, total_topped_up_brl: brl, total_spent_brl: brl }),
      usage_events: Type.Array(usageEvent),
    }),
    async handle({ caller }) {
      const account = await findAccount(deps.db, caller.customerId)
      const events = await listUsageEvents(deps.db, caller.customerId, EVENTS_MAX)
      return {
        balance: {
          balance_brl: jsonBrl(account?.balanceNanoBrl ?? 0n),
          total_topped_up_brl: jsonBrl(account?.creditedNanoBrl ?? 0n),
          total_spent_brl: jsonBrl(account?.chargedNanoBrl ?? 0n),
        },
        usage_events: events.map(usageEventBody),
      }
    },
  })
}

function usageEventBody(event: UsageEvent): object {
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
