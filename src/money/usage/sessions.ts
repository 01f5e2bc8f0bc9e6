/** Usage sessions: the charges of requests with the same session id. Their sums are in `usage_sessions`. */
import { sql } from 'kysely'
import { exactTime } from '../../platform/db/exact-time.ts'
import type { Database } from '../../platform/db/open.ts'
import type { NanoBrl } from '../../platform/lib/money.ts'
import { selectUsageEvents, type UsageEvent } from './usage-event.ts'

export interface UsageSession {
  readonly sessionId: string
  readonly requests: bigint
  readonly promptTokens: bigint
  readonly completionTokens: bigint
  readonly costBilledNanoBrl: NanoBrl
  readonly modelIds: readonly string[]
  /** To the microsecond, see `exactTime`. */
  readonly firstRequestAt: string
  readonly lastRequestAt: string
}

const COLUMNS = sql`
  session_id as "sessionId", requests, prompt_tokens as "promptTokens", completion_tokens as "completionTokens",
  cost_billed_nano_brl as "costBilledNanoBrl", model_ids as "modelIds",
  ${exactTime('first_request_at')} as "firstRequestAt", ${exactTime('last_request_at')} as "lastRequestAt"`

/**
 * Lists sessions whose last request is within the last `days` days of the customer's time zone, the newest last request
 * first. A session with a new request moves to the front.
 */
export async function listSessions(
  db: Database,
  list: {
    customerId: string
    days: number
    limit: number
    before?: { at: string; id: string } | undefined
  },
): Promise<UsageSession[]> {
  const { customerId, days, limit, before } = list
  const { rows } = await sql<UsageSession>`
    select ${COLUMNS} from usage_sessions
    where customer_id = ${customerId}
      and last_request_at >= (select first_day_start(timezone, ${days}) from customers where id = ${customerId})
      ${before ? sql`and (last_request_at, session_id) < (${before.at}::timestamptz, ${before.id})` : sql``}
    order by last_request_at desc, session_id desc limit ${limit}`.execute(db)
  return rows
}

export async function findSession(
  db: Database,
  customerId: string,
  sessionId: string,
): Promise<UsageSession | undefined> {
  const { rows } = await sql<UsageSession>`
    select ${COLUMNS} from usage_sessions
    where customer_id = ${customerId} and session_id = ${sessionId}`.execute(db)
  return rows[0]
}

/** Returns the session's charges, oldest first, starting after the end of the previous page. */
export async function listSessionEvents(
  db: Database,
  customerId: string,
  session: UsageSession,
  page: { limit: number; after?: { at: string; id: string } | undefined },
): Promise<UsageEvent[]> {
  const { limit, after } = page
  const { rows } = await selectUsageEvents(
    sql`
      select * from usage_events
      where customer_id = ${customerId} and session_id = ${session.sessionId} and outcome = 'charged'
        and created_at >= archived_until()
        and created_at >= ${after?.at ?? session.firstRequestAt}::timestamptz
        and created_at <= ${session.lastRequestAt}::timestamptz
        ${after ? sql`and (created_at, id) > (${after.at}::timestamptz, ${after.id}::uuid)` : sql``}
      order by created_at, id limit ${limit}`,
    'asc',
  ).execute(db)
  return rows
}
