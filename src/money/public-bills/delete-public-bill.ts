import { audited, type Actor } from '../../platform/audit-log/audited.ts'
import type { Database } from '../../platform/db/open.ts'
import { isUuid } from '../../platform/lib/ids.ts'
import { toPublicBill, type PublicBill } from './public-bill.ts'

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
