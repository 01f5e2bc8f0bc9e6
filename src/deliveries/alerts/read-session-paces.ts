/**
 * The spending of the last day's usage sessions in the last 60 minutes, and the usual spending of their account's
 * sessions. An older session is no single task; only its key is checked.
 */
import { sql } from 'kysely'
import type { Database } from '../../platform/db/open.ts'
import type { NanoBrl } from '../../platform/lib/money.ts'
import {
  customersOfUsedKeys,
  toSpendingKey,
  USED_WITHIN_SECONDS,
  type SpendingKey,
  type SpendingRow,
} from './read-key-paces.ts'
import type { SpendingWindows } from './spending-windows.ts'

/** The key that spent the most in the session. */
export interface SpendingSession extends SpendingKey {
  readonly sessionId: string
}

/** Of the newest ended sessions of an account. */
const SESSIONS_READ_MAX = 5_000

/** The sessions that spent at least the floor of their account. */
export async function listSpendingSessions(
  db: Database,
  { now }: SpendingWindows,
): Promise<SpendingSession[]> {
  const { rows } = await sql<SpendingRow & { readonly session_id: string }>`
    with active as (${customersOfUsedKeys(now)}), found as (
      select s.customer_id, s.session_id, c.anomaly_factor as factor, c.anomaly_floor_nano_brl as floor
      from active a
      join customers c on c.id = a.customer_id and c.anomaly_factor is not null and c.deleted_at is null
      join usage_sessions s on s.customer_id = a.customer_id
        and s.last_request_at >= ${now}::timestamptz - make_interval(secs => ${USED_WITHIN_SECONDS})
        and s.first_request_at >= ${now}::timestamptz - interval '1 day'
        and s.cost_billed_nano_brl >= c.anomaly_floor_nano_brl
    )
    select f.*, e.spent, e.api_key_id from found f
    cross join lateral (
      select (sum(sum(cost_billed_nano_brl)) over ())::int8 as spent, api_key_id
      from usage_events
      where customer_id = f.customer_id and session_id = f.session_id
        and created_at >= ${now}::timestamptz - interval '1 hour'
      group by api_key_id order by sum(cost_billed_nano_brl) desc, api_key_id limit 1
    ) e
    join api_keys k on k.id = e.api_key_id and k.paused_at is null and k.revoked_at is null
    where e.spent >= f.floor`.execute(db)
  return rows.map((row) => ({ ...toSpendingKey(row), sessionId: row.session_id }))
}

/** The dearest hour of an ended session, on the session's average; undefined if there is none to compare with. */
export async function readUsualSessionPace(
  db: Database,
  customerId: string,
  { previousHourAt, usualFrom }: SpendingWindows,
): Promise<NanoBrl | undefined> {
  const { rows } = await sql<{ usual: bigint | null }>`
    select max(cost_billed_nano_brl * 3600
      / greatest(3600, extract(epoch from last_request_at - first_request_at)))::int8 as usual
    from (
      select * from usage_sessions
      where customer_id = ${customerId} and last_request_at >= ${usualFrom}
        and last_request_at < ${previousHourAt}
      order by last_request_at desc limit ${SESSIONS_READ_MAX}
    ) ended`.execute(db)
  return rows[0]?.usual ?? undefined
}
