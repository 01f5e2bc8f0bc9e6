/** The customers who call. Some are there for the whole run, others for the calls that end accounts and keys. */
import { createApiKey } from '../../../src/customers/api-keys.ts'
import { seedCustomer } from '../../harness/test-database.ts'
import { ask, type GatewayUnderTest } from '../gateway-under-test.ts'
import { Pools } from './pools.ts'

export interface Actor {
  readonly email: string
  readonly secret: string
  readonly pools: Pools
  /** The path of a team that nobody deletes, so that there are members and keys to meet. */
  readonly team: string | undefined
}

export async function createActor(
  { database, node }: GatewayUnderTest,
  email: string,
): Promise<Actor> {
  const { db } = database
  const { customerId, key, secret } = await seedCustomer(db, { balanceBrl: '100000', name: 'fuzz' })
  await db.updateTable('customers').set({ email }).where('id', '=', customerId).execute()
  const { json } = await ask(node.baseUrl, '/me/teams', { secret, body: { name: 'De sempre' } })
  return { email, secret, pools: new Pools([key.id, json.id]), team: `/me/teams/${json.id}` }
}

/** With a second key; neither of them is spared. */
export async function createThrowAway(
  { database: { db } }: GatewayUnderTest,
  email: string,
): Promise<Actor> {
  const { customerId, key, secret } = await seedCustomer(db, { balanceBrl: '0' })
  await db.updateTable('customers').set({ email }).where('id', '=', customerId).execute()
  const second = await createApiKey(db, { customerId, name: 'outra', requestsPerMinute: 100 })
  const pools = new Pools()
  for (const { id } of [key, second.key]) pools.add('/api-keys', `/api-keys/${id}`)
  return { email, secret, pools, team: undefined }
}
