/** The schemas of a refund, for customers and for operators. */
import Type from 'typebox'
import { findCustomerNames } from '../../customers/customers.ts'
import type { Database } from '../../platform/db/open.ts'
import { jsonBrl } from '../../platform/lib/money.ts'
import { returnedOf, type Refund } from '../../money/payments/refunds/refunds.ts'
import type { AnswerOf } from '../rest/answer-of.ts'
import { answer, brl, dateTime, nullable, uuid } from '../rest/values.ts'

export const refundStatus = Type.Enum([
  'requested',
  'approved',
  'processing',
  'done',
  'rejected',
  'failed',
])

const refundFields = {
  id: uuid,
  amount_brl: brl,
  returned_brl: Type.Number({ description: 'BRL que já voltaram a quem pagou.' }),
  kind: Type.Enum(['withdrawal', 'request'], {
    description: '`withdrawal`: desistência, dentro dos 7 dias do CDC (art. 49), sem valor mínimo.',
  }),
  status: refundStatus,
  reason: nullable(Type.String()),
  decision_note: nullable(Type.String()),
  parts: Type.Array(
    answer({
      topup_id: uuid,
      amount_brl: brl,
      status: Type.Enum(['waiting', 'sent', 'done', 'failed', 'taken'], {
        description: '`taken`: voltou por outro caminho, como uma contestação.',
      }),
    }),
  ),
  created_at: dateTime,
  ended_at: nullable(dateTime),
}

export const refundAnswer = answer(refundFields)

export function refundBody(refund: Refund): AnswerOf<typeof refundAnswer> {
  return {
    id: refund.id,
    amount_brl: jsonBrl(refund.amount_nano_brl),
    returned_brl: jsonBrl(returnedOf(refund)),
    kind: refund.kind,
    status: refund.status,
    reason: refund.reason,
    decision_note: refund.decision_note,
    parts: refund.parts.map((part) => ({
      topup_id: part.top_up_id,
      amount_brl: jsonBrl(part.amount_nano_brl),
      status: part.status,
    })),
    created_at: refund.created_at.toISOString(),
    ended_at: refund.ended_at?.toISOString() ?? null,
  }
}

/** The refund with the fields for operators only. */
export const operatedRefundAnswer = answer({
  ...refundFields,
  customer_id: uuid,
  customer_name: nullable(Type.String()),
  manual_parts: Type.Array(answer({ topup_id: uuid, amount_brl: brl }), {
    description: 'O processador não as devolve: transfira, e diga em `/complete`.',
  }),
  errors: Type.Array(Type.String()),
})

export async function operatedRefundBodies(
  db: Database,
  refunds: readonly Refund[],
): Promise<AnswerOf<typeof operatedRefundAnswer>[]> {
  const names = await findCustomerNames(
    db,
    refunds.map((refund) => refund.customer_id),
  )
  return refunds.map((refund) => operatedRefund(refund, names.get(refund.customer_id) ?? null))
}

export async function operatedRefundBody(
  db: Database,
  refund: Refund,
): Promise<AnswerOf<typeof operatedRefundAnswer>> {
  const [body] = await operatedRefundBodies(db, [refund])
  return body as AnswerOf<typeof operatedRefundAnswer>
}

function operatedRefund(
  refund: Refund,
  customerName: string | null,
): AnswerOf<typeof operatedRefundAnswer> {
  return {
    ...refundBody(refund),
    customer_id: refund.customer_id,
    customer_name: customerName,
    manual_parts: refund.parts
      .filter((part) => part.is_manual && part.status === 'waiting')
      .map((part) => ({ topup_id: part.top_up_id, amount_brl: jsonBrl(part.amount_nano_brl) })),
    errors: refund.parts.flatMap(({ error }) => (error === null ? [] : [error])),
  }
}
