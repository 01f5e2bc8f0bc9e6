/** Operators' views of customers. Each view is an act: personal data is shown, so it is in the audit log. */
import { audited, type Actor } from '../platform/audit-log/audited.ts'
import type { Database } from '../platform/db/open.ts'
import { isUuid } from '../platform/lib/ids.ts'
import { findCustomer, type Customer } from './customers.ts'
import { searchCustomers, type CustomerSearch, type FoundCustomer } from './search-customers.ts'

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
