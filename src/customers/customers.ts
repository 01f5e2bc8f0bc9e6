/** Customers, each with an account in the ledger. */
import { sql } from 'kysely'
import type { Database } from '../platform/db/open.ts'
import { createId, isUuid } from '../platform/lib/ids.ts'
import type { Language } from '../platform/lib/language.ts'

export interface Customer {
  readonly id: string
  readonly name: string
  readonly email: string | null
  readonly timezone: string
  readonly createdAt: Date
  /** When the account was deleted; only the id is left since then. */
  readonly deletedAt: Date | null
}

/** The SQLSTATE that the database raises as well if a row is written for a deleted customer. */
const CUSTOMER_DELETED = 'CU001'

export async function createCustomer(
  db: Database,
  input: { id?: string; name: string; email?: string | undefined; locale?: Language },
): Promise<Customer | { kind: 'email_taken' }> {
  const id = input.id ?? createId()
  const { rows } = await sql<CustomerRow>`
    with customer as (
      insert into customers (id, name, email, preferred_locale)
      values (${id}, ${input.name}, ${input.email ?? null}, ${input.locale ?? 'pt-BR'})
      on conflict do nothing
      returning *
    ), account as (
      insert into accounts (customer_id) select id from customer
    )
    select * from customer`.execute(db)
  const row = rows[0]
  if (!row) return { kind: 'email_taken' }
  return toCustomer(row)
}

export async function listCustomers(db: Database): Promise<Customer[]> {
  const rows = await db.selectFrom('customers').selectAll().orderBy('created_at').execute()
  return rows.map(toCustomer)
}

/** Finds a customer by id or by e-mail, ignoring case. */
export async function findCustomer(db: Database, idOrEmail: string): Promise<Customer | undefined> {
  const row = await db
    .selectFrom('customers')
    .selectAll()
    .where(
      isUuid(idOrEmail)
        ? sql<boolean>`id = ${idOrEmail}`
        : sql<boolean>`lower(email) = lower(${idOrEmail})`,
    )
    .executeTakeFirst()
  return row && toCustomer(row)
}

export async function isDeleted(db: Database, customerId: string): Promise<boolean> {
  return Boolean((await findCustomer(db, customerId))?.deletedAt)
}

/** Locks the customer's row, so that concurrent changes wait. Throws if the customer is deleted. */
export async function lockCustomer(trx: Database, customerId: string): Promise<void> {
  const row = await trx
    .selectFrom('customers')
    .select('deleted_at')
    .where('id', '=', customerId)
    .forNoKeyUpdate()
    .executeTakeFirst()
  if (!row || row.deleted_at)
    throw Object.assign(new Error('the customer is deleted'), { code: CUSTOMER_DELETED })
}

/** Whether the error is that of a write for a customer who is deleted, or was deleted meanwhile. */
export function isCustomerDeleted(error: unknown): boolean {
  return (error as { code?: unknown } | undefined)?.code === CUSTOMER_DELETED
}

interface CustomerRow {
  id: string
  name: string
  email: string | null
  timezone: string
  created_at: Date
  deleted_at: Date | null
}

function toCustomer(row: CustomerRow): Customer {
  return {
    id: row.id,
    name: row.name,
    email: row.email,
    timezone: row.timezone,
    createdAt: row.created_at,
    deletedAt: row.deleted_at,
  }
}

/** Returns the names of customers by id; unknown ids are left out. */
export async function findCustomerNames(
  db: Database,
  ids: readonly (string | null)[],
): Promise<ReadonlyMap<string, string>> {
  const wanted = [...new Set(ids.filter((id) => id !== null))]
  if (wanted.length === 0) return new Map()
  const rows = await db
    .selectFrom('customers')
    .select(['id', 'name'])
    .where('id', 'in', wanted)
    .execute()
  return new Map(rows.map(({ id, name }) => [id, name]))
}

/** An undefined field stays unchanged. */
interface CustomerChange {
  readonly name?: string | undefined
  /** In lower case, and verified; null removes it. */
  readonly email?: string | null | undefined
}

type ChangedCustomer =
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
