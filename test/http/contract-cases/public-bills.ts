import { sql } from 'kysely'
import { ask } from '../../harness/ask.ts'
import type { TestGateway } from '../../harness/gateway.ts'
import { seedUsage } from '../../harness/seed-usage.ts'
import { seedCustomer } from '../../harness/test-database.ts'
import type { ContractCases } from './contract-case.ts'

const NONE = '01900000-0000-7000-8000-000000000000'

export async function createCases({ node, database: { db } }: TestGateway): Promise<ContractCases> {
  const { customerId, key, secret } = await seedCustomer(db, { balanceBrl: '10' })
  const [charge, other] = await seedUsage(db, {
    customerId,
    apiKeyId: key.id,
    events: ['conversa', 'outra'].map((sessionId) => ({
      at: new Date(),
      modelId: 'gpt-4o',
      promptTokens: 10,
      completionTokens: 5,
      sessionId,
    })),
  })
  const made = await ask(node.baseUrl, '/me/public-bills', {
    secret,
    body: { usage_event_id: other?.id },
  })
  const { id, url } = made.json as { id: string; url: string }
  const token = url.slice(url.lastIndexOf('/') + 1)
  const full = await seedCustomer(db, { balanceBrl: '1' })
  await sql`
    insert into public_bills (id, token, customer_id, usage_event_id)
    select gen_random_uuid(), lpad(n::text, 32, '0'), ${full.customerId}, gen_random_uuid()
    from generate_series(1, 1000) n`.execute(db)
  const anonymous = { isAnonymous: true, status: 401 }
  return {
    'GET /public-bills/{token}': [
      { path: `/public-bills/${token}`, isAnonymous: true },
      { path: `/public-bills/${'x'.repeat(32)}`, isAnonymous: true, status: 404 },
      { path: `/public-bills/${'x'.repeat(201)}`, isAnonymous: true, status: 400 },
    ],
    'GET /charge-chain': [
      { isAnonymous: true },
      { path: '/charge-chain?before=2026-01-01&limit=366' },
      ...['before=2026-02-30', 'before=x', 'limit=0', 'limit=367'].map((query) => ({
        path: `/charge-chain?${query}`,
        status: 400,
      })),
    ],
    'GET /me/public-bills': [
      { secret },
      anonymous,
      ...['limit=0', 'limit=201', 'cursor=x'].map((query) => ({
        path: `/me/public-bills?${query}`,
        status: 400,
      })),
    ],
    'POST /me/public-bills': [
      { secret, body: { usage_event_id: charge?.id }, status: 201 },
      { secret, body: { session_id: 'conversa' }, status: 201 },
      { secret, body: { usage_event_id: NONE }, status: 404 },
      { secret, body: { session_id: 'nenhuma' }, status: 404 },
      { secret, body: {}, status: 400 },
      { secret, body: { usage_event_id: charge?.id, session_id: 'conversa' }, status: 400 },
      { secret: full.secret, body: { usage_event_id: NONE }, status: 409 },
      { ...anonymous, body: {} },
    ],
    'DELETE /me/public-bills/{id}': [
      { secret, path: `/me/public-bills/${NONE}`, status: 404 },
      { ...anonymous, path: `/me/public-bills/${id}` },
      { secret, path: `/me/public-bills/${id}` },
    ],
  }
}
