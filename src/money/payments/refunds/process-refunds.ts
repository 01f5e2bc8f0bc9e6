/**
 * Asks the processor to return the parts of approved refunds. The processor has no idempotency keys: the payment
 * is read before each request, and a refund that it lists under our description is not requested again. A lost
 * answer or a dead process costs a wait, never a second refund.
 */
import { sql } from 'kysely'
import { claimDue, recordClaimed, type ClaimableRows } from '../../../platform/db/due-rows.ts'
import type { Database } from '../../../platform/db/open.ts'
import { workOff } from '../../../platform/db/work-off.ts'
import { lockAccount } from '../../ledger/entries.ts'
import type { Log } from '../../../platform/lib/log.ts'
import { applyPayment } from '../apply-payment.ts'
import type { Processor, RefundOutcome } from '../processor.ts'
import { NANO_BRL_PER_CENTAVO } from '../top-ups.ts'
import { isTooLateToSend } from '../is-too-late-to-send.ts'
import { failPart, findPartAt, refundDescription, type OpenPart } from './settle-parts.ts'

const BATCH_MAX = 20
/** A requested part is checked again after this time, because its answer may still arrive. */
const LEASE_SECONDS = 120
/** A part that waits for the processor, or for our balance there, is retried after one minute per earlier try. */
const WAIT_MINUTES_MAX = 60
/** One answer that there is no such payment may be wrong. */
const UNKNOWN_TRIES_MAX = 5

/**
 * Requests the approved refunds from the processor. Nodes may run it concurrently. Returns the number of parts that
 * were processed.
 */
export async function processRefunds(
  db: Database,
  processor: Processor,
  log: Log,
): Promise<number> {
  const due = duePartsAt(processor.id)
  return workOff({
    claim: (limit) => claimDue<DuePart>(db, due, limit),
    work: (part) => processPart(db, processor, part, log),
    onFailure: (part, error) =>
      log.error('refund_failed', { refundId: part.refund_id, topUpId: part.top_up_id, error }),
    // One at a time: while the others of a batch are processed, the lease of a claimed part could expire.
    claimMax: 1,
    atOnce: 1,
    runMax: BATCH_MAX,
  })
}

const PARTS = { table: 'refund_parts', key: ['refund_id', 'top_up_id'] }

function duePartsAt(processorId: string): ClaimableRows {
  return {
    ...PARTS,
    join: sql`join refunds r on r.id = q.refund_id join top_ups t on t.id = q.top_up_id`,
    isDue: sql`q.status in ('waiting', 'sent') and not q.is_manual and q.due_at <= now()
      and r.status in ('approved', 'processing') and t.processor = ${processorId}`,
    orderBy: sql`q.due_at`,
    lease: sql`tries = q.tries + 1,
      due_at = now() + greatest(make_interval(secs => ${LEASE_SECONDS}),
        make_interval(mins => least(q.tries, ${WAIT_MINUTES_MAX})))`,
    columns: sql`q.*, r.customer_id, t.processor_payment_id`,
    columnsFrom: sql`join refunds r on r.id = q.refund_id join top_ups t on t.id = q.top_up_id`,
  }
}

interface DuePart extends OpenPart {
  processor_payment_id: string
}

async function processPart(
  db: Database,
  processor: Processor,
  part: DuePart,
  log: Log,
): Promise<void> {
  const found = await processor.findPayment(part.processor_payment_id)
  if (found.kind === 'unavailable') return
  if (found.kind === 'payment_not_found') return giveToOperator(db, part, log)
  // Settles the part if the processor has.
  await applyPayment(db, part.top_up_id, found.payment)
  if (findPartAt(found.payment, part)) return
  const begunAtMs = Date.now()
  if (!(await startSending(db, part))) return
  // This node was suspended in between, and another one may have asked: the claim decides who asks again.
  if (isTooLateToSend(begunAtMs)) return
  const outcome = await processor.refund({
    paymentId: part.processor_payment_id,
    amountCents: part.amount_nano_brl / NANO_BRL_PER_CENTAVO,
    description: refundDescription(part.refund_id),
  })
  await takeOutcome(db, part, outcome, log)
}

async function takeOutcome(
  db: Database,
  part: DuePart,
  outcome: RefundOutcome,
  log: Log,
): Promise<void> {
  const { refund_id: refundId, top_up_id: topUpId } = part
  if (outcome.kind === 'refund_accepted')
    return void (await applyPayment(db, topUpId, outcome.payment))
  if (outcome.kind === 'payment_not_found') return giveToOperator(db, part, log)
  if (outcome.kind === 'not_refundable') {
    log.warn('refund_not_taken', { refundId, topUpId })
    return failOpenPart(db, part)
  }
  if (outcome.kind === 'insufficient_processor_balance')
    log.error('refund_waits_for_processor_balance', { refundId, topUpId })
  else if (outcome.mayHaveHappened) return
  // The processor has certainly not refunded it, so the part waits as before the request.
  await recordClaimed(db, PARTS, part, {
    set: sql`status = 'waiting', error = ${outcome.detail.slice(0, 500)}`,
    where: sql`q.status = 'sent'`,
  })
}

/**
 * Recorded before the request to the processor, with a whole lease for its answer. False if the part has ended meanwhile,
 * or if another node has claimed it after the lease.
 */
async function startSending(db: Database, part: DuePart): Promise<boolean> {
  return db.transaction().execute(async (trx) => {
    await lockAccount(trx, part.customer_id)
    const isRecorded = await recordClaimed(trx, PARTS, part, {
      set: sql`status = 'sent', error = null,
        due_at = greatest(q.due_at, now() + make_interval(secs => ${LEASE_SECONDS}))`,
      where: sql`q.status in ('waiting', 'sent')`,
    })
    if (!isRecorded) return false
    await sql`
      update refunds set status = 'processing'
      where id = ${part.refund_id} and status = 'approved'`.execute(trx)
    return true
  })
}

/**
 * Fails the part unless another node has claimed it since: the processor may have refused this request because it
 * accepted that node's.
 */
async function failOpenPart(db: Database, part: DuePart): Promise<void> {
  await db.transaction().execute(async (trx) => {
    await lockAccount(trx, part.customer_id)
    const { rows } = await sql<{ status: string }>`
      select status from refund_parts
      where refund_id = ${part.refund_id} and top_up_id = ${part.top_up_id} and tries = ${part.tries}
        and status in ('waiting', 'sent')`.execute(trx)
    if (rows.length > 0) await failPart(trx, part, 'refused by the processor')
  })
}

/** The processor does not know the payment, again and again: an operator has to transfer the money. */
async function giveToOperator(db: Database, part: DuePart, log: Log): Promise<void> {
  if (part.tries < UNKNOWN_TRIES_MAX) return
  log.error('refund_payment_not_found', { refundId: part.refund_id, topUpId: part.top_up_id })
  await recordClaimed(db, PARTS, part, {
    set: sql`is_manual = true, status = 'waiting', error = 'the processor has no such payment'`,
    where: sql`q.status in ('waiting', 'sent')`,
  })
}
