/** Payers and cards for tests of card payments. The numbers are Asaas's published ones for tests. */
import { saveProfile } from '../../src/customers/profiles.ts'
import type { Database } from '../../src/db/open.ts'
import { seedCustomer } from '../harness/test-database.ts'

export const APPROVED = '5162306219378829'
/** Refused when it is to be kept. */
export const DECLINED = '5184019740373151'
/** Kept, and refused when it is charged. */
export const DECLINED_LATER = '4000000000000002'

export const HOLDER = {
  name: 'Marília Souza',
  email: 'marilia@example.com',
  cpf_cnpj: '529.982.247-25',
  postal_code: '01310-100',
  address_number: '1578',
  phone: '(11) 98765-4321',
}

export function cardBody(number: string, more: object = {}): object {
  return {
    card: {
      holder_name: 'MARILIA SOUZA',
      number,
      expiry_month: '12',
      expiry_year: '2099',
      ccv: '318',
      ...more,
    },
    holder: HOLDER,
  }
}

export interface Payer {
  readonly customerId: string
  readonly secret: string
}

/** A customer with an e-mail and a profile, and nothing to spend. */
export async function seedPayer(db: Database): Promise<Payer> {
  const { customerId, secret } = await seedCustomer(db, { balanceBrl: '0' })
  await db
    .updateTable('customers')
    .set({ email: `${customerId}@example.com` })
    .where('id', '=', customerId)
    .execute()
  await saveProfile(db, customerId, { full_name: 'Marília <Souza>', tax_id: '52998224725' })
  return { customerId, secret }
}
