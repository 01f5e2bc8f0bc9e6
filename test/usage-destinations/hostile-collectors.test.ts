// deep: an attack
/** A hostile customer or collector takes no place, and no memory, that belongs to others. */
import assert from 'node:assert/strict'
import { after, afterEach, beforeEach, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { askForTest } from '../../src/deliveries/usage-destinations/usage-destinations.ts'
import { startOtlpCollector, type OtlpCollector } from '../harness/otlp-collector.ts'
import { createTestDatabase } from '../harness/test-database.ts'
import {
  createTestExport,
  currentDestination,
  seedCalls,
  seedDestination,
  sendAll,
} from '../harness/usage-destinations.ts'

const database = await createTestDatabase()
const { db } = database
let good: OtlpCollector
let hostile: OtlpCollector
beforeEach(async () => {
  await sql`truncate usage_destinations`.execute(db)
  good = await startOtlpCollector()
  hostile = await startOtlpCollector()
})
afterEach(() => {
  good.close()
  hostile.close()
})
after(() => database.drop())

const makeQuick = () => sql`update usage_destinations set latency_ms = 5`.execute(db)

test('a destination is sent to once at a time, however often a test is asked for meanwhile', async () => {
  const mine = await seedDestination(db, hostile.url)
  hostile.answer = () => true
  const sender = createTestExport(db, { timeoutMs: 1_000 })
  for (let times = 0; times < 6; times++) {
    await askForTest(db, { customerId: mine.customerId, id: mine.destination.id })
    await sender.startDue()
    await sleep(20)
  }
  assert.equal(hostile.requests.length, 1)
  hostile.answer = () => false
  await sender.whenIdle()
  const { testedAt, testError } = await currentDestination(db, mine)
  assert.ok(testedAt, 'what was asked for meanwhile follows at once')
  assert.equal(testError, null)
  await sender.stop()
})

test('tests of collectors that hang take no places of quick destinations', async () => {
  hostile.answer = () => true
  for (let count = 0; count < 12; count++) {
    const { customerId, destination } = await seedDestination(db, hostile.url)
    await askForTest(db, { customerId, id: destination.id })
  }
  const mine = await seedDestination(db, good.url)
  await seedCalls(db, mine, 1)
  await makeQuick()
  await sql`update usage_destinations set due_at = now() - interval '1 s' where id <> ${mine.destination.id}`.execute(
    db,
  )
  const sender = createTestExport(db, { timeoutMs: 30_000 })
  await sender.startDue()
  // Long before a try of a hostile one ends.
  for (const deadline = Date.now() + 30_000; good.spans.length === 0; await sleep(20))
    assert.ok(Date.now() < deadline, 'the quick one waits')
  assert.equal(good.spans.length, 1)
  hostile.close()
  await sender.stop()
})

test('a text that is nested too deep to be written is left out', async () => {
  const mine = await seedDestination(db, good.url, { includesContent: true })
  const [event] = await seedCalls(db, mine, 1)
  const deep = `[{"role":"user","content":[{"type":"x","deep":${'['.repeat(60_000)}${']'.repeat(60_000)}}]}]`
  const id = String(event?.id)
  const sender = createTestExport(db, {
    store: {
      measure: async () => [{ id, inputBytes: 130_000, responseBytes: 2 }] as never,
      read: async () => new Map([[id, { input: deep, output: '[]' }]]) as never,
    },
  })
  await sendAll(db, sender)
  assert.deepEqual(
    good.spans.map(({ attributes }) => attributes['catraca.content_omitted']),
    ['unreadable'],
  )
  await sender.stop()
})
