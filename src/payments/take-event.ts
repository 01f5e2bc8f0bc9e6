/**
 * What a processor tells us: stored as it comes, once for each of its events, before it is answered; looked
 * into afterwards. An event is only a hint: what is credited follows from the payment as the processor tells
 * it when asked, and from our own top-up.
 */
import { sql } from 'kysely'
import type { Database } from '../db/open.ts'
import { isUuid } from '../lib/ids.ts'
import type { Log } from '../lib/log.ts'
import { learnOfPayment } from './learn-of-payment.ts'
import type { Processor, ProcessorEvent } from './processor.ts'

/** Returns false for one that was told before. */
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

/** Looks into the events that wait; nodes may do it at once. Returns how many were handled. */
export async function handleEvents(db: Database, processor: Processor, log: Log): Promise<number> {
  const { rows } = await sql<WaitingEvent>`
    update processor_events set tries = tries + 1,
      due_at = now() + make_interval(mins => least(tries + 1, ${WAIT_MINUTES_MAX}))
    where (processor, event_id) in (
      select processor, event_id from processor_events
      where handled_at is null and due_at <= now() and processor = ${processor.id}
      order by due_at limit ${BATCH_MAX} for update skip locked)
    returning event_id, type, processor_payment_id, reference`.execute(db)
  for (const event of rows) {
    const outcome = await handleEvent(db, processor, event, log)
    if (outcome === undefined) continue
    await db
      .updateTable('processor_events')
      .set({ handled_at: sql<Date>`now()`, outcome })
      .where('processor', '=', processor.id)
      .where('event_id', '=', event.event_id)
      .execute()
  }
  return rows.length
}

interface WaitingEvent {
  event_id: string
  type: string
  processor_payment_id: string | null
  reference: string | null
}

/** Undefined where it has to wait. */
async function handleEvent(
  db: Database,
  processor: Processor,
  event: WaitingEvent,
  log: Log,
): Promise<string | undefined> {
  const { processor_payment_id: paymentId, event_id: eventId } = event
  if (paymentId === null) return 'no_payment'
  try {
    const found = await processor.findPayment(paymentId)
    if (found.kind === 'unavailable') return undefined
    if (found.kind === 'payment_not_found') return 'payment_not_found'
    const { payment } = found
    // Whose it is, the payment itself says; the event's own claim is nobody's word.
    if (payment.ourId === undefined || !isUuid(payment.ourId)) return 'not_ours'
    const applied = await learnOfPayment(db, processor, payment.ourId, payment)
    if (applied.kind === 'amount_differs')
      log.error('top_up_amount_differs', { topUpId: payment.ourId, eventId, paymentId })
    return applied.kind
  } catch (error) {
    log.error('processor_event_failed', { eventId, error })
    return undefined
  }
}
