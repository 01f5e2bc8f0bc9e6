import { createId } from '../../../src/platform/lib/ids.ts'
import { seedCustomer } from '../../harness/test-database.ts'
import { ask } from '../../harness/ask.ts'
import type { TestGateway } from '../../harness/gateway.ts'
import type { ContractCase, ContractCases } from './contract-case.ts'

const URL = 'https://hooks.example.com/x'

export async function createCases({ database, node, secret }: TestGateway): Promise<ContractCases> {
  const call = async (path: string, options: { secret: string; method?: string; body?: object }) =>
    (await ask(node.baseUrl, path, options)).json
  const full = await seedCustomer(database.db, { balanceBrl: '0' })
  for (let n = 0; n < 20; n++) await call('/webhooks', { secret: full.secret, body: { url: URL } })
  const { id } = await call('/webhooks', {
    secret,
    body: { url: URL, description: 'Pedidos', event_types: ['topup.paid'] },
  })
  const off = await call('/webhooks', { secret, body: { url: URL } })
  const attempt = await call(`/webhooks/${id}/test`, { secret, method: 'POST' })
  const unsent = await call(`/webhooks/${off.id}/test`, { secret, method: 'POST' })
  await call(`/webhooks/${off.id}`, { secret, method: 'PATCH', body: { is_enabled: false } })
  const doomed = await call('/webhooks', { secret, body: { url: URL } })
  const anonymous: ContractCase = { isAnonymous: true, status: 401 }
  const none = createId()
  const ofWebhook = (rest: string): ContractCase[] => [
    { path: `/webhooks/${none}${rest}`, status: 404 },
    { path: `/webhooks/nenhum${rest}`, status: 404 },
    { path: `/webhooks/${none}${rest}`, ...anonymous },
  ]
  const ofAttempt = (rest: string): ContractCase[] => [
    { path: `/webhooks/attempts/${none}${rest}`, status: 404 },
    { path: `/webhooks/attempts/nenhuma${rest}`, status: 404 },
    { path: `/webhooks/attempts/${none}${rest}`, ...anonymous },
  ]
  const change: ContractCase = { path: `/webhooks/${id}`, body: { description: null } }
  return {
    'GET /webhooks': [{}, anonymous],
    'GET /webhooks/event-types': [{}, anonymous],
    'POST /webhooks': [
      { body: { url: URL, event_types: null }, status: 201 },
      { body: {}, status: 400 },
      { body: { url: 'https://127.0.0.1/' }, status: 400 },
      { body: { url: URL, event_types: ['nada'] }, status: 400 },
      { body: { url: URL, description: 'a\u0000b' }, status: 400 },
      { body: { url: URL }, secret: full.secret, status: 409 },
      { body: { url: URL }, ...anonymous },
    ],
    'GET /webhooks/{id}': [{ path: `/webhooks/${id}` }, ...ofWebhook('')],
    'PATCH /webhooks/{id}': [
      change,
      { ...change, body: {} },
      { ...change, body: { url: 'ftp://example.com' }, status: 400 },
      ...ofWebhook('').map((given) => ({ ...given, body: {} })),
    ],
    'POST /webhooks/{id}/rotate-secret': [
      { path: `/webhooks/${id}/rotate-secret` },
      ...ofWebhook('/rotate-secret'),
    ],
    'POST /webhooks/{id}/test': [
      { path: `/webhooks/${id}/test` },
      { path: `/webhooks/${off.id}/test`, status: 409 },
      ...ofWebhook('/test'),
    ],
    'GET /webhooks/{id}/attempts': [
      { path: `/webhooks/${id}/attempts` },
      { path: `/webhooks/${id}/attempts?status=queued&limit=1` },
      { path: `/webhooks/${id}/attempts?status=nada`, status: 400 },
      ...ofWebhook('/attempts'),
    ],
    'GET /webhooks/attempts/{attemptId}': [
      { path: `/webhooks/attempts/${attempt.delivery_id}` },
      { path: `/webhooks/attempts/${unsent.delivery_id}` },
      ...ofAttempt(''),
    ],
    'POST /webhooks/attempts/{attemptId}/replay': [
      { path: `/webhooks/attempts/${attempt.delivery_id}/replay` },
      { path: `/webhooks/attempts/${unsent.delivery_id}/replay`, status: 409 },
      ...ofAttempt('/replay'),
    ],
    'DELETE /webhooks/{id}': [
      { path: `/webhooks/${doomed.id}` },
      { path: `/webhooks/${doomed.id}`, status: 404 },
      ...ofWebhook(''),
    ],
  }
}
