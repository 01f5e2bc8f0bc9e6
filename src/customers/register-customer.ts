import { audited, type Actor } from '../platform/audit-log/audited.ts'
import type { Database } from '../platform/db/open.ts'
import { createCustomer, type Customer } from './customers.ts'
import { refer } from './referrals.ts'

export type Registered =
  | { readonly kind: 'registered'; readonly customer: Customer }
  | { readonly kind: 'email_taken' }
  | { readonly kind: 'code_not_found' }

/**
 * Creates a customer with an empty account; creates none if the referral code is unknown. It must not run inside a
 * transaction of the caller.
 */
export function registerCustomer(
  db: Database,
  actor: Actor,
  input: { name: string; email?: string | undefined; referralCode?: string | undefined },
): Promise<Registered> {
  const { referralCode: code } = input
  return audited(db, actor, async (trx, record, undo): Promise<Registered> => {
    const customer = await createCustomer(trx, input)
    if ('kind' in customer) return customer
    const customerId = customer.id
    await record({ action: 'customer.created', customerId, subjectId: customerId })
    if (code === undefined) return { kind: 'registered', customer }
    const referred = await refer(trx, { customerId, code })
    if (referred.kind !== 'recorded') return undo({ kind: 'code_not_found' })
    await record({ action: 'referral.recorded', customerId, subjectId: referred.referrerId })
    return { kind: 'registered', customer }
  })
}
