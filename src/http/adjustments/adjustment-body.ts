/** The schema of an adjustment, a credit or debit by hand. */
import Type from 'typebox'
import { findCustomerNames } from '../../customers/customer-names.ts'
import type { Database } from '../../platform/db/open.ts'
import {
  ADJUSTMENT_KINDS,
  ADJUSTMENT_STATUSES,
  type Adjustment,
} from '../../money/ledger/adjustments.ts'
import { jsonBrl } from '../../platform/lib/money.ts'
import type { AnswerOf } from '../rest/answer-of.ts'
import { answer, brl, dateTime, nullable, uuid } from '../rest/values.ts'

const name = nullable(Type.String())

export const adjustmentAnswer = answer({
  id: uuid,
  customer_id: uuid,
  customer_name: name,
  kind: Type.Enum([...ADJUSTMENT_KINDS]),
  amount_brl: brl,
  reason: Type.String(),
  reference: Type.String(),
  status: Type.Enum([...ADJUSTMENT_STATUSES]),
  requested_by: uuid,
  requested_by_name: name,
  decided_by: nullable(uuid),
  decided_by_name: name,
  created_at: dateTime,
  decided_at: nullable(dateTime),
})

export async function adjustmentBodies(
  db: Database,
  adjustments: readonly Adjustment[],
): Promise<AnswerOf<typeof adjustmentAnswer>[]> {
  const ids = adjustments.flatMap((each) => [each.customerId, each.requestedBy, each.decidedBy])
  const names = await findCustomerNames(db, ids)
  const nameOf = (id: string | null): string | null => names.get(id ?? '') ?? null
  return adjustments.map((each) => ({
    id: each.id,
    customer_id: each.customerId,
    customer_name: nameOf(each.customerId),
    kind: each.kind,
    amount_brl: jsonBrl(each.amountNanoBrl),
    reason: each.reason,
    reference: each.reference,
    status: each.status,
    requested_by: each.requestedBy,
    requested_by_name: nameOf(each.requestedBy),
    decided_by: each.decidedBy,
    decided_by_name: nameOf(each.decidedBy),
    created_at: each.createdAt.toISOString(),
    decided_at: each.decidedAt?.toISOString() ?? null,
  }))
}

export async function adjustmentBody(
  db: Database,
  adjustment: Adjustment,
): Promise<AnswerOf<typeof adjustmentAnswer>> {
  const [body] = await adjustmentBodies(db, [adjustment])
  return body as AnswerOf<typeof adjustmentAnswer>
}
