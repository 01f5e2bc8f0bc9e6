/** The operators' search for customers. */
import { sql, type RawBuilder } from 'kysely'
import { exactTime } from '../platform/db/exact-time.ts'
import type { Database } from '../platform/db/open.ts'
import type { NanoBrl } from '../platform/lib/money.ts'
import { audited, type Actor } from '../platform/audit-log/audited.ts'
import { isUuid } from '../platform/lib/ids.ts'
import { findCustomer, type Customer } from './customers.ts'

export interface FoundCustomer {
  readonly id: string
  readonly name: string
  readonly email: string | null
  readonly balanceNanoBrl: NanoBrl
  readonly createdAt: Date
  /** To the microsecond. */
  readonly exactCreatedAt: string
  readonly deletedAt: Date | null
  /** The last use of any key; may lag by some seconds. */
  readonly lastUsedAt: Date | null
}

export interface CustomerSearch {
  /** A prefix of the name, the e-mail, the id, or the CPF or CNPJ. */
  readonly beginning: string | undefined
  readonly after: { readonly at: string; readonly id: string } | undefined
  readonly limit: number
}

/** Finds customers, deleted ones too; the newest first. */
export async function searchCustomers(
  db: Database,
  { beginning, after, limit }: CustomerSearch,
): Promise<FoundCustomer[]> {
  const conditions = [
    ...(beginning === undefined ? [] : [sql`c.id in (${matching(beginning)})`]),
    ...(after ? [sql`(c.created_at, c.id) < (${after.at}::timestamptz, ${after.id}::uuid)`] : []),
  ]
  const { rows } = await sql<FoundCustomer>`
    select c.id, c.name, c.email, c.created_at as "createdAt", ${exactTime('c.created_at')} as "exactCreatedAt",
      c.deleted_at as "deletedAt",
      a.credited_nano_brl - a.debited_nano_brl - a.charged_nano_brl as "balanceNanoBrl",
      (select max(u.last_used_at) from api_keys k join api_key_uses u on u.api_key_id = k.id
        where k.customer_id = c.id) as "lastUsedAt"
    from customers c join accounts a on a.customer_id = c.id
    where ${conditions.length > 0 ? sql.join(conditions, sql` and `) : sql`true`}
    order by c.created_at desc, c.id desc limit ${limit}`.execute(db)
  return rows
}

/** A union of queries, so that each one uses its index. */
function matching(beginning: string): RawBuilder<unknown> {
  const text = likeBeginning(beginning)
  const taxId = beginning.replaceAll(/[./\-\s]/g, '').toUpperCase()
  const ids = idsBeginningWith(beginning)
  const ways = [
    sql`select id from customers where lower(email) like lower(${text})`,
    sql`select id from customers where lower(name) like lower(${text})`,
    ...(/^[0-9A-Z]{3,14}$/.test(taxId)
      ? [sql`select customer_id from profiles where tax_id like ${likeBeginning(taxId)}`]
      : []),
    ...(ids
      ? [sql`select id from customers where id between ${ids.from}::uuid and ${ids.to}::uuid`]
      : []),
  ]
  return sql.join(ways, sql` union `)
}

function likeBeginning(text: string): string {
  return `${text.replaceAll(/[\\%_]/g, String.raw`\$&`)}%`
}

/** The order of UUIDs is that of their text, so a prefix is a range. */
function idsBeginningWith(text: string): { from: string; to: string } | undefined {
  if (!/^[0-9a-f-]{8,36}$/i.test(text)) return undefined
  const digits = text.replaceAll('-', '').toLowerCase()
  if (digits.length > 32) return undefined
  return { from: digits.padEnd(32, '0'), to: digits.padEnd(32, 'f') }
}

/** Operators' views of customers. Each view is an act: personal data is shown, so it is in the audit log. */

/** Returns up to one customer more than `limit`, which tells whether there is another page; that one is not shown. */
export function viewCustomers(
  db: Database,
  actor: Actor,
  search: CustomerSearch,
): Promise<FoundCustomer[]> {
  const { limit, beginning } = search
  return audited(db, actor, async (trx, record) => {
    const found = await searchCustomers(trx, { ...search, limit: limit + 1 })
    // The search text may be personal data, so it is not recorded.
    const details = { searched: beginning !== undefined, shown: Math.min(found.length, limit) }
    await record({ action: 'customers.listed', customerId: null, subjectId: null, details })
    return found
  })
}

export async function viewCustomer(
  db: Database,
  actor: Actor,
  { id }: { id: string },
): Promise<Customer | undefined> {
  if (!isUuid(id)) return undefined
  return audited(db, actor, async (trx, record) => {
    const found = await findCustomer(trx, id)
    if (found)
      await record({ action: 'customer.viewed', customerId: found.id, subjectId: found.id })
    return found
  })
}
