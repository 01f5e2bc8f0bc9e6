import { audited, type Actor } from '../audit-log/audited.ts'
import type { Database } from '../db/open.ts'
import { createCustomer, type Customer } from './customers.ts'
import { refer } from './referrals.ts'

export type Registered =
  | { readonly kind: 'registered'; readonly customer: Customer }
  | { readonly kind: 'email_taken' }
  | { readonly kind: 'code_not_found' }

/** Rolls the transaction back: with an unknown code, the customer is not created either. */
class UnknownCode extends Error {}

/** Creates a customer with an empty account. Do not call it in a transaction. */
export async function registerCustomer(
  db: Database,
  actor: Actor,
  input: { name: string; email?: string | undefined; referralCode?: string | undefined },
): Promise<Registered> {
  const { referralCode: code } = input
  try {
    return await audited(db, actor, async (trx, record): Promise<Registered> => {
      const customer = await createCustomer(trx, input)
      if ('kind' in customer) return customer
      const customerId = customer.id
      await record({ action: 'customer.created', customerId, subjectId: customerId })
      if (code === undefined) return { kind: 'registered', customer }
      const referred = await refer(trx, { customerId, code })
      if (referred.kind !== 'recorded') throw new UnknownCode()
      await record({ action: 'referral.recorded', customerId, subjectId: referred.referrerId })
      return { kind: 'registered', customer }
    })
  } catch (error) {
    if (error instanceof UnknownCode) return { kind: 'code_not_found' }
    throw error
  }
}
