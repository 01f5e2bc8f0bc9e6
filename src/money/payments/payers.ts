import { sql } from 'kysely'
import { isCustomerDeleted, findCustomer } from '../../customers/customers.ts'
import type { Database } from '../../platform/db/open.ts'
import type { PayerDetails, Processor } from './processor.ts'
import { findProfile } from '../../customers/profiles.ts'
import { claimDue, type ClaimableRows } from '../../platform/db/due-rows.ts'
import { workOff } from '../../platform/db/work-off.ts'
import type { Log } from '../../platform/lib/log.ts'

/**
 * Deletes customers at the payment processor after they deleted their account here. A row of `payer_removals`, written
 * in the transaction of the deletion, waits until the processor confirms, and until no refund to the payer is open.
 */
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

export type EnsuredPayer =
  | { readonly kind: 'payer'; readonly processorCustomerId: string }
  /** The processor refused the customer's data. */
  | { readonly kind: 'refused'; readonly detail: string }
  | { readonly kind: 'unavailable' }

/** Creates the customer at the processor, or updates it there. Throws for an account that is deleted meanwhile. */
export async function ensurePayer(
  db: Database,
  processor: Processor,
  payer: PayerDetails,
): Promise<EnsuredPayer> {
  const customerId = payer.ourId
  const known = await db
    .selectFrom('processor_customers')
    .select('processor_customer_id')
    .where('customer_id', '=', customerId)
    .where('processor', '=', processor.id)
    .executeTakeFirst()
  const outcome = await processor.ensureCustomer(payer, known?.processor_customer_id)
  if (outcome.kind === 'unavailable') return { kind: 'unavailable' }
  if (outcome.kind !== 'customer')
    return { kind: 'refused', detail: hideProcessorName(outcome.detail) }
  const { id } = outcome.customer
  try {
    await sql`
      insert into processor_customers (customer_id, processor, processor_customer_id)
      values (${customerId}, ${processor.id}, ${id})
      on conflict (customer_id, processor) do update set processor_customer_id = excluded.processor_customer_id`.execute(
      db,
    )
  } catch (error) {
    // Deleted while the processor was asked: it has to delete what it has just created, too.
    if (isCustomerDeleted(error))
      await sql`
        insert into payer_removals as r (customer_id, processor) values (${customerId}, ${processor.id})
        on conflict (customer_id, processor) do update set tries = r.tries + 1, due_at = now()`.execute(
        db,
      )
    throw error
  }
  return { kind: 'payer', processorCustomerId: id }
}

/** Makes a text of the processor fit for customers, who must not learn which processor the operator uses. */
export function hideProcessorName(detail: string): string {
  return detail.replaceAll(/asaas/gi, 'processador')
}

type FoundPayer =
  | { readonly kind: 'payer'; readonly payer: PayerDetails }
  | { readonly kind: 'cpf_required' | 'email_required' }

/** Returns the customer's data that the processor receives. */
export async function findPayer(db: Database, customerId: string): Promise<FoundPayer> {
  const profile = await findProfile(db, customerId)
  if (!profile) return { kind: 'cpf_required' }
  const email = (await findCustomer(db, customerId))?.email
  if (!email) return { kind: 'email_required' }
  const payer = {
    ourId: customerId,
    name: profile.full_name,
    taxId: profile.tax_id,
    email,
    phone: profile.phone ?? undefined,
    postalCode: profile.postal_code ?? undefined,
    address: profile.street ?? undefined,
    addressNumber: profile.street_number ?? undefined,
    complement: profile.complement ?? undefined,
    district: profile.district ?? undefined,
  }
  return { kind: 'payer', payer }
}
