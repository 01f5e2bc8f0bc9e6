import { sql } from 'kysely'
import type { Database } from '../platform/db/open.ts'

/** An undefined field stays unchanged. */
export interface CustomerChange {
  readonly name?: string | undefined
  /** In lower case, and verified; null removes it. */
  readonly email?: string | null | undefined
}

export type ChangedCustomer =
  | { readonly kind: 'changed'; readonly fields: readonly string[] }
  | { readonly kind: 'customer_deleted' }
  /** Another customer has it. Nothing was changed. */
  | { readonly kind: 'email_taken' }

/**
 * Changes a customer. Call it in a transaction. An e-mail that differs from the stored one only in case does not change
 * it. If a concurrent transaction takes the e-mail, the database raises 23505, and the caller must retry the
 * transaction.
 */
export async function changeCustomer(
  trx: Database,
  customerId: string,
  change: CustomerChange,
): Promise<ChangedCustomer> {
  const stored = await trx
    .selectFrom('customers')
    .select(['name', 'email', 'deleted_at'])
    .where('id', '=', customerId)
    .forNoKeyUpdate()
    .executeTakeFirstOrThrow()
  if (stored.deleted_at) return { kind: 'customer_deleted' }
  const name = change.name ?? stored.name
  const isSameEmail =
    change.email === undefined || change.email === (stored.email?.toLowerCase() ?? null)
  const email = isSameEmail ? stored.email : (change.email ?? null)
  if (!isSameEmail && email !== null && (await isTaken(trx, email))) return { kind: 'email_taken' }
  const fields = [
    ...(name === stored.name ? [] : ['name']),
    ...(email === stored.email ? [] : ['email']),
  ]
  if (fields.length > 0)
    await trx.updateTable('customers').set({ name, email }).where('id', '=', customerId).execute()
  return { kind: 'changed', fields }
}

async function isTaken(trx: Database, email: string): Promise<boolean> {
  const { rows } = await sql`select 1 from customers where lower(email) = ${email}`.execute(trx)
  return rows.length > 0
}
