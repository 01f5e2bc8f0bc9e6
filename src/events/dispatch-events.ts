import { sql } from 'kysely'
import type { Database } from '../db/open.ts'
import type { Log } from '../lib/log.ts'
import type { CustomerEvent, EventType } from './record-event.ts'

/** Writes what is to be sent because of an event, in the transaction that marks it as handed on. */
export type EventHandler = (trx: Database, event: CustomerEvent) => Promise<void>

const BATCH_MAX = 100
/** After a failure it waits for as many minutes as it was tried, an hour at most. */
const WAIT_MINUTES_MAX = 60

/**
 * Hands events that wait to every handler, each event in a transaction of its own: a handler that fails
 * keeps back its own event and no other. Nodes may do it at once. Returns how many were handed on.
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
      const { rows } = await sql<EventRow>`
        select id, customer_id, type, data, created_at from events
        where dispatched_at is null and due_at <= now()
        order by due_at, id limit 1 for update skip locked`.execute(trx)
      const [row] = rows
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
