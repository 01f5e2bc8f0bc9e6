/**
 * The lease of a node: it stops delivering before other nodes may resolve its holds, and returns under a new id
 * after a fence.
 */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { LEASE_SECONDS, openLease, type Lease } from '../../src/money/ledger/lease.ts'
import { fenceSilentNodes } from '../../src/money/ledger/nodes.ts'
import { createId } from '../../src/platform/lib/ids.ts'
import { createLog } from '../../src/platform/lib/log.ts'
import { createTestDatabase, type TestDatabase } from '../harness/test-database.ts'

let database: TestDatabase
const leases: Lease[] = []
const silent = createLog('silent', () => {})
const other = createId()
/** So rare that no heartbeat comes within a test. */
const NEVER_MS = 1_000_000

before(async () => {
  database = await createTestDatabase()
  // No node is fenced before the database has run for a whole lease.
  for (;;) {
    const { rows } = await sql<{ isOld: boolean }>`
      select pg_postmaster_start_time() < now() - make_interval(secs => ${LEASE_SECONDS}) as "isOld"`.execute(
      database.db,
    )
    if (rows[0]?.isOld) break
    await sleep(500)
  }
})

after(async () => {
  await Promise.all(leases.map((lease) => lease.stop()))
  await database.drop()
})

interface HandClock {
  monotonicMs(): number
  wallMs(): number
  pass(ms: number): void
  stepWall(ms: number): void
}

function handClock(): HandClock {
  let monotonic = 1_000_000
  let wall = 5_000_000
  return {
    monotonicMs: () => monotonic,
    wallMs: () => wall,
    pass(ms) {
      monotonic += ms
      wall += ms
    },
    stepWall(ms) {
      wall += ms
    },
  }
}

async function open(heartbeatMs: number, clock?: HandClock): Promise<Lease> {
  const { databaseUrl } = database
  const lease = await openLease({ databaseUrl, log: silent, heartbeatMs, ...(clock && { clock }) })
  leases.push(lease)
  return lease
}

/** Makes this node appear silent for so long, by the database's clock. */
async function silence(nodeId: string, seconds: number): Promise<void> {
  await sql`
    update nodes set seen_at = now() - make_interval(secs => ${seconds}) where id = ${nodeId}`.execute(
    database.db,
  )
}

async function until(isSo: () => boolean): Promise<void> {
  for (const deadline = Date.now() + 30_000; !isSo(); await sleep(10))
    assert.ok(Date.now() < deadline, 'it never came')
}

test('a node without a heartbeat stops delivering before other nodes may fence it', async () => {
  const clock = handClock()
  const lease = await open(NEVER_MS, clock)
  assert.equal(lease.isHeld(0), true)
  clock.pass(LEASE_SECONDS * 1_000 - 4_001)
  assert.equal(lease.isHeld(0), true)
  clock.pass(2)
  assert.equal(lease.isHeld(0), false)
  await silence(lease.nodeId(), LEASE_SECONDS - 1)
  assert.ok(!(await fenceSilentNodes(database.db, other)).includes(lease.nodeId()))
})

test('time that only the wall clock counts, as on a suspended machine, also ends a lease', async () => {
  const clock = handClock()
  const lease = await open(NEVER_MS, clock)
  clock.stepWall(60_000)
  assert.equal(lease.isHeld(0), false)
})

test('a lapsed lease without a fence is renewed by the next heartbeat', async () => {
  const clock = handClock()
  const lease = await open(20, clock)
  const nodeId = lease.nodeId()
  clock.pass(30_000)
  assert.equal(await lease.whenHeld(0, 20_000), true)
  assert.equal(lease.nodeId(), nodeId)
})

test('a fenced node never holds its old lease again: it registers under a new id', async () => {
  const lease = await open(NEVER_MS)
  const nodeId = lease.nodeId()
  await silence(nodeId, LEASE_SECONDS + 1)
  // Nodes of earlier tests may be silent for a whole lease by now, and are fenced as well.
  assert.ok((await fenceSilentNodes(database.db, other)).includes(nodeId))
  assert.ok(!(await fenceSilentNodes(database.db, other)).includes(nodeId), 'once')
  const woken = await open(20)
  await silence(woken.nodeId(), LEASE_SECONDS + 1)
  // Its heartbeats race with the fence: either the silence ends, or the node is fenced and knows it.
  const before = woken.nodeId()
  await sql`update nodes set fenced_at = now() where id = ${before}`.execute(database.db)
  await until(() => woken.epoch() === 1)
  assert.notEqual(woken.nodeId(), before)
  assert.equal(woken.isHeld(0), false)
  assert.equal(await woken.whenHeld(0, 5_000), false)
  assert.equal(await woken.whenHeld(1, 5_000), true)
})

test('of a heartbeat and a fence for one silence, at most one succeeds', async () => {
  const lease = await open(1)
  for (let round = 0; round < 200; round += 1) {
    const nodeId = lease.nodeId()
    const epoch = lease.epoch()
    const [, fenced] = await Promise.all([
      silence(nodeId, LEASE_SECONDS + 1),
      fenceSilentNodes(database.db, other),
    ])
    if (fenced.includes(nodeId))
      await until(() => lease.epoch() > epoch && lease.isHeld(lease.epoch()))
    else {
      await sleep(5)
      const { rows } = await sql<{ isFenced: boolean }>`
        select fenced_at is not null as "isFenced" from nodes where id = ${nodeId}`.execute(
        database.db,
      )
      assert.equal(rows[0]?.isFenced, false)
    }
  }
})

test('a node fences no other before it has been in contact with the database for a whole lease', async () => {
  const clock = handClock()
  const lease = await open(20, clock)
  assert.ok(lease.contactMs() < LEASE_SECONDS * 1_000)
  for (let second = 0; second < LEASE_SECONDS + 1; second += 1) {
    clock.pass(1_000)
    await until(() => lease.contactMs() > 0)
    await sleep(60)
  }
  assert.ok(lease.contactMs() >= LEASE_SECONDS * 1_000)
  // A silence of this node or of the database restarts the count.
  clock.pass(25_000)
  assert.equal(lease.contactMs(), 0)
  await until(() => lease.isHeld(0))
  assert.ok(lease.contactMs() < 1_000)
})

test('a stopped node holds no lease, and its holds are orphaned at once', async () => {
  const lease = await open(NEVER_MS)
  const nodeId = lease.nodeId()
  await lease.stop()
  leases.splice(leases.indexOf(lease), 1)
  assert.equal(lease.isHeld(0), false)
  const { rows } = await sql<{ stopped: boolean }>`
    select stopped_at is not null as stopped from nodes where id = ${nodeId}`.execute(database.db)
  assert.deepEqual(rows, [{ stopped: true }])
})
