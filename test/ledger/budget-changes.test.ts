/** A budget stays exact when it is changed while part of it is held. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { release } from '../../src/money/ledger/resolution.ts'
import { changeApiKey } from '../../src/customers/change-api-key.ts'
import type { ApiKey } from '../../src/customers/api-keys.ts'
import { createTestDatabase, seedCustomer, type TestDatabase } from '../harness/test-database.ts'
import { assertAudit } from '../harness/assert-audit.ts'
import { openTestLedger, type TestLedger } from '../harness/open-test-ledger.ts'

const PICO_USD_PER_TOKEN = 2_000_000n

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

const tokens = (count: number): bigint => BigInt(count) * PICO_USD_PER_TOKEN

async function seedKey(limitTokens: number): Promise<ApiKey> {
  const budget = { limitPicoUsd: tokens(limitTokens), period: 'month' as const }
  const { key } = await seedCustomer(database.db, { balanceBrl: '1000', budget })
  return key
}

async function change(
  key: ApiKey,
  budget: { limitPicoUsd: bigint; period: 'day' | 'month' | 'lifetime' } | null,
): Promise<ApiKey> {
  const changed = await changeApiKey(database.db, key.customerId, key.id, { budget })
  assert.ok(changed.kind === 'changed')
  return changed.key
}

async function budgetOf(key: ApiKey): Promise<{ spent: bigint; held: bigint } | undefined> {
  const row = await database.db
    .selectFrom('api_key_budgets')
    .selectAll()
    .where('api_key_id', '=', key.id)
    .executeTakeFirst()
  return row && { spent: row.spent_pico_usd, held: row.held_pico_usd }
}

test('a changed budget keeps its spent and held amounts, in a new period too', async () => {
  const key = await seedKey(100)
  const spent = one.attempt(key, 10)
  await one.ledger.hold(spent)
  await one.ledger.resolve(one.charge(spent, 10))
  const held = one.attempt(key, 20)
  await one.ledger.hold(held)
  for (const period of ['month', 'day', 'lifetime', 'month'] as const) {
    await change(key, { limitPicoUsd: tokens(40), period })
    assert.deepEqual(await budgetOf(key), { spent: tokens(10), held: tokens(20) }, period)
  }
  const newest = await change(key, { limitPicoUsd: tokens(35), period: 'month' })
  assert.equal((await one.ledger.hold(one.attempt(newest, 6))).kind, 'short_budget')
  assert.equal((await one.ledger.hold(one.attempt(key, 1))).kind, 'stale_key')
  const last = one.attempt(newest, 5)
  assert.equal((await one.ledger.hold(last)).kind, 'held')
  await one.ledger.resolve(one.charge(held, 15))
  await one.ledger.resolve(one.charge(last, 5))
  assert.deepEqual(await budgetOf(key), { spent: tokens(30), held: 0n })
  await assertAudit(database)
})

test('a budget that is removed and set again while calls run ends with nothing held', async () => {
  const key = await seedKey(100)
  const [first, second] = [one.attempt(key, 10), one.attempt(key, 20)]
  await one.ledger.hold(first)
  await one.ledger.hold(second)
  const free = await change(key, null)
  assert.equal(await budgetOf(key), undefined)
  const unlimited = one.attempt(free, 1000)
  assert.equal((await one.ledger.hold(unlimited)).kind, 'held')
  await one.ledger.resolve(one.charge(first, 10))
  await change(free, { limitPicoUsd: tokens(50), period: 'day' })
  assert.deepEqual(await budgetOf(key), { spent: 0n, held: tokens(20) })
  await one.ledger.resolve(one.charge(second, 20))
  await one.ledger.resolve(one.charge(unlimited, 1000))
  assert.deepEqual(await budgetOf(key), { spent: tokens(20), held: 0n })
  await assertAudit(database)
})

test('budgets that are set and removed beside a stream of calls lose none of them', async () => {
  const customers = await Promise.all([seedKey(1_000_000), seedKey(1_000_000)])
  const current = new Map(customers.map((key) => [key.id, key]))
  const over = new AbortController()
  const done = { holds: 0 }
  const changes = customers.map(async ({ id }) => {
    for (let round = 0; !over.signal.aborted; round += 1) {
      const key = current.get(id) as ApiKey
      const budget = { limitPicoUsd: tokens(1_000_000), period: 'month' as const }
      current.set(id, await change(key, round % 2 ? budget : null))
      // Each change waits for another hold, so that it meets calls in flight and not every call has a stale key.
      const seen = done.holds
      while (!over.signal.aborted && done.holds === seen) await setImmediate()
    }
  })
  const calls = Array.from({ length: 12 }, async (_, worker) => {
    const node = worker % 2 ? one : two
    for (let index = 0; index < 40;) {
      const { id } = customers[index % 2] as ApiKey
      const call = node.attempt(current.get(id) as ApiKey, 3)
      const { kind } = await node.ledger.hold(call)
      if (kind === 'stale_key') continue
      assert.equal(kind, 'held')
      done.holds += 1
      index += 1
      await node.ledger.resolve(node.charge(call, 2))
    }
  })
  await Promise.all(calls).finally(() => over.abort())
  await Promise.all(changes)
  assert.equal(done.holds, 12 * 40)
  const events = await database.db
    .selectFrom('usage_events')
    .select('id')
    .where(
      'api_key_id',
      'in',
      customers.map(({ id }) => id),
    )
    .execute()
  assert.equal(events.length, done.holds)
  for (const key of customers) assert.equal((await budgetOf(key))?.held ?? 0n, 0n)
  await assertAudit(database)
})

test('a changed budget gives back a charge that it carried over when that charge is corrected', async () => {
  const key = await seedKey(100)
  const [reversed, lowered] = [one.attempt(key, 10), one.attempt(key, 20)]
  for (const call of [reversed, lowered]) {
    await one.ledger.hold(call)
    await one.ledger.resolve(one.charge(call, call.tokensCounted))
  }
  for (const period of ['month', 'day', 'lifetime', 'month'] as const)
    await change(key, { limitPicoUsd: tokens(200), period })
  await one.ledger.resolve({ ...release(reversed, 'lease_lapsed'), isFinal: true })
  assert.deepEqual(await budgetOf(key), { spent: tokens(20), held: 0n })
  await one.ledger.resolve({ ...one.charge(lowered, 5), isFinal: true })
  assert.deepEqual(await budgetOf(key), { spent: tokens(5), held: 0n })
  await assertAudit(database)
})

test('a budget that was removed and set again gives back no charge of the removed one', async () => {
  const key = await seedKey(100)
  const call = one.attempt(key, 10)
  await one.ledger.hold(call)
  await one.ledger.resolve(one.charge(call, 10))
  const free = await change(key, null)
  const limited = await change(free, { limitPicoUsd: tokens(100), period: 'month' })
  const later = one.attempt(limited, 10)
  await one.ledger.hold(later)
  await one.ledger.resolve(one.charge(later, 10))
  await one.ledger.resolve({ ...release(call, 'lease_lapsed'), isFinal: true })
  assert.deepEqual(await budgetOf(key), { spent: tokens(10), held: 0n })
  await assertAudit(database)
})
