/**
 * Refunds of top-ups at a customer's request. The request debits the amount (`request-refund.ts`), and a background job
 * returns it through the payments that it came from (`process-refunds.ts`). A part that cannot be returned is credited
 * to the balance again (`settle-parts.ts`).
 */
import { type Selectable } from 'kysely'
import { exactTime, isBefore } from '../../../platform/db/exact-time.ts'
import type { Database } from '../../../platform/db/open.ts'
import type { Tables } from '../../../platform/db/tables.ts'
import { isUuid } from '../../../platform/lib/ids.ts'
import type { NanoBrl } from '../../../platform/lib/money.ts'

export type RefundRow = Selectable<Tables['refunds']>
export type RefundPartRow = Selectable<Tables['refund_parts']>
export type RefundStatus = RefundRow['status']

export interface Refund extends RefundRow {
  /** To the microsecond. */
  readonly exact_created_at: string
  readonly parts: readonly RefundPartRow[]
}

/** Returns the amount that was returned to the payer. */
export function returnedOf({ parts }: Pick<Refund, 'parts'>): NanoBrl {
  return parts
    .filter((part) => part.status === 'done')
    .reduce((sum, part) => sum + part.amount_nano_brl, 0n)
}

export interface RefundFilter {
  readonly customerId?: string | undefined
  readonly status?: RefundStatus | undefined
  readonly after?: { readonly at: string; readonly id: string } | undefined
  readonly limit: number
}

/** Returns refunds, the newest first. */
export async function listRefunds(
  db: Database,
  { customerId, status, after, limit }: RefundFilter,
): Promise<Refund[]> {
  let query = selectRefunds(db).orderBy('created_at', 'desc').orderBy('id', 'desc').limit(limit)
  if (customerId !== undefined) query = query.where('customer_id', '=', customerId)
  if (status !== undefined) query = query.where('status', '=', status)
  if (after) query = query.where(isBefore(after))
  return withParts(db, await query.execute())
}

export async function findRefund(
  db: Database,
  id: string,
  customerId?: string,
): Promise<Refund | undefined> {
  if (!isUuid(id)) return undefined
  let query = selectRefunds(db).where('id', '=', id)
  if (customerId !== undefined) query = query.where('customer_id', '=', customerId)
  return (await withParts(db, await query.execute()))[0]
}

function selectRefunds(db: Database) {
  return db.selectFrom('refunds').selectAll().select(exactTime('created_at').as('exact_created_at'))
}

async function withParts(
  db: Database,
  refunds: readonly Omit<Refund, 'parts'>[],
): Promise<Refund[]> {
  if (refunds.length === 0) return []
  const parts = await db
    .selectFrom('refund_parts')
    .selectAll()
    .where(
      'refund_id',
      'in',
      refunds.map(({ id }) => id),
    )
    .orderBy('top_up_id', 'desc')
    .execute()
  return refunds.map((refund) => ({
    ...refund,
    parts: parts.filter((part) => part.refund_id === refund.id),
  }))
}
