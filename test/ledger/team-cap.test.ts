/** The monthly cap of a team is held and spent exactly, along with the balance. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import pg from 'pg'
import { createApiKey, type ApiKey } from '../../src/customers/api-keys.ts'
import { seedTeam } from '../harness/seed-team.ts'
import { createTestDatabase, seedCustomer, type TestDatabase } from '../harness/test-database.ts'
import { assertAudit } from '../harness/assert-audit.ts'
import { untilSessionsWait } from '../harness/waiting-sessions.ts'
import { NANO_BRL_PER_TOKEN, openTestLedger, type TestLedger } from '../harness/open-test-ledger.ts'

let database: TestDatabase
let one: TestLedger
let two: TestLedger

before(async () => {
  database = await createTestDatabase()
  one = await openTestLedger(database.db, database.databaseUrl)
  two = await openTestLedger(database.db, database.databaseUrl)
})

after(async () => {
  await one.ledger.close()
  await two.ledger.close()
  await database.drop()
})

async function seedTeamWithKeys(
  capTokens: number | null,
  keyCount: number,
): Promise<{ teamId: string; keys: ApiKey[]; ownKey: ApiKey; customerId: string }> {
  const { customerId, key: ownKey } = await seedCustomer(database.db, { balanceBrl: '1000' })
  const limitNanoBrl = capTokens === null ? null : BigInt(capTokens) * NANO_BRL_PER_TOKEN
  const teamId = await seedTeam(database.db, customerId, { limitNanoBrl })
  const keys = await Promise.all(
    Array.from({ length: keyCount }, async () => {
      const made = await createApiKey(database.db, {
        customerId,
        name: 'da equipe',
        requestsPerMinute: 1_000_000,
        teamId,
      })
      return made.key
    }),
  )
  return { teamId, keys, ownKey, customerId }
}

async function budgetOf(teamId: string): Promise<{ spent: bigint; held: bigint }> {
  const row = await database.db
    .selectFrom('team_budgets')
    .selectAll()
    .where('team_id', '=', teamId)
    .executeTakeFirstOrThrow()
  return { spent: row.spent_nano_brl, held: row.held_nano_brl }
}

test('the keys of a team together hold no more than its cap, over two nodes', async () => {
  const { teamId, keys } = await seedTeamWithKeys(100, 4)
  const attempts = Array.from({ length: 200 }, (_, index) =>
    one.attempt(keys[index % keys.length] as ApiKey, 3),
  )
  const verdicts = await Promise.all(
    attempts.map((attempt, index) => (index % 2 ? one : two).ledger.hold(attempt)),
  )
  const held = attempts.filter((_, index) => verdicts[index]?.kind === 'held')
  assert.equal(held.length, 33)
  assert.equal(verdicts.filter(({ kind }) => kind === 'short_team').length, 167)
  assert.deepEqual(await budgetOf(teamId), { spent: 0n, held: 99n * NANO_BRL_PER_TOKEN })
  await assertAudit(database)

  await Promise.all(held.map((attempt) => two.ledger.resolve(two.charge(attempt, 2))))
  assert.deepEqual(await budgetOf(teamId), { spent: 66n * NANO_BRL_PER_TOKEN, held: 0n })
  const more = await Promise.all(
    Array.from({ length: 40 }, () => one.ledger.hold(one.attempt(keys[0] as ApiKey, 1))),
  )
  assert.equal(more.filter((verdict) => verdict.kind === 'held').length, 34)
  await assertAudit(database)
})

test('a team at its cap does not stop the other keys of the paying account', async () => {
  const { keys, ownKey } = await seedTeamWithKeys(0, 1)
  const verdict = await one.ledger.hold(one.attempt(keys[0] as ApiKey, 1))
  assert.ok(verdict.kind === 'short_team')
  assert.equal(verdict.teamLeftNanoBrl, 0n)
  assert.equal((await one.ledger.hold(one.attempt(ownKey, 1))).kind, 'held')
})

test('a team without a cap is counted too', async () => {
  const { teamId, keys } = await seedTeamWithKeys(null, 1)
  const attempt = one.attempt(keys[0] as ApiKey, 10)
  assert.equal((await one.ledger.hold(attempt)).kind, 'held')
  await one.ledger.resolve(one.charge(attempt, 4))
  assert.deepEqual(await budgetOf(teamId), { spent: 4n * NANO_BRL_PER_TOKEN, held: 0n })
})

test('a new month begins at zero, and an older hold is spent in it', async () => {
  const { teamId, keys } = await seedTeamWithKeys(10, 1)
  const key = keys[0] as ApiKey
  const first = one.attempt(key, 8)
  await one.ledger.hold(first)
  await one.ledger.resolve(one.charge(first, 8))
  const across = one.attempt(key, 2)
  assert.equal((await one.ledger.hold(across)).kind, 'held')
  await sql`update team_budgets set period_started_at = period_started_at - interval '1 month'
    where team_id = ${teamId}`.execute(database.db)
  // The audit sums events: last month's charges were settled in that month.
  await sql`update usage_events set settled_at = settled_at - interval '1 month'
    where team_id = ${teamId}`.execute(database.db)
  assert.equal((await one.ledger.hold(one.attempt(key, 9))).kind, 'short_team')
  await one.ledger.resolve(one.charge(across, 2))
  assert.deepEqual(await budgetOf(teamId), { spent: 2n * NANO_BRL_PER_TOKEN, held: 0n })
  assert.equal((await one.ledger.hold(one.attempt(key, 8))).kind, 'held')
  await assertAudit(database)
})

test('a hold that waits while the cap is lowered is judged by the new cap', async () => {
  const { teamId, keys } = await seedTeamWithKeys(100, 1)
  const [key] = keys as [ApiKey]
  const change = new pg.Client({ connectionString: database.databaseUrl })
  await change.connect()
  try {
    await change.query('begin')
    await change.query('update team_budgets set limit_nano_brl = $1 where team_id = $2', [
      10n * NANO_BRL_PER_TOKEN,
      teamId,
    ])
    const holding = one.ledger.hold(one.attempt(key, 60))
    await untilSessionsWait(database.db, 1)
    await change.query('commit')
    assert.equal((await holding).kind, 'short_team')
  } finally {
    await change.end()
  }
  assert.deepEqual(await budgetOf(teamId), { spent: 0n, held: 0n })
  await assertAudit(database)
})
