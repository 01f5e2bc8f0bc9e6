/** What decides an attempt, alone and in company: the same rows give the same verdict and the same rows. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { sql } from 'kysely'
import { revokeApiKey, type ApiKey, type ApiKeyInput } from '../../src/customers/api-keys.ts'
import type { Attempt, Verdict } from '../../src/money/ledger/attempt.ts'
import { ipWindow, keyWindow } from '../../src/money/ledger/lane/ledger-fields.ts'
import { createId } from '../../src/platform/lib/ids.ts'
import { avoidMinuteEnd } from '../harness/avoid-minute-end.ts'
import { seedTeam } from '../harness/seed-team.ts'
import { createTestDatabase, seedCustomer, type TestDatabase } from '../harness/test-database.ts'
import { assertAudit } from '../harness/assert-audit.ts'
import {
  NANO_BRL_PER_TOKEN,
  openTestLedger,
  worth,
  type TestLedger,
} from '../harness/open-test-ledger.ts'

const BALANCE_TOKENS = 1_000

let database: TestDatabase
let node: TestLedger
let companion: ApiKey
const batchSizes: number[] = []

before(async () => {
  database = await createTestDatabase()
  // With one lane, simultaneous requests are in one batch.
  node = await openTestLedger(database.db, database.databaseUrl, {
    laneCount: 1,
    onBatch: (size) => batchSizes.push(size),
  })
  companion = (await seedCustomer(database.db, { balanceBrl: '1000' })).key
})

after(async () => {
  await node.ledger.close()
  await database.drop()
})

/** The state before the attempt, and its request. */
interface Situation {
  readonly key?: Partial<ApiKeyInput>
  readonly tokens?: number
  readonly attempt?: Partial<Attempt>
  /** The number of earlier calls of the key and its address in this minute. */
  readonly before?: number
  readonly arrange?: (key: ApiKey) => Promise<unknown>
  readonly verdict: Verdict['kind']
}

const caps: Partial<ApiKeyInput> = {
  minuteLimitNanoBrl: 10n * NANO_BRL_PER_TOKEN,
  dayLimitNanoBrl: 20n * NANO_BRL_PER_TOKEN,
}

const situations: Readonly<Record<string, Situation>> = {
  'all that is there': { tokens: BALANCE_TOKENS, verdict: 'held' },
  'a token more than is there': { tokens: BALANCE_TOKENS + 1, verdict: 'short_balance' },
  'more than others left': { before: 1, tokens: BALANCE_TOKENS, verdict: 'short_balance' },
  'the last of the minute': { key: { requestsPerMinute: 3 }, before: 2, verdict: 'held' },
  'one too many of the key': { key: { requestsPerMinute: 2 }, before: 2, verdict: 'key_limited' },
  'one too many of the address': { attempt: { ipLimit: 2 }, before: 2, verdict: 'ip_limited' },
  'one too many of both': {
    key: { requestsPerMinute: 2 },
    attempt: { ipLimit: 2 },
    before: 2,
    verdict: 'ip_limited',
  },
  'one too many, but counted before': {
    key: { requestsPerMinute: 2 },
    attempt: { ipLimit: 2, isRepeated: true },
    before: 2,
    verdict: 'held',
  },
  'not counted for its address': { attempt: { ip: null, ipLimit: 0 }, before: 2, verdict: 'held' },
  'not counted for its address, one too many of the key': {
    key: { requestsPerMinute: 2 },
    attempt: { ip: null, ipLimit: 0 },
    before: 2,
    verdict: 'key_limited',
  },
  'not counted for its address, with a budget': {
    key: { budget: budgetOf(10) },
    attempt: { ip: null, ipLimit: 0 },
    tokens: 11,
    verdict: 'short_budget',
  },
  'not counted for its address, more than is there': {
    attempt: { ip: null, ipLimit: 0 },
    tokens: BALANCE_TOKENS + 1,
    verdict: 'short_balance',
  },
  'not counted for its address, counted before': {
    attempt: { ip: null, ipLimit: 0, isRepeated: true },
    verdict: 'held',
  },
  'a key that was revoked': {
    arrange: (key) => revokeApiKey(database.db, key.id),
    verdict: 'stale_key',
  },
  'a key that was changed': {
    arrange: ({ id }) =>
      sql`update api_keys set version = version + 1 where id = ${id}`.execute(database.db),
    verdict: 'stale_key',
  },
  'a key that expired': { key: { expiresAt: new Date(Date.now() - 1_000) }, verdict: 'stale_key' },
  'a key with a budget': { key: { budget: budgetOf(10) }, tokens: 10, verdict: 'held' },
  'more than a budget': { key: { budget: budgetOf(10) }, tokens: 11, verdict: 'short_budget' },
  'more than a budget that came later': { arrange: addBudget, tokens: 11, verdict: 'short_budget' },
  'more than a budget that is no more': {
    key: { budget: budgetOf(10) },
    arrange: dropBudget,
    tokens: 11,
    verdict: 'held',
  },
  'a limit of tokens': { key: { tokensPerMinute: 10 }, tokens: 10, verdict: 'held' },
  'more tokens': { key: { tokensPerMinute: 10 }, tokens: 11, verdict: 'tokens_limited' },
  'the cap of a team': { arrange: capTeam, tokens: 10, verdict: 'held' },
  'more than the cap of a team': { arrange: capTeam, tokens: 11, verdict: 'short_team' },
  'the caps of a key': {
    key: caps,
    attempt: { taskLimitNanoBrl: 10n * NANO_BRL_PER_TOKEN },
    tokens: 10,
    verdict: 'held',
  },
  'more than the cap of a minute': {
    key: { minuteLimitNanoBrl: 10n * NANO_BRL_PER_TOKEN },
    tokens: 11,
    verdict: 'short_minute',
  },
  'more than the cap of a day': {
    key: { dayLimitNanoBrl: 10n * NANO_BRL_PER_TOKEN },
    tokens: 11,
    verdict: 'short_day',
  },
  'more than the cap of a task': {
    attempt: { taskLimitNanoBrl: 10n * NANO_BRL_PER_TOKEN },
    tokens: 11,
    verdict: 'short_task',
  },
  'more than a cap that came later': { arrange: addCap, tokens: 11, verdict: 'short_day' },
}

function budgetOf(tokens: number): NonNullable<ApiKeyInput['budget']> {
  return { limitPicoUsd: BigInt(tokens) * 2_000_000n, period: 'lifetime' }
}

/** Sets a budget that the node's copy of the key does not have yet. */
async function addBudget({ id }: ApiKey): Promise<void> {
  const limit = budgetOf(10).limitPicoUsd
  await sql`insert into api_key_budgets (api_key_id, period, timezone, limit_pico_usd)
    values (${id}, 'lifetime', 'UTC', ${limit})`.execute(database.db)
}

async function addCap({ id }: ApiKey): Promise<void> {
  await sql`insert into key_caps (api_key_id, period, timezone, limit_nano_brl)
    values (${id}, 'day', 'UTC', ${10n * NANO_BRL_PER_TOKEN})`.execute(database.db)
}

async function dropBudget({ id }: ApiKey): Promise<void> {
  await database.db.deleteFrom('api_key_budgets').where('api_key_id', '=', id).execute()
}

async function capTeam({ id, customerId }: ApiKey): Promise<void> {
  const { db } = database
  const teamId = await seedTeam(db, customerId, { limitNanoBrl: 10n * NANO_BRL_PER_TOKEN })
  await sql`update api_keys set team_id = ${teamId}, scope = 'calls' where id = ${id}`.execute(db)
}

/** The verdict on the attempt and its rows, with a new customer each time. */
async function tryOut(
  { key: input, tokens = 1, attempt: more, before: count = 0, arrange }: Situation,
  hold: (attempt: Attempt) => Promise<unknown>,
): Promise<object> {
  const { db } = database
  const { customerId, key } = await seedCustomer(db, {
    balanceBrl: worth(BALANCE_TOKENS),
    ...input,
  })
  // A network of its own: twelve random digits, because addresses of four collided in one of a hundred runs.
  const ip = `2001:${createId()
    .slice(-12)
    .replace(/(.{4})(?=.)/g, '$1:')}::1`
  for (let calls = 0; calls < count; calls++)
    assert.equal((await node.ledger.hold(node.attempt(key, 1, { ip }))).kind, 'held')
  await arrange?.(key)

  const attempt = node.attempt(key, tokens, { ip, sessionId: 's-1', ...more })
  const { at, ...verdict } = (await hold(attempt)) as Verdict
  assert.ok(Math.abs(at.getTime() - Date.now()) < 60_000, at.toISOString())
  const account = await db
    .selectFrom('accounts')
    .select(['held_nano_brl', 'charged_nano_brl', 'credited_nano_brl'])
    .where('customer_id', '=', customerId)
    .executeTakeFirst()
  const held = await db.selectFrom('holds').selectAll().where('id', '=', attempt.id).execute()
  const windows = await db
    .selectFrom('rate_windows')
    .select(['requests', 'tokens'])
    .where('subject', 'in', [ipWindow(ip), keyWindow(key.id)])
    .orderBy('subject')
    .execute()
  return {
    verdict,
    account,
    held: held.map(
      ({
        id: _id,
        customer_id: _customer,
        api_key_id: _key,
        team_id,
        request_id: _request,
        created_at: _created,
        tokens_window_at,
        ...row
      }) => ({ ...row, hasTeam: team_id !== null, hasWindow: tokens_window_at !== null }),
    ),
    windows,
  }
}

for (const [name, situation] of Object.entries(situations)) {
  test(`an attempt has the same result alone and in a batch: ${name}`, async () => {
    await avoidMinuteEnd(4_000)
    const alone = await tryOut(situation, (attempt) => node.ledger.hold(attempt))
    const inCompany = await tryOut(situation, async (attempt) => {
      const [, verdict] = await node.inOneBatch(attempt.customerId, () => [
        node.ledger.hold(node.attempt(companion, 1)),
        node.ledger.hold(attempt),
      ])
      return verdict
    })
    // Batch sizes are reported in the next turn of the event loop.
    await setImmediate()
    assert.equal(batchSizes.at(-1), 2)
    assert.deepEqual(alone, inCompany)
    assert.equal((alone as { verdict: Verdict }).verdict.kind, situation.verdict)
  })
}

test('after holds alone and in batches the audit is clean', () => assertAudit(database))

test('the time of a verdict is never rounded up into the next minute', async () => {
  const { rows } = await sql<{ ms: bigint }>`
    select epoch_ms('2026-11-23T12:00:59.99999Z') as ms`.execute(database.db)
  assert.equal(new Date(Number(rows[0]?.ms)).toISOString(), '2026-11-23T12:00:59.999Z')
})
