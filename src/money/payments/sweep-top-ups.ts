import { sql } from 'kysely'
import { claimDue, type ClaimableRows } from '../../platform/db/due-rows.ts'
import type { Database } from '../../platform/db/open.ts'
import { workOff } from '../../platform/db/work-off.ts'
import type { Log } from '../../platform/lib/log.ts'
import { askAt } from './ask-at.ts'
import { failTopUp } from './fail-top-up.ts'
import { recordPayment } from './record-payment.ts'
import type { Processor } from './processor.ts'

const BATCH_MAX = 50
/**
 * The processor is asked about an unpaid top-up after a minute, then after a tenth of its age; each minute about an open
 * one of a suspended customer, until it is cancelled (`record-payment.ts`).
 */
const WAIT_SECONDS_MIN = 60
/** A paid top-up is asked about after an hour and half of its age, for as long as a cardholder may dispute it. */
const PAID_WAIT_SECONDS_MIN = 3_600
const PAID_AGE_DAYS_MAX = 120
/** An older unpaid top-up is not asked about; a Pix that is paid later still makes an event. */
const AGE_DAYS_MAX = 30
/** A payment whose creation got no answer appears within this time, or was never created. */
const APPEARS_WITHIN_MINUTES = 60

/**
 * Asks the processor for the payments of unpaid top-ups, and of paid ones that may be returned, because events and answers
 * can be lost. Nodes may run it concurrently. Returns the number of top-ups that were checked.
 */
export async function sweepTopUps(db: Database, processor: Processor, log: Log): Promise<number> {
  const unpaid = await sweep(db, processor, unpaidAt(processor.id), log)
  return unpaid + (await sweep(db, processor, paidAt(processor.id), log))
}

function sweep(db: Database, processor: Processor, due: ClaimableRows, log: Log): Promise<number> {
  return workOff({
    claim: (limit) => claimDue<DueTopUp>(db, due, limit),
    work: (topUp) => sweepOne(db, processor, topUp, log),
    onFailure: ({ id }, error) => log.error('top_up_sweep_failed', { topUpId: id, error }),
    claimMax: BATCH_MAX,
    atOnce: 1,
    runMax: BATCH_MAX,
  })
}

/** The lease doubles as the wait until the next check. */
function unpaidAt(processorId: string): ClaimableRows {
  return {
    table: 'top_ups',
    key: ['id'],
    join: sql`join customers c on c.id = q.customer_id`,
    isDue: sql`q.paid_at is null and q.status in ('pending', 'expired') and q.processor = ${processorId}
      and q.created_at > now() - make_interval(days => ${AGE_DAYS_MAX})
      and q.checked_at < now() - greatest(make_interval(secs => ${WAIT_SECONDS_MIN}),
        case when c.suspended_at is null or q.status <> 'pending' then (now() - q.created_at) / 10 end)`,
    orderBy: sql`q.checked_at`,
    lease: sql`checked_at = now()`,
    columns: COLUMNS,
  }
}

/** Selects paid top-ups to check. Their `checked_at` is the time from which the hour until the next check counts. */
function paidAt(processorId: string): ClaimableRows {
  return {
    table: 'top_ups',
    key: ['id'],
    isDue: sql`q.paid_at is not null and q.status in ('paid', 'refund_pending', 'partially_refunded')
      and q.processor = ${processorId} and q.paid_at > now() - make_interval(days => ${PAID_AGE_DAYS_MAX})
      and q.checked_at < now() - make_interval(secs => ${PAID_WAIT_SECONDS_MIN})`,
    orderBy: sql`q.checked_at`,
    lease: sql`checked_at = now() + (now() - q.paid_at) / 2`,
    columns: COLUMNS,
  }
}

const COLUMNS = sql`q.id, q.processor_payment_id, q.paid_at is not null as is_paid,
  q.created_at < now() - make_interval(mins => ${APPEARS_WITHIN_MINUTES}) as is_old`

interface DueTopUp {
  id: string
  processor_payment_id: string | null
  is_paid: boolean
  is_old: boolean
}

async function sweepOne(
  db: Database,
  processor: Processor,
  topUp: DueTopUp,
  log: Log,
): Promise<void> {
  const { id, processor_payment_id: paymentId } = topUp
  const { outcome: found, askedAt } = await askAt(db, () =>
    paymentId === null ? processor.findPaymentByReference(id) : processor.findPayment(paymentId),
  )
  if (found.kind === 'payment') {
    const applied = await recordPayment(db, processor, id, found.payment, askedAt)
    if (applied.kind === 'amount_differs') log.error('top_up_amount_differs', { topUpId: id })
  }
  if (found.kind !== 'payment_not_found') return
  if (topUp.is_paid) log.error('payment_not_found', { topUpId: id, paymentId })
  // The payment was never created. The customer saw an error then; for a card, an event follows now.
  else if (paymentId === null && topUp.is_old)
    await failTopUp(db, id, { isRefused: false, askedAt })
}
