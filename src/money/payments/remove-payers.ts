/**
 * Deletes customers at the payment processor after they deleted their account here. A row of `payer_removals`, written
 * in the transaction of the deletion, waits until the processor confirms, and until no refund to the payer is open.
 */
import { sql } from 'kysely'
import { claimDue, type ClaimableRows } from '../../platform/db/due-rows.ts'
import type { Database } from '../../platform/db/open.ts'
import { workOff } from '../../platform/db/work-off.ts'
import type { Log } from '../../platform/lib/log.ts'
import type { Processor } from './processor.ts'

const LEASE_SECONDS = 120
const WAIT_MINUTES_MAX = 24 * 60
const BATCH_MAX = 100

interface DueRemoval {
  readonly customer_id: string
  readonly tries: number
}

/** Removes customers at the processor. Repeating a removal changes nothing there. */
export function removePayers(db: Database, processor: Processor, log: Log): Promise<unknown> {
  return workOff({
    claim: (limit) => claimDue<DueRemoval>(db, dueAt(processor.id), limit),
    work: (due) => remove(db, processor, due, log),
    onFailure: ({ customer_id: customerId }, error) =>
      log.error('payer_not_removed', { customerId, error }),
    claimMax: 1,
    atOnce: 1,
    runMax: BATCH_MAX,
  })
}

function dueAt(processorId: string): ClaimableRows {
  return {
    table: 'payer_removals',
    key: ['customer_id', 'processor'],
    isDue: sql`q.processor = ${processorId} and q.due_at <= now() and not exists (
      select 1 from refunds r where r.customer_id = q.customer_id and r.status in ('requested', 'approved', 'processing'))`,
    orderBy: sql`q.due_at`,
    lease: sql`tries = q.tries + 1,
      due_at = now() + greatest(make_interval(secs => ${LEASE_SECONDS}),
        make_interval(mins => least((2 ^ least(q.tries, 20))::int4, ${WAIT_MINUTES_MAX})))`,
  }
}

async function remove(
  db: Database,
  processor: Processor,
  { customer_id: customerId, tries }: DueRemoval,
  log: Log,
): Promise<void> {
  const outcome = await processor.removeCustomer(customerId)
  if (outcome.kind === 'removed')
    return void (await sql`
      delete from payer_removals where customer_id = ${customerId} and processor = ${processor.id}`.execute(
      db,
    ))
  // The row stays, and is due again.
  const facts = { customerId, tries, detail: outcome.detail }
  if (outcome.kind === 'refused') log.error('payer_not_removed', facts)
  else log.warn('payer_not_removed', facts)
}
