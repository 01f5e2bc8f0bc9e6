// deep: an attack
/** Checkpoints: when one call of a batch ends meanwhile, the others must keep theirs. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createRunningCalls } from '../../src/gateway/calls/running-calls.ts'
import { createTestDatabase, seedCustomer, type TestDatabase } from '../harness/test-database.ts'
import { openTestLedger, worth } from '../harness/open-test-ledger.ts'

let database: TestDatabase
before(async () => {
  database = await createTestDatabase()
})
after(() => database.drop())

test('H1 the calls of a batch keep their checkpoints when another call of it has ended', async () => {
  const { db, databaseUrl } = database
  const { key } = await seedCustomer(db, { balanceBrl: worth(1_000) })
  const { ledger, attempt, charge } = await openTestLedger(db, databaseUrl)
  try {
    let nowMs = 0
    const calls = createRunningCalls(() => nowMs)
    const holds = Array.from({ length: 10 }, () => attempt(key, 10))
    const running = []
    for (const hold of holds) {
      assert.equal((await ledger.hold(hold)).kind, 'held')
      running.push(calls.begin({ id: hold.id, customerId: hold.customerId, epoch: 0 }, false))
    }
    nowMs = 150
    const checkpoints = calls.takeDueCheckpoints()
    assert.equal(checkpoints.length, 10)
    // One of the ten is answered while the checkpoints are being written.
    assert.equal((await ledger.resolve(charge(holds[0] as never, 10))).kind, 'committed')
    calls.recordDurable(await ledger.checkpoint(checkpoints))
    // And at any later time.
    for (nowMs = 300; nowMs < 600_000; nowMs += 100)
      calls.recordDurable(await Promise.resolve(calls.takeDueCheckpoints()))
    const kept = running.slice(1).filter(({ isHoldDurable }) => isHoldDurable).length
    assert.equal(
      kept,
      9,
      `${kept} of 9 running calls may be spooled in an outage; the others are refused after 30 s, and their upstream is paid`,
    )
  } finally {
    await ledger.close()
  }
})
