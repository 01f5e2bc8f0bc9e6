/** What does not arrive, for operators: failed and overdue mails, and webhooks that fail or were switched off for it. */
import { sql, type RawBuilder } from 'kysely'
import { exactTime } from '../platform/db/exact-time.ts'
import type { Database } from '../platform/db/open.ts'

export interface Failing {
  readonly id: string
  readonly customerId: string
  /** When the failures began, or ended, to the microsecond. The newest comes first. */
  readonly exactSince: string
}

export interface FailingPage {
  readonly after: { readonly at: string; readonly id: string } | undefined
  readonly limit: number
}

export interface FailingMail extends Failing {
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
}

/** A mail is sent within seconds, and a gathered one within a minute; later than this it is overdue. */
const WAIT_MINUTES = 10

export async function listFailingMails(db: Database, page: FailingPage): Promise<FailingMail[]> {
  const { limit } = page
  const { rows } = await sql<FailingMail>`
    select t.id, t.customer_id as "customerId", t.template, t.status, coalesce(t.email, c.email) as address,
      t.error, t.tries, t.next_try_at as "nextTryAt", t.since, ${exactTime('t.since')} as "exactSince"
    from (
      (select id, customer_id, template, 'failed' as status, null as email, error, null::int4 as tries,
        null::timestamptz as next_try_at, sent_at as since
      from notifications where status = 'failed' and ${isBehind(page, sql`sent_at`)}
      order by sent_at desc, id desc limit ${limit})
      union all
      (select id, customer_id, template, 'waiting', email, null, tries, due_at, created_at
      from mails where customer_id is not null
        and created_at < now() - make_interval(mins => ${WAIT_MINUTES}) and ${isBehind(page, sql`created_at`)}
      order by created_at desc, id desc limit ${limit})
    ) t join customers c on c.id = t.customer_id
    order by t.since desc, t.id desc limit ${limit}`.execute(db)
  return rows.map((row) => ({ ...row, address: row.address && maskEmail(row.address) }))
}

export interface FailingWebhook extends Failing {
  /** Only the origin of the address, because paths and queries of webhook addresses can hold secrets. */
  readonly origin: string
  readonly disabledAt: Date | null
  readonly disabledReason: 'gone' | 'failing' | null
  readonly failingSince: Date | null
  readonly lastError: string | null
  readonly lastHttpStatus: number | null
  readonly lastFailedAt: Date | null
  readonly queuedCount: number
}

export async function listFailingWebhooks(
  db: Database,
  page: FailingPage,
): Promise<FailingWebhook[]> {
  const since = sql`coalesce(disabled_at, failing_since)`
  const { rows } = await sql<Omit<FailingWebhook, 'origin'> & { readonly url: string }>`
    select e.id, e.customer_id as "customerId", e.url, e.disabled_at as "disabledAt",
      e.disabled_reason as "disabledReason", e.failing_since as "failingSince",
      last.error as "lastError", last.http_status as "lastHttpStatus", last.finished_at as "lastFailedAt",
      (select count(*) from webhook_attempts w where w.endpoint_id = e.id and w.status = 'queued')::int4 as "queuedCount",
      ${exactTime('e.since')} as "exactSince"
    from (
      select *, ${since} as since from webhook_endpoints
      where deleted_at is null and disabled_reason is distinct from 'customer'
        and (disabled_reason in ('gone', 'failing') or failing_since is not null) and ${isBehind(page, since)}
      order by ${since} desc, id desc limit ${page.limit}
    ) e
    left join lateral (
      select w.error, w.http_status, w.finished_at from webhook_attempts w
      where w.endpoint_id = e.id and w.status = 'failed' and w.error is distinct from 'webhook_disabled'
      order by w.created_at desc, w.id desc limit 1
    ) last on true
    order by e.since desc, e.id desc`.execute(db)
  return rows.map(({ url, ...row }) => ({ ...row, origin: new URL(url).origin }))
}

function isBehind({ after }: FailingPage, since: RawBuilder<unknown>): RawBuilder<unknown> {
  return after ? sql`(${since}, id) < (${after.at}::timestamptz, ${after.id}::uuid)` : sql`true`
}

/**
 * Masks an e-mail address: `ana.souza@exemplo.com.br` -> `a***@e***.br`. It is enough for its owner to recognize it,
 * too little to write to.
 */
export function maskEmail(email: string): string {
  const at = email.lastIndexOf('@')
  const local = email.slice(0, at < 0 ? 0 : at)
  const domain = email.slice(at + 1)
  const dot = domain.lastIndexOf('.')
  return `${first(local)}***@${first(domain)}***${dot > 0 ? domain.slice(dot) : ''}`
}

function first(text: string): string {
  return text.match(/^./u)?.[0] ?? ''
}
