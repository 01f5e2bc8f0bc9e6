import { sql } from 'kysely'
import type { Database } from '../../platform/db/open.ts'

/** In place of a text that its row must have. */
const ERASED = 'apagado com a conta'

/**
 * Erases what operators wrote about the customer: such a text may name the person. Amounts, times, ids and references
 * stay, as tax law requires. The customer must be deleted.
 */
export async function eraseOperatorTexts(db: Database, customerId: string): Promise<void> {
  await db
    .updateTable('adjustments')
    .set({ reason: ERASED })
    .where('customer_id', '=', customerId)
    .execute()
  await sql`update refunds set decision_note = null where customer_id = ${customerId}`.execute(db)
  await db
    .updateTable('ledger_entries')
    .set({ note: null })
    .where('customer_id', '=', customerId)
    .where('note', 'is not', null)
    .execute()
  // The audit log has each explanation, between these times.
  await sql`
    with explained as (
      update reconciliation_discrepancies set explanation = ${ERASED}
      where explanation is not null
        and top_up_id in (select id from top_ups where customer_id = ${customerId})
      returning id, first_seen_at, explained_at
    )
    update audit_log a set details = a.details - 'explanation'
    from explained e
    where a.created_at >= e.first_seen_at and a.created_at <= e.explained_at
      and a.action = 'reconciliation_difference.explained' and a.subject_id = e.id::text`.execute(
    db,
  )
}
