import { ask } from '../../harness/ask.ts'
import type { TestGateway } from '../../harness/gateway.ts'
import { seedCustomer } from '../../harness/test-database.ts'
import type { ContractCases } from './contract-case.ts'

export async function createCases({ database, node }: TestGateway): Promise<ContractCases> {
  const { secret } = await seedCustomer(database.db, { balanceBrl: '10' })
  const call = async (method: string, path: string, body: object): Promise<any> =>
    (await ask(node.baseUrl, path, { secret, method, body })).json
  await call('PUT', '/me/preferences', { stored_responses_days: 1 })
  const { id } = await call('POST', '/responses', { model: 'sandbox-chat', input: 'Olá' })
  const path = `/responses/${id}`
  const items = `${path}/input_items`
  return {
    'GET /responses/{id}': [
      { path, secret },
      { path, status: 404 },
      { path, isAnonymous: true, status: 401 },
    ],
    'GET /responses/{id}/input_items': [
      { path: items, secret },
      { path: `${items}?limit=1&order=asc`, secret },
      { path: `${items}?limit=0`, secret, status: 400 },
      { path: items, status: 404 },
      { path: items, isAnonymous: true, status: 401 },
    ],
    'DELETE /responses/{id}': [
      { path, status: 404 },
      { path, secret },
      { path, secret, status: 404 },
      { path, isAnonymous: true, status: 401 },
    ],
  }
}
