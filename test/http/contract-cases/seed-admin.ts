import type { TestGateway } from '../../harness/gateway.ts'
import { openOperatorSession } from '../../harness/open-session.ts'
import { seedCustomer } from '../../harness/test-database.ts'

/** On the list of the gateway that the cases are called at. */
export const ADMIN_EMAIL = 'contrato@admin.example'

/** The login session of an admin; made once for a gateway. */
export function seedAdmin(gateway: TestGateway): Promise<string> {
  const known = secrets.get(gateway) ?? makeAdmin(gateway)
  secrets.set(gateway, known)
  return known
}

const secrets = new WeakMap<TestGateway, Promise<string>>()

async function makeAdmin({ database: { db }, node: { dataDir } }: TestGateway): Promise<string> {
  const { customerId } = await seedCustomer(db, { balanceBrl: '0' })
  return openOperatorSession({ db, dataDir }, customerId, ADMIN_EMAIL)
}
