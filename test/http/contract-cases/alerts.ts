import { createId } from '../../../src/platform/lib/ids.ts'
import { seedCustomer } from '../../harness/test-database.ts'
import { ask } from '../../harness/ask.ts'
import type { TestGateway } from '../../harness/gateway.ts'
import type { ContractCase, ContractCases } from './contract-case.ts'

const ALERT = { name: 'Gasto', kind: 'daily_spend', threshold: 10, channels: ['email'] }

export async function createCases({ database, node, secret }: TestGateway): Promise<ContractCases> {
  const make = async (secret: string) =>
    (await ask(node.baseUrl, '/me/alerts', { secret, body: ALERT })).json.id as string
  const full = await seedCustomer(database.db, { balanceBrl: '0' })
  for (let n = 0; n < 50; n++) await make(full.secret)
  const id = await make(secret)
  const doomed = await make(secret)
  const anonymous: ContractCase = { isAnonymous: true, status: 401 }
  const none = createId()
  const path = `/me/alerts/${id}`
  const strange: ContractCase[] = [
    { path: `/me/alerts/${none}`, status: 404 },
    { path: '/me/alerts/nenhum', status: 404 },
    { path: `/me/alerts/${none}`, ...anonymous },
  ]
  return {
    'GET /me/alerts': [{}, anonymous],
    'POST /me/alerts': [
      { body: ALERT, status: 201 },
      { body: {}, status: 400 },
      { body: { ...ALERT, name: 'a\u0000b' }, status: 400 },
      { body: { ...ALERT, channels: [] }, status: 400 },
      { body: { ...ALERT, kind: 'balance_below', api_key_id: none }, status: 400 },
      { body: { ...ALERT, api_key_id: none }, status: 404 },
      { body: { ...ALERT, team_id: none }, status: 404 },
      { body: ALERT, secret: full.secret, status: 409 },
      { body: ALERT, ...anonymous },
    ],
    'GET /me/alerts/{id}': [{ path }, ...strange],
    'PATCH /me/alerts/{id}': [
      { path, body: { threshold: 12.5, is_enabled: false } },
      { path, body: {} },
      { path, body: { threshold: 0.001 }, status: 400 },
      ...strange.map((given) => ({ ...given, body: {} })),
    ],
    'DELETE /me/alerts/{id}': [
      { path: `/me/alerts/${doomed}` },
      { path: `/me/alerts/${doomed}`, status: 404 },
      ...strange,
    ],
  }
}
