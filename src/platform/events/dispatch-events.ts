import { sql } from 'kysely'
import { lockDue, type DueRows } from '../db/due-rows.ts'
import type { Database } from '../db/open.ts'
import type { Log } from '../lib/log.ts'
import type { CustomerEvent, EventType } from './record-event.ts'

/** Writes the mails or webhooks of an event, in the transaction that marks the event as dispatched. */
export type EventHandler = (trx: Database, event: CustomerEvent) => Promise<void>

const BATCH_MAX = 100
/** After a failure an event waits as many minutes as it has had tries, at most this many. */
const WAIT_MINUTES_MAX = 60

/**
 * Passes waiting events to every handler, each event in a separate transaction: a failing handler delays its event
 * and no other. Nodes may run it concurrently. Returns the number of events that were tried.
 */
export async function dispatchEvents(
  db: Database,
  handlers: readonly EventHandler[],
  log: Log,
): Promise<number> {
  let handed = 0
  for (; handed < BATCH_MAX; handed++) {
    if (!(await dispatchNext(db, handlers, log))) break
  }
  return handed
}

async function dispatchNext(
  db: Database,
  handlers: readonly EventHandler[],
  log: Log,
): Promise<boolean> {
  let eventId: string | undefined
  try {
    return await db.transaction().execute(async (trx) => {
      const row = await lockDue<EventRow>(trx, DUE_EVENTS)
      if (!row) return false
      eventId = row.id
      for (const handle of handlers) await handle(trx, toEvent(row))
      await sql`update events set dispatched_at = now() where id = ${row.id}`.execute(trx)
      return true
    })
  } catch (error) {
    if (eventId === undefined) throw error
    log.error('event_not_dispatched', { eventId, error })
    await sql`
      update events set tries = tries + 1, due_at = now() + make_interval(mins => least(tries + 1, ${WAIT_MINUTES_MAX}))
      where id = ${eventId} and dispatched_at is null`.execute(db)
    return true
  }
}

const DUE_EVENTS: DueRows = {
  table: 'events',
  key: ['id'],
  isDue: sql`q.dispatched_at is null and q.due_at <= now()`,
  orderBy: sql`q.due_at, q.id`,
}

interface EventRow {
  id: string
  customer_id: string
  type: EventType
  data: Readonly<Record<string, unknown>>
  created_at: Date
}

function toEvent(row: EventRow): CustomerEvent {
  return {
    id: row.id,
    customerId: row.customer_id,
    type: row.type,
    data: row.data,
    createdAt: row.created_at,
  }
}
