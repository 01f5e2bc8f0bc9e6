import { seedRefusals } from '../../harness/seed-refusals.ts'
import { seedUsage } from '../../harness/seed-usage.ts'
import { seedCustomer } from '../../harness/test-database.ts'
import type { TestGateway } from '../../harness/gateway.ts'
import type { ContractCase, ContractCases } from './contract-case.ts'

const SESSION_ID = 'a/b%c?'

/** A customer with charges of every kind: with and without units, with and without a session. */
export async function createCases({ database: { db } }: TestGateway): Promise<ContractCases> {
  const { customerId, key, secret } = await seedCustomer(db, { balanceBrl: '500' })
  const use = { at: new Date(), modelId: 'gpt-4o', promptTokens: 10, completionTokens: 5 }
  await seedUsage(db, {
    customerId,
    apiKeyId: key.id,
    events: [
      { ...use, sessionId: SESSION_ID },
      { ...use, sessionId: SESSION_ID, costPicoUsd: 123_456_789n, usageKind: 'estimated' },
      { ...use, costPicoUsd: 0n },
      { ...use, outcome: 'released' },
    ],
  })
  const refusal = { at: new Date(), code: 'model_not_found', status: 404, refusals: 3 }
  await seedRefusals(db, {
    customerId,
    apiKeyId: key.id,
    rows: [refusal, { ...refusal, code: 'upstream_error', status: 502, modelId: 'gpt-4o' }],
  })
  const exported = (path: string): ContractCase[] => [
    { secret },
    {},
    { secret, path: `${path}?from=2026-01-31&to=2999-12-31` },
    { isAnonymous: true, status: 401 },
    ...['from=2026-02-30', 'to=x', 'from=0000-01-01', 'from=2026-03-02&to=2026-03-01'].map(
      (query) => ({ path: `${path}?${query}`, status: 400 }),
    ),
  ]
  const refused = (path: string, ...queries: string[]): ContractCase[] =>
    queries.map((query) => ({ path: `${path}?${query}`, status: 400 }))
  const session = `/me/sessions/${encodeURIComponent(SESSION_ID)}`
  return {
    'GET /usage/export.csv': exported('/usage/export.csv'),
    'GET /usage/export.json': exported('/usage/export.json'),
    'GET /usage/events': [
      { secret },
      { secret, path: `/usage/events?limit=1&session_id=${encodeURIComponent(SESSION_ID)}` },
      { isAnonymous: true, status: 401 },
      ...refused(
        '/usage/events',
        'limit=0',
        'limit=201',
        'cursor=x',
        'api_key_id=x',
        'model_id=%00',
        'from=2026-02-30',
      ),
    ],
    'GET /usage/calls': [
      { secret },
      { secret, path: `/usage/calls?limit=1&session_id=${encodeURIComponent(SESSION_ID)}` },
      { secret, path: '/usage/calls?status=failed&model_id=gpt-4o' },
      { isAnonymous: true, status: 401 },
      ...refused('/usage/calls', 'limit=201', 'cursor=x', 'status=ok', 'from=2026-02-30'),
    ],
    'GET /usage/refusals': [
      { secret },
      {},
      { secret, path: '/usage/refusals?from=2026-01-01&code=model_not_found&model_id=gpt-4o' },
      { isAnonymous: true, status: 401 },
      ...refused('/usage/refusals', 'api_key_id=x', 'from=2026-02-30', 'from=2999-01-01'),
    ],
    'GET /usage/refusals/by-hour': [
      { secret },
      {},
      { secret, path: '/usage/refusals/by-hour?limit=1' },
      { isAnonymous: true, status: 401 },
      ...refused('/usage/refusals/by-hour', 'limit=0', 'limit=201', 'cursor=x', 'to=x'),
    ],
    'GET /usage/spend': [
      { secret },
      {},
      { secret, path: '/usage/spend?by=key' },
      { secret, path: '/usage/spend?by=team&from=2026-01-01' },
      { secret, path: '/usage/spend?by=session' },
      { isAnonymous: true, status: 401 },
      ...refused('/usage/spend', 'by=x', 'from=2026-02-30', 'from=2000-01-01', 'from=2999-01-01'),
    ],
    'GET /me/sessions': [
      { secret },
      { secret, path: '/me/sessions?days=90&limit=500' },
      {},
      { isAnonymous: true, status: 401 },
      ...refused('/me/sessions', 'days=0', 'days=91', 'limit=0', 'limit=501', 'cursor=x'),
    ],
    'GET /me/sessions/{id}': [
      { secret, path: session },
      { secret, path: `${session}?limit=1` },
      { path: session, status: 404 },
      { path: session, isAnonymous: true, status: 401 },
      ...refused(session, 'limit=0', 'limit=1001', 'cursor=x'),
      { path: `/me/sessions/${'x'.repeat(81)}`, status: 400 },
    ],
  }
}
