/** The operators' search for customers. */
import { sql, type RawBuilder } from 'kysely'
import { exactTime, isBefore } from '../platform/db/exact-time.ts'
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
  /** Empty without a search. */
  readonly foundBy: readonly FoundBy[]
}

/** These are the ways in which a customer is found. `words`: by parts of the name or the e-mail. */
export const FOUND_BY = [
  'words',
  'id',
  'tax_id',
  'key',
  'topup',
  'payment',
  'refund',
  'call',
] as const
export type FoundBy = (typeof FOUND_BY)[number]

export interface CustomerSearch {
  /** What the operator was told, in any of the ways of `FOUND_BY`. */
  readonly text: string | undefined
  readonly after: { readonly at: string; readonly id: string } | undefined
  readonly limit: number
}

/** Finds customers, deleted ones too; the newest first. */
export async function searchCustomers(
  db: Database,
  { text, after, limit }: CustomerSearch,
): Promise<FoundCustomer[]> {
  const isAfter = after ? isBefore(after) : sql`true`
  const found = text === undefined ? sql`select null::uuid, null::text where false` : waysOf(text)
  const isFound = text === undefined ? sql`true` : sql`id in (select id from found)`
  // The page is cut before anything is looked up for it: a common name has many matches.
  const { rows } = await sql<FoundCustomer>`
    with found(id, way) as (${found}), page as (
      select * from customers where ${isFound} and ${isAfter}
      order by created_at desc, id desc limit ${limit}
    ), ways as (
      select id, array_agg(distinct way) as ways from found where id in (select id from page) group by id
    )
    select c.id, c.name, c.email, c.created_at as "createdAt", ${exactTime('c.created_at')} as "exactCreatedAt",
      c.deleted_at as "deletedAt", coalesce(w.ways, '{}') as "foundBy",
      a.credited_nano_brl - a.debited_nano_brl - a.charged_nano_brl as "balanceNanoBrl",
      (select max(u.last_used_at) from api_keys k join api_key_uses u on u.api_key_id = k.id
        where k.customer_id = c.id) as "lastUsedAt"
    from page c join accounts a on a.customer_id = c.id left join ways w on w.id = c.id
    order by c.created_at desc, c.id desc`.execute(db)
  return rows
}

/** Each way is bounded: it uses its index, or reads a table of one short row for each customer once. */
function waysOf(text: string): RawBuilder<unknown> {
  const ways = [
    ...waysOfIds(text),
    ...waysOfTaxIds(text),
    ...waysOfKeys(text),
    way('payment', sql`select customer_id from top_ups where processor_payment_id = ${text}`),
    // No name has the form of a whole id.
    ...(isUuid(text) ? [] : [way('words', customersWithWords(text))]),
  ]
  return sql.join(ways, sql` union all `)
}

function way(name: FoundBy, customers: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`select f.id, ${name}::text as way from (${customers}) f(id)`
}

/** The words beyond these are left out: the time grows with each. */
const WORDS_MAX = 8

/** Every word is in the name, the name of the profile or the e-mail, without regard to case and accents. */
function customersWithWords(text: string): RawBuilder<unknown> {
  const patterns = text.split(/\s+/).slice(0, WORDS_MAX).map(patternOf)
  return sql`
    select c.id from customers c left join profiles p on p.customer_id = c.id
    where concat_ws(' ', c.name, c.email, p.full_name) ~ all (${patterns}::text[])`
}

const ACCENTED: Readonly<Record<string, string>> = {
  a: 'áàâãä',
  e: 'éèêë',
  i: 'íìîï',
  o: 'óòôõö',
  u: 'úùûü',
  c: 'ç',
  n: 'ñ',
}

/**
 * A regular expression of letters alone: one with accents is found without them, and the other way round. PostgreSQL
 * takes ten times as long to translate each name instead.
 */
function patternOf(word: string): string {
  return Array.from(word, (character) => {
    if (!/\p{L}/u.test(character)) return character.replace(/[.*+?^${}()|[\]\\]/, String.raw`\$&`)
    const plain = character.normalize('NFD').charAt(0).toLowerCase()
    const alike = `${character}${plain}${ACCENTED[plain] ?? ''}`
    return `[${alike.toLowerCase()}${alike.toUpperCase()}]`
  }).join('')
}

/** A CPF or CNPJ from its beginning, with or without punctuation, also masked as receipts and this API show it. */
function waysOfTaxIds(text: string): RawBuilder<unknown>[] {
  const taxId = text.replaceAll(/[./\-\s]/g, '').toUpperCase()
  if (!/^[0-9A-Z*]{3,14}$/.test(taxId) || !/[^*]{3}/.test(taxId)) return []
  const pattern = `${taxId.replaceAll('*', '_')}%`
  return [way('tax_id', sql`select customer_id from profiles where tax_id like ${pattern}`)]
}

/** The end of a key as it is shown, also behind its beginning: `a1B2`, `…a1B2`, `sk-svc-…a1B2`. */
function waysOfKeys(text: string): RawBuilder<unknown>[] {
  const end = /^(?:sk-\S*|[.…*•]+)?([0-9A-Za-z]{4})$/.exec(text)?.[1]
  if (end === undefined) return []
  return [way('key', sql`select customer_id from api_keys where last_four = ${end}`)]
}

/** The beginning of a customer's id, or any other whole id. */
function waysOfIds(text: string): RawBuilder<unknown>[] {
  const range = idsBeginningWith(text)
  if (!range) return []
  const ids = sql`id between ${range.from}::uuid and ${range.to}::uuid`
  const customers = way('id', sql`select id from customers where ${ids}`)
  if (!isUuid(text)) return [customers]
  return [
    customers,
    way('key', sql`select customer_id from api_keys where id = ${text}::uuid`),
    way('topup', sql`select customer_id from top_ups where id = ${text}::uuid`),
    way('refund', sql`select customer_id from refunds where id = ${text}::uuid`),
    way('call', customersOfCall(text)),
  ]
}

/** How many calls are read for one request, which has no index: the calls pay for every index. */
const CALLS_READ = 100_000
const BEFORE_MS = 60_000
const AFTER_MS = 900_000

/**
 * The id of a charge, or of a request. A request that we named is looked for among the calls that began at the time in
 * its id, and one that the client named also among the newest calls. Calls of archived months are not found.
 */
function customersOfCall(id: string): RawBuilder<unknown> {
  const startedAtMs = Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16)
  const near =
    id[14] === '7'
      ? sql`union all select * from (
          select customer_id, request_id from usage_events
          where id between ${firstIdAt(startedAtMs - BEFORE_MS)}::uuid and ${firstIdAt(startedAtMs + AFTER_MS)}::uuid
          order by id limit ${CALLS_READ}) near`
      : sql``
  return sql`
    select customer_id from usage_events where id = ${id}::uuid
    union all
    select customer_id from (
      select * from (
        select customer_id, request_id from usage_events order by id desc limit ${CALLS_READ}) newest
      ${near}) read
    where request_id = ${id}::uuid`
}

/** Lower than every id of that time (`createId`). */
function firstIdAt(ms: number): string {
  return Math.max(ms, 0).toString(16).padStart(12, '0').padEnd(32, '0').slice(0, 32)
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
  const { limit, text } = search
  return audited(db, actor, async (trx, record) => {
    const found = await searchCustomers(trx, { ...search, limit: limit + 1 })
    // The search text may be personal data, so it is not recorded.
    const details = { searched: text !== undefined, shown: Math.min(found.length, limit) }
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
