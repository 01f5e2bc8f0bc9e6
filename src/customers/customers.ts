/** Customers and the account each of them has in the ledger. */
import { sql } from 'kysely'
import type { Database } from '../db/open.ts'
import { createId } from '../lib/ids.ts'

export interface Customer {
  readonly id: string
  readonly name: string
  readonly email: string | null
  readonly timezone: string
  readonly createdAt: Date
}

export async function createCustomer(
  db: Database,
  input: { id?: string; name: string; email?: string | undefined },
): Promise<Customer | { kind: 'email_taken' }> {
  const id = input.id ?? createId()
  const { rows } = await sql<{
    id: string
    name: string
    email: string | null
    timezone: string
    created_at: Date
  }>`
    with customer as (
      insert into customers (id, name, email) values (${id}, ${input.name}, ${input.email ?? null})
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

/** By id or by e-mail. */
export async function findCustomer(db: Database, idOrEmail: string): Promise<Customer | undefined> {
  const row = await db
    .selectFrom('customers')
    .selectAll()
    .where(sql<boolean>`id::text = ${idOrEmail} or email = ${idOrEmail}`)
    .executeTakeFirst()
  return row && toCustomer(row)
}

function toCustomer(row: {
  id: string
  name: string
  email: string | null
  timezone: string
  created_at: Date
}): Customer {
  return {
    id: row.id,
    name: row.name,
    email: row.email,
    timezone: row.timezone,
    createdAt: row.created_at,
  }
}
