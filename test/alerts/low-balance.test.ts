/** Customers who have topped up are warned of a low balance, without setting an alert. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { warnOfLowBalance } from '../../src/deliveries/alerts/warn-of-low-balance.ts'
import { createCustomer } from '../../src/customers/customers.ts'
import { createApiKey } from '../../src/customers/api-keys.ts'
import { credit, debit } from '../../src/money/ledger/entries.ts'
import { createId } from '../../src/platform/lib/ids.ts'
import { createTestDatabase, seedCustomer } from '../harness/test-database.ts'
import { seedUsage } from '../harness/seed-usage.ts'
import { BRL, errors, firedOf, log, evaluateConcurrently } from '../harness/alerts.ts'

const database = await createTestDatabase()
const { db } = database
after(() => database.drop())

let now = Date.now()
/** When it is next due. */
async function warnAgain(): Promise<number> {
  now += 300_000
  const warned = await warnOfLowBalance(db, { now: new Date(now), log })
  assert.deepEqual(errors, [])
  return warned
}

async function spend(customerId: string, apiKeyId: string, reais: number): Promise<void> {
  const billed = BigInt(reais) * BRL
  const use = { modelId: 'sandbox-chat', promptTokens: 1, completionTokens: 1, billed }
  const at = new Date(Date.now() - 86_400_000)
  await seedUsage(db, { customerId, apiKeyId, events: [{ ...use, at }] })
}

function topUp(customerId: string, reais: number, reason = 'top_up') {
  const amountNanoBrl = BigInt(reais) * BRL
  return credit(db, { customerId, amountNanoBrl, reason, reference: createId() })
}

const low = (critical: boolean, balance_brl: string, runway_days: number) => ({
  critical,
  balance_brl,
  runway_days,
})

test('a low and a critical balance are reported once each, until the balance recovers', async () => {
  const { customerId, key } = await seedCustomer(db, { balanceBrl: '100' })
  assert.equal(await warnAgain(), 0)
  await spend(customerId, key.id, 70)
  assert.equal(await warnAgain(), 1)
  await spend(customerId, key.id, 1)
  assert.equal(await warnAgain(), 0)
  await spend(customerId, key.id, 19)
  assert.equal(await warnAgain(), 1)
  await spend(customerId, key.id, 2)
  assert.equal(await warnAgain(), 0)
  await topUp(customerId, 100)
  assert.equal(await warnAgain(), 0)
  await spend(customerId, key.id, 94)
  assert.equal(await warnAgain(), 1)
  assert.deepEqual(await firedOf(db, customerId, 'balance.low'), [
    low(false, '30', 12),
    low(true, '10', 3),
    low(true, '14', 2),
  ])
})

test('a used-up balance is reported by its own event only', async () => {
  const { customerId, key } = await seedCustomer(db, { balanceBrl: '100' })
  await warnAgain()
  await spend(customerId, key.id, 100)
  assert.equal(await warnAgain(), 0)
  assert.equal((await firedOf(db, customerId, 'balance.depleted')).length, 1)
  assert.deepEqual(await firedOf(db, customerId, 'balance.low'), [])
})

test('a customer without a top-up is not warned', async () => {
  const customer = await createCustomer(db, { name: 'Só bônus' })
  assert.ok('id' in customer)
  const { id: customerId } = customer
  await topUp(customerId, 10, 'promotional')
  const { key } = await createApiKey(db, { customerId, name: 'chave', requestsPerMinute: 10 })
  await spend(customerId, key.id, 9)
  assert.equal(await warnAgain(), 0)
  assert.deepEqual(await firedOf(db, customerId, 'balance.low'), [])
})

test('each customer is warned once, however many nodes evaluate in parallel', async () => {
  const customers = await Promise.all(
    Array.from({ length: 5 }, () => seedCustomer(db, { balanceBrl: '100' })),
  )
  for (const { customerId, key } of customers) await spend(customerId, key.id, 95)
  now += 300_000
  const warn = () => warnOfLowBalance(db, { now: new Date(now), log })
  const warned = await Promise.all([warn(), warn(), warn()])
  assert.equal(
    warned.reduce((sum, count) => sum + count, 0),
    5,
  )
  for (const { customerId } of customers)
    assert.equal((await firedOf(db, customerId, 'balance.low')).length, 1)
  assert.deepEqual(errors, [])
})

test('an account that a second node takes from a slow node is not warned twice', async () => {
  const { customerId, key } = await seedCustomer(db, { balanceBrl: '100' })
  await warnAgain()
  await spend(customerId, key.id, 95)
  now += 300_000
  const warn = () => warnOfLowBalance(db, { now: new Date(now), log })
  assert.equal(await evaluateConcurrently(db, [warn, warn]), 1)
  assert.equal((await firedOf(db, customerId, 'balance.low')).length, 1)
})

test('an account without movement is not evaluated again', async () => {
  const { customerId } = await seedCustomer(db, { balanceBrl: '100' })
  await warnAgain()
  const lookedAt = async () =>
    (
      await db
        .selectFrom('balance_watches')
        .select('looked_at')
        .where('customer_id', '=', customerId)
        .executeTakeFirstOrThrow()
    ).looked_at.getTime()
  const before = await lookedAt()
  await warnAgain()
  assert.equal(await lookedAt(), before)
  const entry = { customerId, reason: 'adjustment', reference: createId() }
  await debit(db, { ...entry, amountNanoBrl: BRL })
  await warnAgain()
  assert.equal(await lookedAt(), now)
})
