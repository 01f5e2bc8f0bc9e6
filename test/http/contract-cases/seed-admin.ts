import type { Database } from '../../../src/db/open.ts'
import { seedCustomer } from '../../harness/test-database.ts'

/** An e-mail of the allowlist of the gateway that the cases call. */
export const ADMIN_EMAIL = 'contrato@admin.example'

/** The key of an admin; created once for each database. */
export async function seedAdmin(db: Database): Promise<string> {
  const known = secrets.get(db)
  if (known !== undefined) return known
  const { customerId, secret } = await seedCustomer(db, { balanceBrl: '0' })
  await db
    .updateTable('customers')
    .set({ email: ADMIN_EMAIL })
    .where('id', '=', customerId)
    .execute()
  secrets.set(db, secret)
  return secret
}

const secrets = new WeakMap<Database, string>()
