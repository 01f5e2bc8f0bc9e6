/** An operator's decisions on a refund. Each takes effect once. The account is locked first, as in every transaction. */
import { sql } from 'kysely'
import { audited, type Actor } from '../../../platform/audit-log/audited.ts'
import { isOwnAccount } from '../../../platform/audit-log/is-own-account.ts'
import type { Database } from '../../../platform/db/open.ts'
import { lockAccount } from '../../ledger/entries.ts'
import { findRefund, type Refund, type RefundPartRow, type RefundStatus } from './refunds.ts'
import { completePart, failPart } from './settle-parts.ts'

export type Decided =
  | { readonly kind: 'decided'; readonly refund: Refund }
  | { readonly kind: 'refund_not_found' }
  | { readonly kind: 'own_account' }
  /** The refund is past this step. */
  | { readonly kind: 'wrong_status'; readonly status: RefundStatus }

/** Approves a refund; `process-refunds.ts` then requests it from the processor. */
export function approveRefund(
  db: Database,
  actor: Actor,
  { refundId }: { refundId: string },
): Promise<Decided> {
  return decide(db, actor, { refundId, action: 'refund.approved' }, async (trx, refund) => {
    if (refund.status !== 'requested') return false
    await sql`
      update refunds set status = 'approved', decided_at = now() where id = ${refundId}`.execute(
      trx,
    )
    return true
  })
}

/** Rejects a refund and credits its amount to the balance again. The customer reads `note`. */
export function rejectRefund(
  db: Database,
  actor: Actor,
  { refundId, note }: { refundId: string; note: string },
): Promise<Decided> {
  return decide(db, actor, { refundId, action: 'refund.rejected' }, async (trx, refund) => {
    if (refund.status !== 'requested') return false
    await sql`
      update refunds set status = 'rejected', decided_at = now(), decision_note = ${note}
      where id = ${refundId}`.execute(trx)
    for (const part of refund.parts.filter(({ status }) => status === 'waiting'))
      await failPart(trx, openPart(refund, part), 'rejected', 'refund_rejected')
    return true
  })
}

/**
 * Ends the parts that the operator has to transfer by hand: `done` if the money was transferred, `failed` if it could
 * not be; then it is credited to the balance again.
 */
export function endManualParts(
  db: Database,
  actor: Actor,
  { refundId, end }: { refundId: string; end: 'done' | 'failed' },
): Promise<Decided> {
  const action = end === 'done' ? 'refund.transferred' : 'refund.not_transferred'
  return decide(db, actor, { refundId, action }, async (trx, refund) => {
    if (refund.status !== 'approved' && refund.status !== 'processing') return false
    const parts = refund.parts.filter((part) => part.is_manual && part.status === 'waiting')
    for (const part of parts) {
      if (end === 'done') await completePart(trx, openPart(refund, part))
      else await failPart(trx, openPart(refund, part), 'not transferred')
    }
    return parts.length > 0
  })
}

function openPart(refund: Refund, part: RefundPartRow) {
  return { ...part, customer_id: refund.customer_id }
}

/** `act` returns false if the refund is past this step. */
function decide(
  db: Database,
  actor: Actor,
  { refundId, action }: { refundId: string; action: `refund.${string}` },
  act: (trx: Database, refund: Refund) => Promise<boolean>,
): Promise<Decided> {
  return audited(db, actor, async (trx, record) => {
    const known = await findRefund(trx, refundId)
    if (!known) return { kind: 'refund_not_found' }
    const { customer_id: customerId } = known
    if (await isOwnAccount(trx, { operatorId: actor.customerId, customerId }))
      return { kind: 'own_account' }
    await lockAccount(trx, customerId)
    const refund = (await findRefund(trx, refundId)) as Refund
    if (!(await act(trx, refund))) return { kind: 'wrong_status', status: refund.status }
    await record({ action, customerId: refund.customer_id, subjectId: refund.id })
    return { kind: 'decided', refund: (await findRefund(trx, refundId)) as Refund }
  })
}
