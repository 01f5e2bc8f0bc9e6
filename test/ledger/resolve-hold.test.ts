/** A single resolution takes a separate path from a batch, and must write the same. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import type { Attempt } from '../../src/money/ledger/attempt.ts'
import { release, type Resolution } from '../../src/money/ledger/resolution.ts'
import { createApiKey, type ApiKey } from '../../src/customers/api-keys.ts'
import { seedTeam } from '../harness/seed-team.ts'
import { createTestDatabase, seedCustomer, type TestDatabase } from '../harness/test-database.ts'
import { assertAudit } from '../harness/assert-audit.ts'
import { openTestLedger, type TestLedger } from '../harness/open-test-ledger.ts'

let database: TestDatabase
let node: TestLedger

before(async () => {
  database = await createTestDatabase()
  node = await openTestLedger(database.db, database.databaseUrl)
})

after(async () => {
  await node.ledger.close()
  await database.drop()
})

/** A key with everything that a resolution may write to: a budget, a team's cap, a token limit. */
async function seedKey(): Promise<ApiKey> {
  const { db } = database
  const { customerId } = await seedCustomer(db, { balanceBrl: '1000' })
  const teamId = await seedTeam(db, customerId, { limitNanoBrl: 500_000_000_000n })
  const { key } = await createApiKey(db, {
    customerId,
    teamId,
    name: 'com tudo',
    requestsPerMinute: 1_000,
    tokensPerMinute: 1_000_000,
    budget: { limitPicoUsd: 1_000_000_000_000_000n, period: 'month' },
  })
  return key
}

async function resolveAll(
  key: ApiKey,
  resolve: (resolutions: Resolution[]) => Promise<unknown>,
): Promise<void> {
  const attempts: Attempt[] = [0, 1, 2].map(() => node.attempt(key, 100, { sessionId: 's-1' }))
  for (const attempt of attempts) assert.equal((await node.ledger.hold(attempt)).kind, 'held')
  const [one, two, three] = attempts as [Attempt, Attempt, Attempt]
  await resolve([
    node.charge(one, 40),
    {
      ...node.charge(two, 50),
      usageKind: 'estimated',
      reason: 'no_usage_reported',
      attempts: '[{"upstream":"test"}]',
    },
    release(three, 'client_left', 'test'),
  ])
}

/** The rows written for a key, without the ids and times that differ between keys. */
async function writtenFor(key: ApiKey): Promise<object> {
  const { db } = database
  const own = new Set(['id', 'request_id', 'customer_id', 'api_key_id', 'team_id', 'subject'])
  const withoutOwn = (rows: object[]): object[] =>
    rows.map((row) =>
      Object.fromEntries(
        Object.entries(row).filter(
          ([name, value]) => !own.has(name) && !(value instanceof Date) && !name.endsWith('_at'),
        ),
      ),
    )
  const ofCustomer = (
    table: 'accounts' | 'usage_hours' | 'usage_sessions' | 'holds',
  ): Promise<object[]> =>
    db
      .selectFrom(sql.table(table).as('t'))
      .selectAll()
      .where(sql`customer_id`, '=', key.customerId)
      .execute()
  const events = await db
    .selectFrom('usage_events')
    .selectAll()
    .where('customer_id', '=', key.customerId)
    .orderBy('completion_tokens')
    .execute()
  assert.equal(events.length, 3)
  return {
    events: withoutOwn(events),
    accounts: withoutOwn(await ofCustomer('accounts')),
    hours: withoutOwn(await ofCustomer('usage_hours')),
    sessions: withoutOwn(await ofCustomer('usage_sessions')),
    holds: await ofCustomer('holds'),
    budgets: withoutOwn(
      await db.selectFrom('api_key_budgets').selectAll().where('api_key_id', '=', key.id).execute(),
    ),
    caps: withoutOwn(
      await db
        .selectFrom('team_budgets')
        .innerJoin('api_keys', 'api_keys.team_id', 'team_budgets.team_id')
        .selectAll('team_budgets')
        .where('api_keys.id', '=', key.id)
        .execute(),
    ),
    tokens: withoutOwn(
      await db
        .selectFrom('rate_windows')
        .selectAll()
        .where('subject', '=', `k:${key.id}`)
        .execute(),
    ),
  }
}

test('resolutions write the same one by one as in one batch', async () => {
  const single = await seedKey()
  const batched = await seedKey()
  await resolveAll(single, async (resolutions) => {
    for (const resolution of resolutions) await node.ledger.resolve(resolution)
  })
  await resolveAll(batched, (resolutions) =>
    node.inOneBatch(batched.customerId, () =>
      resolutions.map((resolution) => node.ledger.resolve(resolution)),
    ),
  )
  assert.deepEqual(await writtenFor(single), await writtenFor(batched))
  await assertAudit(database)
})
