/** Late outcomes: the stored outcome stands, or the node that ran the call corrects it, once. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import type { Attempt } from '../../src/money/ledger/attempt.ts'
import { findAccount } from '../../src/money/ledger/entries.ts'
import { release, type Resolution } from '../../src/money/ledger/resolution.ts'
import { createApiKey } from '../../src/customers/api-keys.ts'
import { readUsageWindow } from './read-usage-window.ts'
import { seedTeam } from '../harness/seed-team.ts'
import { createTestDatabase, seedCustomer, type TestDatabase } from '../harness/test-database.ts'
import { assertAudit } from '../harness/assert-audit.ts'
import {
  NANO_BRL_PER_TOKEN,
  openTestLedger,
  worth,
  type TestLedger,
} from '../harness/open-test-ledger.ts'

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

async function holdOne(balance = 1_000): Promise<Attempt> {
  const { db } = database
  const { customerId } = await seedCustomer(db, { balanceBrl: worth(balance) })
  const teamId = await seedTeam(db, customerId, { limitNanoBrl: 500_000_000_000n })
  const { key } = await createApiKey(db, {
    customerId,
    teamId,
    name: 'com tudo',
    requestsPerMinute: 1_000,
    budget: { limitPicoUsd: 1_000_000_000_000_000n, period: 'month' },
  })
  const attempt = one.attempt(key, 100, { sessionId: 's-1' })
  assert.equal((await one.ledger.hold(attempt)).kind, 'held')
  return attempt
}

const final = (resolution: Resolution): Resolution => ({ ...resolution, isFinal: true })

async function stateOf({ customerId, key }: Attempt): Promise<object> {
  const { rows } = await sql<object>`
    select a.charged_nano_brl as charged, a.held_nano_brl as held, b.spent_pico_usd as budget, t.spent_nano_brl as team,
      s.requests as "sessionRequests", s.cost_billed_nano_brl as "sessionBilled",
      (select count(*) from charge_corrections c where c.customer_id = a.customer_id) as corrections
    from accounts a join api_key_budgets b on b.api_key_id = ${key.id}
    join api_keys k on k.id = b.api_key_id join team_budgets t on t.team_id = k.team_id
    left join usage_sessions s on s.customer_id = a.customer_id and s.session_id = 's-1'
    where a.customer_id = ${customerId}`.execute(database.db)
  return rows[0] as object
}

const charged = (tokens: bigint, corrections: bigint): object => ({
  charged: tokens * NANO_BRL_PER_TOKEN,
  held: 0n,
  budget: tokens * 2_000_000n,
  team: tokens * NANO_BRL_PER_TOKEN,
  sessionRequests: 1n,
  sessionBilled: tokens * NANO_BRL_PER_TOKEN,
  corrections,
})

test('a delivered answer whose hold was released meanwhile is charged late, exactly once', async () => {
  const attempt = await holdOne()
  assert.equal((await two.ledger.resolve(release(attempt, 'node_lost'))).kind, 'committed')
  const late = final(one.charge(attempt, 40))
  const outcomes = await Promise.all([one, two, one, two].map(({ ledger }) => ledger.resolve(late)))
  assert.deepEqual(outcomes.map(({ kind }) => kind).toSorted(), [
    'committed',
    'committed',
    'committed',
    'corrected',
  ])
  assert.deepEqual(await stateOf(attempt), charged(40n, 1n))
  const { rows } = await sql<object>`
    select first_outcome, first_billed_nano_brl, outcome, billed_nano_brl from charge_corrections
    where hold_id = ${attempt.id}`.execute(database.db)
  assert.deepEqual(rows, [
    {
      first_outcome: 'released',
      first_billed_nano_brl: 0n,
      outcome: 'charged',
      billed_nano_brl: 40n * NANO_BRL_PER_TOKEN,
    },
  ])
  await assertAudit(database)
})

for (const [name, estimate] of [
  ['less', 10],
  ['more', 90],
] as const) {
  test(`an estimate that charged ${name} than was delivered is reversed, and the true cost is charged`, async () => {
    const attempt = await holdOne()
    await two.ledger.resolve({ ...two.charge(attempt, estimate), usageKind: 'estimated' })
    assert.equal((await one.ledger.resolve(final(one.charge(attempt, 40)))).kind, 'corrected')
    assert.deepEqual(await stateOf(attempt), charged(40n, 1n))
    assert.deepEqual(await readUsageWindow(database.db, attempt.customerId), {
      requests: 1n,
      completionTokens: 40n,
      billed: 40n * NANO_BRL_PER_TOKEN,
    })
    await assertAudit(database)
  })
}

test('a charge is reversed when no client received the answer', async () => {
  const attempt = await holdOne()
  await one.ledger.resolve(one.charge(attempt, 40))
  const undone = final(release(attempt, 'lease_lapsed'))
  assert.equal((await one.ledger.resolve(undone)).kind, 'corrected')
  assert.equal((await one.ledger.resolve(undone)).kind, 'committed')
  assert.deepEqual(await stateOf(attempt), { ...charged(0n, 1n), sessionRequests: 0n })
  await assertAudit(database)
})

test('an outcome that is not final never changes the stored outcome, which it gets as its answer', async () => {
  const attempt = await holdOne()
  await two.ledger.resolve(two.charge(attempt, 10))
  assert.deepEqual(await one.ledger.resolve(one.charge(attempt, 40)), {
    kind: 'superseded',
    outcome: 'charged',
    billedNanoBrl: 10n * NANO_BRL_PER_TOKEN,
  })
  assert.deepEqual(await one.ledger.resolve(one.charge(attempt, 10)), {
    kind: 'committed',
    isRepeated: true,
  })
  assert.deepEqual(await stateOf(attempt), charged(10n, 0n))
})

test('of two final outcomes in one batch, one takes effect and the other corrects it', async () => {
  const attempt = await holdOne()
  const [first, second] = await one.inOneBatch(attempt.customerId, () => [
    one.ledger.resolve(final(one.charge(attempt, 10))),
    one.ledger.resolve(final(one.charge(attempt, 20))),
  ])
  assert.deepEqual(new Set([first?.kind, second?.kind]), new Set(['committed', 'corrected']))
  await assertAudit(database)
})

test('a late charge that the balance does not cover is a debt that names the call', async () => {
  const attempt = await holdOne(100)
  await two.ledger.resolve(release(attempt, 'node_lost'))
  const spender = one.attempt(attempt.key as never, 100)
  assert.equal((await one.ledger.hold(spender)).kind, 'held')
  await one.ledger.resolve(one.charge(spender, 100))
  await one.ledger.resolve(final(one.charge(attempt, 40)))
  const account = await findAccount(database.db, attempt.customerId)
  assert.equal(account?.balanceNanoBrl, -40n * NANO_BRL_PER_TOKEN)
  const { rows } = await sql<object>`
    select amount_nano_brl, cause, hold_ids from account_debts where customer_id = ${attempt.customerId}`.execute(
    database.db,
  )
  assert.deepEqual(rows, [
    {
      amount_nano_brl: 40n * NANO_BRL_PER_TOKEN,
      cause: 'correction',
      hold_ids: [attempt.id],
    },
  ])
})

test('a resolution under another customer finds no hold', async () => {
  const attempt = await holdOne()
  const { customerId } = await seedCustomer(database.db, { balanceBrl: '10' })
  const stray = final({ ...one.charge(attempt, 40), customerId })
  assert.equal((await one.ledger.resolve(stray)).kind, 'missing')
  assert.equal((await one.ledger.resolve(one.charge(attempt, 40))).kind, 'committed')
})
