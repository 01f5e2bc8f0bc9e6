/** The order of locks: a batch that resolves and holds for a key with a limit of tokens, and a refused call of that key. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createTestDatabase, seedCustomer, withClient, type TestDatabase } from '../harness/test-database.ts'
import { openTestLedger, worth } from '../ledger/open-test-ledger.ts'

let database: TestDatabase
before(async () => {
  database = await createTestDatabase()
})
after(() => database.drop())

test('D2 a settlement and a count of one key never wait for each other in a ring', async () => {
  const { db, databaseUrl } = database
  const one = await openTestLedger(db, databaseUrl)
  const other = await openTestLedger(db, databaseUrl)
  const { customerId, key } = await seedCustomer(db, { balanceBrl: worth(1_000), tokensPerMinute: 1_000_000 } as never)
  const ip = '203.0.113.7'
  let rings = 0
  try {
    for (let round = 0; round < 10; round++) {
      const first = one.attempt(key, 1, { ip })
      assert.equal((await one.ledger.hold(first)).kind, 'held')
      await withClient(databaseUrl, async (client) => {
        await client.query('begin')
        await client.query(`select 1 from rate_windows where subject = 'i:${ip}' for update`)
        const beganAt = performance.now()
        // Waits for the address first, and is the first to get it.
        const counting = other.ledger.count({ ip, ipLimit: 1_000_000, key })
        await sleep(60)
        // Has the window of the key by its settlement, and waits for the address too.
        const second = one.attempt(key, 1, { ip })
        const batch = one.inOneBatch(customerId, () => [
          one.ledger.resolve(one.charge(first, 1)),
          one.ledger.hold(second),
        ])
        await sleep(120)
        const releasedAt = performance.now()
        await client.query('commit')
        await Promise.all([counting, batch])
        const waitedMs = performance.now() - releasedAt
        if (waitedMs > 150) rings += 1
        console.log('D2', { waitedMs: Math.round(waitedMs), totalMs: Math.round(performance.now() - beganAt) })
        await one.ledger.resolve(one.charge(second, 1))
      })
    }
    assert.equal(rings, 0, `${rings} of 10: both stood until a lock timeout of 400 ms ended one of them`)
  } finally {
    await one.ledger.close()
    await other.ledger.close()
  }
})
