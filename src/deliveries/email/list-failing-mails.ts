import { sql } from 'kysely'
import { exactTime } from '../../platform/db/exact-time.ts'
import type { Database } from '../../platform/db/open.ts'
import { maskEmail } from '../../platform/lib/mask-email.ts'

export interface FailingMail {
  readonly id: string
  readonly customerId: string
  readonly template: string
  /** `waiting`: overdue, and tried again. */
  readonly status: 'failed' | 'waiting'
  /** Masked. For a failed mail, the customer's address of today. */
  readonly address: string | null
  readonly error: string | null
  /** Null after the failure. */
  readonly tries: number | null
  readonly nextTryAt: Date | null
  /** When the mail failed, or was queued. */
  readonly since: Date
  readonly exactSince: string
}

/** A mail is sent within seconds, and a gathered one within a minute; later than this it is overdue. */
const WAIT_MINUTES = 10

/** Returns failed and overdue mails, the newest first. */
export async function listFailingMails(
  db: Database,
  page: {
    readonly after: { readonly at: string; readonly id: string } | undefined
    readonly limit: number
  },
): Promise<FailingMail[]> {
  const { after, limit } = page
  const behind = (column: string) =>
    after
      ? sql`and (${sql.ref(column)}, id) < (${after.at}::timestamptz, ${after.id}::uuid)`
      : sql``
  const { rows } = await sql<FailingMail>`
    select t.id, t.customer_id as "customerId", t.template, t.status, coalesce(t.email, c.email) as address,
      t.error, t.tries, t.next_try_at as "nextTryAt", t.since, ${exactTime('t.since')} as "exactSince"
    from (
      (select id, customer_id, template, 'failed' as status, null as email, error, null::int4 as tries,
        null::timestamptz as next_try_at, sent_at as since
      from notifications where status = 'failed' ${behind('sent_at')}
      order by sent_at desc, id desc limit ${limit})
      union all
      (select id, customer_id, template, 'waiting', email, null, tries, due_at, created_at
      from mails where customer_id is not null
        and created_at < now() - make_interval(mins => ${WAIT_MINUTES}) ${behind('created_at')}
      order by created_at desc, id desc limit ${limit})
    ) t join customers c on c.id = t.customer_id
    order by t.since desc, t.id desc limit ${limit}`.execute(db)
  return rows.map((row) => ({ ...row, address: row.address && maskEmail(row.address) }))
}
