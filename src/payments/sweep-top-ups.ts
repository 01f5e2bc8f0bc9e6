import { sql } from 'kysely'
import type { Database } from '../db/open.ts'
import type { Log } from '../lib/log.ts'
import { failTopUp } from './fail-top-up.ts'
import { learnOfPayment } from './learn-of-payment.ts'
import type { FindPaymentOutcome, Processor } from './processor.ts'

const BATCH_MAX = 50
/** An unpaid one is asked for again after a minute, then after a tenth of its age. */
const WAIT_SECONDS_MIN = 60
/** After this nobody pays it any more; a Pix that comes later still makes an event. */
const AGE_DAYS_MAX = 30
/** A payment whose creation was not answered shows within this time, or was never made. */
const APPEARS_WITHIN_MINUTES = 60

/**
 * Asks the processor for what no event told: events get lost, and so do answers. Nodes may do it at once.
 * Returns how many top-ups were asked for.
 */
export async function sweepTopUps(db: Database, processor: Processor, log: Log): Promise<number> {
  const { rows } = await sql<UnpaidTopUp>`
    update top_ups set checked_at = now()
    where id in (
      select id from top_ups
      where paid_at is null and status in ('pending', 'expired') and processor = ${processor.id}
        and created_at > now() - make_interval(days => ${AGE_DAYS_MAX})
        and checked_at < now() - greatest(make_interval(secs => ${WAIT_SECONDS_MIN}), (now() - created_at) / 10)
      order by checked_at limit ${BATCH_MAX} for update skip locked)
    returning id, processor_payment_id,
      created_at < now() - make_interval(mins => ${APPEARS_WITHIN_MINUTES}) as is_old`.execute(db)
  for (const topUp of rows)
    await sweepOne(db, processor, topUp, log).catch((error: unknown) =>
      log.error('top_up_sweep_failed', { topUpId: topUp.id, error }),
    )
  return rows.length
}

interface UnpaidTopUp {
  id: string
  processor_payment_id: string | null
  is_old: boolean
}

async function sweepOne(
  db: Database,
  processor: Processor,
  topUp: UnpaidTopUp,
  log: Log,
): Promise<void> {
  const { id, processor_payment_id: paymentId } = topUp
  const found: FindPaymentOutcome =
    paymentId === null
      ? await processor.findPaymentByReference(id)
      : await processor.findPayment(paymentId)
  if (found.kind === 'payment') {
    const applied = await learnOfPayment(db, processor, id, found.payment)
    if (applied.kind === 'amount_differs') log.error('top_up_amount_differs', { topUpId: id })
  }
  // It was never made: whoever asked for it was told so, and of a card is told now.
  if (found.kind === 'payment_not_found' && paymentId === null && topUp.is_old)
    await failTopUp(db, id, { isRefused: false })
}
