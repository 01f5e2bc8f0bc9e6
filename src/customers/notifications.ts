/** The e-mails to a customer, sent or failed. */
import { sql } from 'kysely'
import { exactTime } from '../platform/db/exact-time.ts'
import type { Database } from '../platform/db/open.ts'

export interface Notification {
  readonly id: string
  readonly template: string
  readonly status: 'sent' | 'failed'
  /** Why it failed. */
  readonly error: string | null
  readonly sentAt: Date
  /** To the microsecond. */
  readonly exactSentAt: string
}

/** Returns notifications, the newest first, starting after the position `after`. */
export async function listNotifications(
  db: Database,
  customerId: string,
  { after, limit }: { after: { at: string; id: string } | undefined; limit: number },
): Promise<Notification[]> {
  let query = db
    .selectFrom('notifications')
    .selectAll()
    .select(exactTime('sent_at').as('exact_sent_at'))
    .where('customer_id', '=', customerId)
    .orderBy('sent_at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit)
  if (after)
    query = query.where(sql<boolean>`(sent_at, id) < (${after.at}::timestamptz, ${after.id}::uuid)`)
  const rows = await query.execute()
  return rows.map((row) => ({
    id: row.id,
    template: row.template,
    status: row.status,
    error: row.error,
    sentAt: row.sent_at,
    exactSentAt: row.exact_sent_at,
  }))
}

export async function countNotifications(
  db: Database,
  customerId: string,
): Promise<{ total: number; failed: number }> {
  const { rows } = await sql<{ total: bigint; failed: bigint }>`
    select count(*) as total, count(*) filter (where status = 'failed') as failed
    from notifications where customer_id = ${customerId}`.execute(db)
  const [counts] = rows
  return { total: Number(counts?.total), failed: Number(counts?.failed) }
}
