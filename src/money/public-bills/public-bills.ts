import { sql, type Selectable } from 'kysely'
import { audited, type Actor } from '../../platform/audit-log/audited.ts'
import { lockCustomer } from '../../customers/customers.ts'
import type { Database } from '../../platform/db/open.ts'
import { createId, randomText, isUuid } from '../../platform/lib/ids.ts'
import { exactTime, isBefore } from '../../platform/db/exact-time.ts'
import type { Tables } from '../../platform/db/tables.ts'

/** The most public bills that one customer may have at a time. */
export const PUBLIC_BILLS_MAX = 1_000
const TOKEN_CHARS = 32

export type PublicBillOf = { readonly usageEventId: string } | { readonly sessionId: string }

type NotCreated = {
  readonly kind: 'usage_event_not_found' | 'session_not_found' | 'too_many_public_bills'
}

/**
 * Returns the link that exists already, if the charge or the session has one. There is no new one for what was archived:
 * its rows leave, but for those that a bill named before, and a bill of the rest of a session would show too little.
 */
export function createPublicBill(
  db: Database,
  actor: Actor,
  customerId: string,
  of: PublicBillOf,
): Promise<PublicBill | NotCreated> {
  return audited(db, actor, async (trx, record) => {
    await lockCustomer(trx, customerId)
    const existing = await trx
      .selectFrom('public_bills')
      .selectAll()
      .where('customer_id', '=', customerId)
      .where((row) =>
        'sessionId' in of
          ? row('session_id', '=', of.sessionId)
          : row('usage_event_id', '=', of.usageEventId),
      )
      .executeTakeFirst()
    if (existing) return toPublicBill(existing)
    const { count } = await trx
      .selectFrom('public_bills')
      .where('customer_id', '=', customerId)
      .select((row) => row.fn.countAll<bigint>().as('count'))
      .executeTakeFirstOrThrow()
    if (count >= PUBLIC_BILLS_MAX) return { kind: 'too_many_public_bills' }
    if (!(await exists(trx, customerId, of)))
      return { kind: 'sessionId' in of ? 'session_not_found' : 'usage_event_not_found' }
    const row = await trx
      .insertInto('public_bills')
      .values({
        id: createId(),
        token: randomText(TOKEN_CHARS),
        customer_id: customerId,
        usage_event_id: 'sessionId' in of ? null : of.usageEventId,
        session_id: 'sessionId' in of ? of.sessionId : null,
      })
      .returningAll()
      .executeTakeFirstOrThrow()
    await record({
      action: 'public_bill.created',
      customerId,
      subjectId: row.id,
      details: { of: row.session_id === null ? 'charge' : 'session' },
    })
    return toPublicBill(row)
  })
}

async function exists(trx: Database, customerId: string, of: PublicBillOf): Promise<boolean> {
  const found =
    'sessionId' in of
      ? await trx
          .selectFrom('usage_sessions')
          .select('session_id')
          .where('customer_id', '=', customerId)
          .where('session_id', '=', of.sessionId)
          .where(
            sql<boolean>`not exists (
              select from archived_sessions a join archived_months m using (month)
              where a.customer_id = ${customerId} and a.session_id = ${of.sessionId} and m.archived_at is not null)`,
          )
          .executeTakeFirst()
      : await trx
          .selectFrom('usage_events')
          .select('id')
          .where('id', '=', of.usageEventId)
          .where('customer_id', '=', customerId)
          .where('outcome', '=', 'charged')
          .where('corrects_id', 'is', null)
          .where(sql<boolean>`settled_at >= archived_until()`)
          .executeTakeFirst()
  return found !== undefined
}

/** Ends a link at once. Undefined if the customer has none with this id. */
export function deletePublicBill(
  db: Database,
  actor: Actor,
  { customerId, id }: { customerId: string; id: string },
): Promise<PublicBill | undefined> {
  return audited(db, actor, async (trx, record) => {
    if (!isUuid(id)) return undefined
    const row = await trx
      .deleteFrom('public_bills')
      .where('customer_id', '=', customerId)
      .where('id', '=', id)
      .returningAll()
      .executeTakeFirst()
    if (!row) return undefined
    await record({ action: 'public_bill.deleted', customerId, subjectId: id })
    return toPublicBill(row)
  })
}

/** Returns the customer's links, newest first. `at`: to the microsecond, for cursors. */
export async function listPublicBills(
  db: Database,
  customerId: string,
  page: { limit: number; before?: { at: string; id: string } | undefined },
): Promise<(PublicBill & { readonly at: string })[]> {
  const { limit, before } = page
  const rows = await db
    .selectFrom('public_bills')
    .selectAll()
    .select(exactTime('created_at').as('at'))
    .where('customer_id', '=', customerId)
    .where(before ? isBefore(before) : sql<boolean>`true`)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit)
    .execute()
  return rows.map((row) => ({ ...toPublicBill(row), at: row.at }))
}

/** A link by which anybody can read a charge or a usage session, until its customer deletes the link. */
export interface PublicBill {
  readonly id: string
  /** Opens the bill without any other proof. */
  readonly token: string
  readonly usageEventId: string | null
  readonly sessionId: string | null
  readonly createdAt: Date
}

function toPublicBill(row: Selectable<Tables['public_bills']>): PublicBill {
  return {
    id: row.id,
    token: row.token,
    usageEventId: row.usage_event_id,
    sessionId: row.session_id,
    createdAt: row.created_at,
  }
}
