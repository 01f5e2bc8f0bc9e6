/** The e-mails to a customer: sent, failed, or waiting. */
import { sql } from 'kysely'
import { exactTime, isBefore } from '../platform/db/exact-time.ts'
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
  if (after) query = query.where(isBefore(after, 'sent_at'))
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

export interface LastMail extends Pick<Notification, 'id' | 'template' | 'error'> {
  readonly status: Notification['status'] | 'waiting'
  /** When it was sent, failed, or was queued. */
  readonly at: Date
}

/** Returns the newest mails, those that still wait too; of the ones to others, which the customer caused, none. */
export async function listLastMails(
  db: Database,
  customerId: string,
  limit: number,
): Promise<LastMail[]> {
  const { rows } = await sql<LastMail>`
    (select id, template, status, error, sent_at as at from notifications
      where customer_id = ${customerId} order by sent_at desc, id desc limit ${limit})
    union all
    (select id, template, 'waiting', null, created_at from mails
      where customer_id = ${customerId} and email is null order by created_at desc, id desc limit ${limit})
    order by at desc, id desc limit ${limit}`.execute(db)
  return rows
}
