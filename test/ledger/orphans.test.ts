/** The holds of dead nodes: resolved together, each by its last checkpoint. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import { reconcile } from '../../src/gateway/calls/reconcile.ts'
import { createRunningCalls } from '../../src/gateway/calls/running-calls.ts'
import type { Lease } from '../../src/money/ledger/lease.ts'
import { createId } from '../../src/platform/lib/ids.ts'
import { createLog } from '../../src/platform/lib/log.ts'
import { createTestDatabase, seedCustomer, type TestDatabase } from '../harness/test-database.ts'
import { assertAudit } from '../harness/assert-audit.ts'
import { heldLease, openTestLedger, worth, type TestLedger } from '../harness/open-test-ledger.ts'

let database: TestDatabase
let dead: TestLedger
let alive: TestLedger
let lease: Lease

before(async () => {
  database = await createTestDatabase()
  dead = await openTestLedger(database.db, database.databaseUrl)
  alive = await openTestLedger(database.db, database.databaseUrl)
  lease = {
    ...heldLease(alive.nodeId),
    contactMs: () => 60_000,
    sinceContactMs: () => 0,
    stop: async () => {},
  }
})

after(async () => {
  await dead.ledger.close()
  await alive.ledger.close()
  await database.drop()
})

function run(options: { lease?: Lease; calls?: ReturnType<typeof createRunningCalls> } = {}) {
  return reconcile({
    db: database.db,
    ledger: alive.ledger,
    lease,
    calls: createRunningCalls(),
    log: createLog('silent', () => {}),
    ...options,
  })
}

test('all orphaned holds are resolved in one turn, even beside one that cannot be resolved', async () => {
  const { key } = await seedCustomer(database.db, { balanceBrl: worth(100_000) })
  const attempts = Array.from({ length: 3_000 }, () => dead.attempt(key, 10))
  const verdicts = await Promise.all(attempts.map((attempt) => dead.ledger.hold(attempt)))
  assert.ok(verdicts.every(({ kind }) => kind === 'held'))
  const [first, second] = attempts as [(typeof attempts)[0], (typeof attempts)[0]]
  await dead.ledger.checkpoint([
    { id: first.id, customerId: first.customerId, outputTokensSeen: 4 },
    { id: second.id, customerId: second.customerId, outputTokensSeen: 4 },
  ])
  // Its price is not stored: the hold waits for the next turn.
  await sql`update holds set price_id = 999999 where id = ${first.id}`.execute(database.db)
  await sql`update nodes set fenced_at = now() where id = ${dead.nodeId}`.execute(database.db)

  assert.equal(await run(), 2_999)
  const { rows } = await sql<object>`select id from holds`.execute(database.db)
  assert.deepEqual(rows, [{ id: first.id }])
  const { rows: charged } = await sql<object>`
    select id, usage_kind, completion_tokens from usage_events where outcome = 'charged'`.execute(
    database.db,
  )
  assert.deepEqual(charged, [{ id: second.id, usage_kind: 'estimated', completion_tokens: 4 }])
  await sql`update holds set price_id = ${second.priceId} where id = ${first.id}`.execute(
    database.db,
  )
  assert.equal(await run(), 1)
  await assertAudit(database)
})

test('a node resolves no holds of others before a whole lease of contact', async () => {
  const { key } = await seedCustomer(database.db, { balanceBrl: worth(100) })
  const attempt = dead.attempt(key, 10)
  await dead.ledger.hold(attempt)
  assert.equal(await run({ lease: { ...lease, contactMs: () => 19_000 } }), 0)
  assert.equal(await run(), 1)
})

test('an old hold of this node without a running call is resolved; the hold of a running call is not', async () => {
  const { key } = await seedCustomer(database.db, { balanceBrl: worth(100) })
  const [running, forgotten] = [alive.attempt(key, 10), alive.attempt(key, 10)]
  await Promise.all([running, forgotten].map((attempt) => alive.ledger.hold(attempt)))
  await sql`update holds set created_at = now() - interval '1 minute'`.execute(database.db)
  const calls = createRunningCalls()
  calls.begin({ id: running.id, customerId: running.customerId, epoch: 0 }, true)
  assert.equal(await run({ calls }), 1)
  const { rows } = await sql<object>`
    select id from holds where customer_id = ${key.customerId}`.execute(database.db)
  assert.deepEqual(rows, [{ id: running.id }])
  await alive.ledger.resolve(alive.charge(running, 1))
})

test('a hold of a node that never registered is orphaned after a minute', async () => {
  const stranger = await openTestLedger(database.db, database.databaseUrl, {
    lease: heldLease(createId()),
  })
  const { key } = await seedCustomer(database.db, { balanceBrl: worth(100) })
  await stranger.ledger.hold(stranger.attempt(key, 10))
  assert.equal(await run(), 0)
  await sql`update holds set created_at = now() - interval '61 seconds'`.execute(database.db)
  assert.equal(await run(), 1)
  await stranger.ledger.close()
})
