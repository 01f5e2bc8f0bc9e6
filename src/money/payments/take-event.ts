/**
 * Events of the payment processor. Each is stored once, before it is acknowledged, and handled afterwards. An
 * event is only a hint: a credit follows from the payment as the processor's API returns it, and from our own
 * top-up.
 */
import { sql } from 'kysely'
import { claimDue, recordClaimed, type ClaimableRows } from '../../platform/db/due-rows.ts'
import type { Database } from '../../platform/db/open.ts'
import { workOff } from '../../platform/db/work-off.ts'
import { isUuid } from '../../platform/lib/ids.ts'
import type { Log } from '../../platform/lib/log.ts'
import { askAt } from './ask-at.ts'
import { recordPayment } from './record-payment.ts'
import type { Processor, ProcessorEvent } from './processor.ts'

/** Returns false for an event that is stored already. */
export async function takeEvent(
  db: Database,
  processorId: string,
  event: ProcessorEvent,
): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await db
    .insertInto('processor_events')
    .values({
      processor: processorId,
      event_id: event.eventId,
      type: event.processorType,
      processor_payment_id: event.paymentId ?? null,
      reference: event.reference ?? null,
    })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst()
  return numInsertedOrUpdatedRows === 1n
}

const BATCH_MAX = 50
const WAIT_MINUTES_MAX = 60
/** A payment may appear late, or be unreadable for a while; after some three days it never will be. */
const UNKNOWN_TRIES_MAX = 100
/** After ten minutes. */
const UNKNOWN_TRIES_ALARM = 5

/** Handles the waiting events; nodes may run it concurrently. Returns the number of claimed events. */
export async function handleEvents(db: Database, processor: Processor, log: Log): Promise<number> {
  const due = dueEventsOf(processor.id)
  return workOff({
    claim: (limit) => claimDue<WaitingEvent>(db, due, limit),
    claimMax: BATCH_MAX,
    atOnce: 1,
    runMax: BATCH_MAX,
    async work(event) {
      const outcome = await handleEvent(db, processor, event, log)
      if (outcome === undefined) return
      await recordClaimed(db, due, event, {
        set: sql`handled_at = now(), outcome = ${outcome}`,
      })
    },
  })
}

/** The claim writes the time of the next try, so an event that must wait, or whose worker dies, is due again then. */
function dueEventsOf(processorId: string): ClaimableRows {
  return {
    table: 'processor_events',
    key: ['processor', 'event_id'],
    isDue: sql`q.handled_at is null and q.due_at <= now() and q.processor = ${processorId}`,
    orderBy: sql`q.due_at`,
    lease: sql`tries = q.tries + 1,
      due_at = now() + make_interval(mins => least(q.tries + 1, ${WAIT_MINUTES_MAX}))`,
  }
}

interface WaitingEvent {
  processor: string
  event_id: string
  tries: number
  type: string
  processor_payment_id: string | null
  reference: string | null
}

/** Returns the outcome, or undefined if the event must be tried again. */
async function handleEvent(
  db: Database,
  processor: Processor,
  event: WaitingEvent,
  log: Log,
): Promise<string | undefined> {
  const { processor_payment_id: paymentId, event_id: eventId } = event
  if (paymentId === null) return 'no_payment'
  try {
    const { outcome: found, askedAt } = await askAt(db, () => processor.findPayment(paymentId))
    if (found.kind === 'unavailable') return undefined
    if (found.kind === 'payment_not_found') {
      const { tries } = event
      if (tries === UNKNOWN_TRIES_ALARM || tries >= UNKNOWN_TRIES_MAX)
        log.error('payment_not_found', { eventId, paymentId, type: event.type, tries })
      return tries < UNKNOWN_TRIES_MAX ? undefined : 'payment_not_found'
    }
    const { payment } = found
    // Never trust the event's reference: the payment itself names its top-up.
    if (payment.ourId === undefined || !isUuid(payment.ourId)) return 'not_ours'
    const applied = await recordPayment(db, processor, payment.ourId, payment, askedAt)
    if (applied.kind === 'amount_differs')
      log.error('top_up_amount_differs', { topUpId: payment.ourId, eventId, paymentId })
    return applied.kind
  } catch (error) {
    log.error('processor_event_failed', { eventId, error })
    return undefined
  }
}
