/** What operators write about a customer for each other. The customer's copy of the account's data has the texts. */
import { sql } from 'kysely'
import { audited, type Actor } from '../platform/audit-log/audited.ts'
import { exactTime, isBefore } from '../platform/db/exact-time.ts'
import type { Database } from '../platform/db/open.ts'
import { createId, isUuid } from '../platform/lib/ids.ts'

export interface CustomerNote {
  readonly id: string
  readonly note: string
  readonly writtenBy: string
  readonly createdAt: Date
}

/** Returns undefined if the customer does not exist or is deleted. */
export function writeNote(
  db: Database,
  actor: Actor,
  {
    customerId,
    writtenBy,
    note,
  }: { readonly customerId: string; readonly writtenBy: string; readonly note: string },
): Promise<CustomerNote | undefined> {
  return audited(db, actor, async (trx, record) => {
    if (!isUuid(customerId)) return undefined
    // A deletion locks the row for itself: the note is erased with the rest, or not written.
    const { rows } = await sql`
      select 1 from customers where id = ${customerId} and deleted_at is null for key share`.execute(
      trx,
    )
    if (rows.length === 0) return undefined
    const row = await trx
      .insertInto('customer_notes')
      .values({ id: createId(), customer_id: customerId, written_by: writtenBy, note })
      .returning(['id', 'note', 'written_by as writtenBy', 'created_at as createdAt'])
      .executeTakeFirstOrThrow()
    // Without the text, which may name the person: the log outlives it.
    await record({ action: 'customer.noted', customerId, subjectId: row.id })
    return row
  })
}

/** Returns whether the customer had the note. A wrong one is deleted and written anew: no note is changed. */
export function deleteNote(
  db: Database,
  actor: Actor,
  { customerId, id }: { readonly customerId: string; readonly id: string },
): Promise<boolean> {
  return audited(db, actor, async (trx, record) => {
    if (!isUuid(customerId) || !isUuid(id)) return false
    const row = await trx
      .deleteFrom('customer_notes')
      .where('id', '=', id)
      .where('customer_id', '=', customerId)
      .returning('id')
      .executeTakeFirst()
    if (!row) return false
    await record({ action: 'customer.note_deleted', customerId, subjectId: id })
    return true
  })
}

/** Returns the newest first. */
export async function listNotes(
  db: Database,
  page: {
    readonly customerId: string
    readonly after: { readonly at: string; readonly id: string } | undefined
    readonly limit: number
  },
): Promise<(CustomerNote & { readonly exactCreatedAt: string })[]> {
  const { customerId, after, limit } = page
  let query = db
    .selectFrom('customer_notes')
    .select(['id', 'note', 'written_by as writtenBy', 'created_at as createdAt'])
    .select(exactTime('created_at').as('exactCreatedAt'))
    .where('customer_id', '=', customerId)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit)
  if (after) query = query.where(isBefore(after))
  return query.execute()
}
