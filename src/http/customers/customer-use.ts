/** What a customer's calls came to lately, and which mails they got, on the operators' page of the customer. */
import Type from 'typebox'
import { listLastMails } from '../../customers/notifications.ts'
import { listCalls } from '../../money/usage/list-usage-events.ts'
import { sumRefusals } from '../../money/usage/refusals.ts'
import { toMilliseconds } from '../../platform/db/exact-time.ts'
import type { Database } from '../../platform/db/open.ts'
import { jsonBrl } from '../../platform/lib/money.ts'
import { answer, brl, count, dateTime, nullable, uuid } from '../rest/values.ts'

const CALLS_SHOWN = 20
const MAILS_SHOWN = 20
const REFUSALS_MS = 7 * 86_400_000

export const customerUse = {
  last_calls: Type.Array(
    answer({
      id: uuid,
      request_id: uuid,
      model_id: Type.String(),
      api_key_name: nullable(Type.String()),
      status: Type.Enum(['charged', 'failed']),
      reason: { ...nullable(Type.String()), description: 'Por que falhou, em nossas palavras.' },
      cost_billed_brl: brl,
      duration_ms: nullable(count),
      created_at: dateTime,
    }),
    { description: 'Sem o que foi pedido ou respondido, que não se guarda.' },
  ),
  refusals: Type.Array(
    answer({ code: Type.String(), status: Type.Integer(), refusals: count, last_at: dateTime }),
    { description: 'As chamadas recusadas nos últimos sete dias, por motivo.' },
  ),
  last_mails: Type.Array(
    answer({
      id: uuid,
      template: Type.String(),
      status: Type.Enum(['sent', 'failed', 'waiting']),
      error: nullable(Type.String()),
      at: dateTime,
    }),
  ),
}

export async function customerUseBody(db: Database, customerId: string) {
  const calls = await listCalls(db, { customerId, limit: CALLS_SHOWN }, ['charged', 'released'])
  const now = Date.now()
  const filter = {
    fromAt: new Date(now - REFUSALS_MS).toISOString(),
    untilAt: new Date(now).toISOString(),
  }
  const { reasons } = await sumRefusals(db, customerId, { filter, step: 'day', timezone: 'UTC' })
  const mails = await listLastMails(db, customerId, MAILS_SHOWN)
  return {
    last_calls: calls.map((call) => ({
      id: call.id,
      request_id: call.requestId,
      model_id: call.modelId,
      api_key_name: call.apiKeyName,
      status: call.outcome === 'charged' ? ('charged' as const) : ('failed' as const),
      reason: call.reason,
      cost_billed_brl: jsonBrl(call.costBilledNanoBrl),
      duration_ms: call.durationMs,
      created_at: toMilliseconds(call.createdAt),
    })),
    refusals: reasons.map(({ code, status, refusals, lastAt }) => ({
      code,
      status,
      refusals: Number(refusals),
      last_at: lastAt.toISOString(),
    })),
    last_mails: mails.map(({ at, ...mail }) => ({ ...mail, at: at.toISOString() })),
  }
}
