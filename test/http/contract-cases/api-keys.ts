import { createApiKey } from '../../../src/customers/api-keys.ts'
import { pauseByOperator } from '../../../src/customers/pause-keys.ts'
import { createId } from '../../../src/platform/lib/ids.ts'
import { seedCustomer } from '../../harness/test-database.ts'
import type { TestGateway } from '../../harness/gateway.ts'
import type { ContractCases } from './contract-case.ts'

const SOUND = { name: 'contrato', model_ids: ['sandbox-chat'] }
const FULL = {
  ...SOUND,
  ip_allowlist: ['127.0.0.1', '::1/128', '10.0.0.0/8'],
  requests_per_minute: 10,
  tokens_per_minute: 1000,
  budget: { limit_usd: 12.5, period: 'month' },
  minute_cap_brl: 1.5,
  day_cap_brl: 20,
  task_cap_brl: 3.25,
  calls_at_once: 5,
  expires_at: '2099-12-31T23:59:59-03:00',
}
const UNKNOWN = createId()

export async function createCases({ database, customerId }: TestGateway): Promise<ContractCases> {
  const { db } = database
  const input = { customerId, name: 'contrato', requestsPerMinute: 120 }
  const { key } = await createApiKey(db, input)
  const { key: bulk } = await createApiKey(db, input)
  const other = await seedCustomer(db, { balanceBrl: '0' })
  const { key: stopped } = await createApiKey(db, input)
  await pauseByOperator(db, { keyId: stopped.id })
  const byOperator = `/api-keys/${stopped.id}`
  const panicking = await seedCustomer(db, { balanceBrl: '0' })
  const path = `/api-keys/${key.id}`
  const strange = `/api-keys/${other.key.id}`
  return {
    'GET /api-keys': [
      {},
      { path: '/api-keys?limit=1&status=active' },
      { secret: other.secret },
      { path: '/api-keys?limit=201', status: 400 },
      { path: '/api-keys?cursor=x', status: 400 },
      { isAnonymous: true, status: 401 },
    ],
    'POST /api-keys': [
      { body: SOUND, status: 201 },
      { body: FULL, status: 201 },
      { body: { ...SOUND, name: 'ab' }, status: 400 },
      { body: { ...SOUND, model_ids: ['none'] }, status: 400 },
      { body: { ...SOUND, color: 'red' }, status: 400 },
      { body: SOUND, isAnonymous: true, status: 401 },
    ],
    'GET /api-keys/{id}': [
      { path },
      { path: strange, status: 404 },
      { path, isAnonymous: true, status: 401 },
    ],
    'PATCH /api-keys/{id}': [
      { path, body: { ...FULL, name: 'contrato 2' } },
      { path, body: { budget: null, ip_allowlist: null } },
      { path, body: { shield: { action: 'block', uuids: 'always' } } },
      { path, body: { shield: { action: 'mask' } }, status: 400 },
      { path, body: { requests_per_minute: 0 }, status: 400 },
      { path: strange, body: { name: 'contrato' }, status: 404 },
      { path, body: {}, isAnonymous: true, status: 401 },
    ],
    'POST /api-keys/{id}/pause': [
      { path: `${path}/pause` },
      { path: `${strange}/pause`, status: 404 },
      { path: `${path}/pause`, isAnonymous: true, status: 401 },
    ],
    'POST /api-keys/{id}/resume': [
      { path: `${path}/resume` },
      { path: `${byOperator}/resume`, status: 403 },
      { path: `${strange}/resume`, status: 404 },
      { path: `${path}/resume`, isAnonymous: true, status: 401 },
    ],
    'POST /leaked-keys': [
      { body: { key: 'sk-svc-none' }, isAnonymous: true },
      { body: {}, isAnonymous: true, status: 400 },
    ],
    'POST /me/panic': [
      { body: { confirm: true }, secret: panicking.secret },
      { body: { confirm: true }, isAnonymous: true, status: 401 },
    ],
    'POST /api-keys/bulk-revoke': [
      { body: { ids: [bulk.id] } },
      { body: { all: true }, secret: other.secret },
      { body: {}, status: 400 },
      { body: { ids: [UNKNOWN] } },
      { body: { all: true }, isAnonymous: true, status: 401 },
    ],
    'DELETE /api-keys/{id}': [
      { path },
      { path },
      { path: strange, status: 404 },
      { path: '/api-keys/none', status: 404 },
      { path, isAnonymous: true, status: 401 },
    ],
  }
}
