import { sql } from 'kysely'
import { isCustomerDeleted } from '../../customers/customers.ts'
import type { Database } from '../../platform/db/open.ts'
import type { PayerDetails, Processor } from './processor.ts'

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
