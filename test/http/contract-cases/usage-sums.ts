import { seedUsage } from '../../harness/seed-usage.ts'
import { seedCustomer } from '../../harness/test-database.ts'
import type { TestGateway } from '../../harness/gateway.ts'
import type { ContractCase, ContractCases } from './contract-case.ts'

/** A customer with usage of each kind of model, a failed call, and a large possible saving. */
export async function createCases({ database: { db } }: TestGateway): Promise<ContractCases> {
  const { customerId, key, secret } = await seedCustomer(db, { balanceBrl: '500' })
  const at = new Date()
  const tokens = { at, promptTokens: 1_000, completionTokens: 500, costPicoUsd: 10n ** 12n }
  const events = ['gpt-4o', 'text-embedding-3-small', 'whisper-1', 'gone-from-the-catalog'].map(
    (modelId) => ({ ...tokens, modelId }),
  )
  await seedUsage(db, {
    customerId,
    apiKeyId: key.id,
    events: [...events, { ...tokens, modelId: 'gpt-4o', outcome: 'released' }],
  })
  await db
    .insertInto('profiles')
    .values({ customer_id: customerId, full_name: 'Ana Souza', tax_id: '52998224725' })
    .execute()

  const windowed = (path: string, limits: readonly [number, number], name = 'days') =>
    [
      { secret },
      {},
      { isAnonymous: true, status: 401 },
      ...limits.map((limit) => ({ secret, path: `${path}?${name}=${limit}` })),
      { path: `${path}?${name}=${limits[0] - 1}`, status: 400 },
      { path: `${path}?${name}=${limits[1] + 1}`, status: 400 },
    ] satisfies ContractCase[]
  const ofMonth = (path: string) =>
    [
      { secret, path },
      { secret, path: `${path}?month=2026-01` },
      { secret, path: `${path}?month=2026-13`, status: 400 },
      { isAnonymous: true, path, status: 401 },
    ] satisfies ContractCase[]
  return {
    'GET /me/usage-summary': windowed('/me/usage-summary', [1, 365]),
    'GET /me/runway': windowed('/me/runway', [1, 90]),
    'GET /me/recommendations': windowed('/me/recommendations', [7, 90]),
    'GET /me/dashboard-stats': [{ secret }, {}, { isAnonymous: true, status: 401 }],
    'GET /statement': ofMonth('/statement'),
    'GET /statement.pdf': ofMonth('/statement.pdf'),
    'GET /usage/by-key': windowed('/usage/by-key', [1, 365]),
    'GET /usage/by-day': windowed('/usage/by-day', [1, 90]),
    'GET /usage/rate-limit': windowed('/usage/rate-limit', [5, 720], 'minutes'),
  }
}
