import { sql } from 'kysely'
import { exactTime } from '../../platform/db/exact-time.ts'
import type { Database } from '../../platform/db/open.ts'

export interface FailingWebhook {
  readonly id: string
  readonly customerId: string
  /** Only the origin of the address, because paths and queries of webhook addresses can hold secrets. */
  readonly origin: string
  readonly disabledAt: Date | null
  readonly disabledReason: 'gone' | 'failing' | null
  readonly failingSince: Date | null
  readonly lastError: string | null
  readonly lastHttpStatus: number | null
  readonly lastFailedAt: Date | null
  readonly queuedCount: number
  /** When the failures began or the endpoint was disabled, to the microsecond. */
  readonly exactSince: string
}

/** Returns the endpoints that were disabled for failing and those that fail now, the newest failure first. */
export async function listFailingWebhooks(
  db: Database,
  page: {
    readonly after: { readonly at: string; readonly id: string } | undefined
    readonly limit: number
  },
): Promise<FailingWebhook[]> {
  const { after, limit } = page
  const { rows } = await sql<Row>`
    select e.id, e.customer_id as "customerId", e.url, e.disabled_at as "disabledAt",
      e.disabled_reason as "disabledReason", e.failing_since as "failingSince",
      last.error as "lastError", last.http_status as "lastHttpStatus", last.finished_at as "lastFailedAt",
      (select count(*) from webhook_attempts w where w.endpoint_id = e.id and w.status = 'queued')::int4 as "queuedCount",
      ${exactTime('e.since')} as "exactSince"
    from (
      select *, coalesce(disabled_at, failing_since) as since from webhook_endpoints
      where deleted_at is null and disabled_reason is distinct from 'customer'
        and (disabled_reason in ('gone', 'failing') or failing_since is not null)
        ${after ? sql`and (coalesce(disabled_at, failing_since), id) < (${after.at}::timestamptz, ${after.id}::uuid)` : sql``}
      order by coalesce(disabled_at, failing_since) desc, id desc limit ${limit}
    ) e
    left join lateral (
      select w.error, w.http_status, w.finished_at from webhook_attempts w
      where w.endpoint_id = e.id and w.status = 'failed' and w.error is distinct from 'webhook_disabled'
      order by w.created_at desc, w.id desc limit 1
    ) last on true
    order by e.since desc, e.id desc`.execute(db)
  return rows.map(({ url, ...row }) => ({ ...row, origin: new URL(url).origin }))
}

interface Row extends Omit<FailingWebhook, 'origin'> {
  readonly url: string
}
