import { findCustomer } from '../../customers/customers.ts'
import { findProfile } from '../../customers/profiles.ts'
import type { Database } from '../../platform/db/open.ts'
import type { PayerDetails } from './processor.ts'

export type FoundPayer =
  | { readonly kind: 'payer'; readonly payer: PayerDetails }
  | { readonly kind: 'cpf_required' | 'email_required' }

/** Returns the customer's data that the processor receives. */
export async function findPayer(db: Database, customerId: string): Promise<FoundPayer> {
  const profile = await findProfile(db, customerId)
  if (!profile) return { kind: 'cpf_required' }
  const email = (await findCustomer(db, customerId))?.email
  if (!email) return { kind: 'email_required' }
  const payer = {
    ourId: customerId,
    name: profile.full_name,
    taxId: profile.tax_id,
    email,
    phone: profile.phone ?? undefined,
    postalCode: profile.postal_code ?? undefined,
    address: profile.street ?? undefined,
    addressNumber: profile.street_number ?? undefined,
    complement: profile.complement ?? undefined,
    district: profile.district ?? undefined,
  }
  return { kind: 'payer', payer }
}
