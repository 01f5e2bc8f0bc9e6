// deep: generated reports and schedules
/** The money of videos, with an upstream that says what it likes and processes that die. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import { reconcile } from '../../src/gateway/calls/reconcile.ts'
import { createRunningCalls } from '../../src/gateway/calls/running-calls.ts'
import { settleVideos } from '../../src/gateway/calls/videos/settle-videos.ts'
import { storeVideo } from '../../src/gateway/calls/videos/videos.ts'
import type { Provider, UpstreamFailure, VideoState } from '../../src/gateway/providers/contract.ts'
import { registerPrices } from '../../src/money/catalog/register-prices.ts'
import type { Model } from '../../src/money/catalog/model.ts'
import { findAccount } from '../../src/money/ledger/entries.ts'
import type { Lease } from '../../src/money/ledger/lease.ts'
import type { Attempt } from '../../src/money/ledger/attempt.ts'
import { readBacklog } from '../../src/platform/health/read-backlog.ts'
import { createLog } from '../../src/platform/lib/log.ts'
import { chargeFor, NANO_PER_BRL } from '../../src/platform/lib/money.ts'
import { assertAudit } from '../harness/assert-audit.ts'
import fc from '../harness/fast-check.ts'
import {
  heldLease,
  openTestLedger,
  testModel,
  type TestLedger,
} from '../harness/open-test-ledger.ts'
import { createTestDatabase, seedCustomer, type TestDatabase } from '../harness/test-database.ts'

const SECOND_PICO_USD = 100_000_000_000n
const log = createLog('silent', () => {})

let database: TestDatabase
let node: TestLedger
let priceId: number

before(async () => {
  database = await createTestDatabase()
  node = await openTestLedger(database.db, database.databaseUrl)
  const price = { ...testModel.price, units: { video_seconds: SECOND_PICO_USD } }
  const [model] = await registerPrices(database.db, [{ ...testModel, id: 'film', price }])
  priceId = (model as Model).price.id
})
after(async () => {
  await node.ledger.close()
  await database.drop()
})

const worth = (attempt: Attempt, seconds: number): bigint =>
  chargeFor(BigInt(seconds) * SECOND_PICO_USD, attempt)

/** Holds money for so many seconds, and stores their video. */
async function begin(seconds: number, ledger = node) {
  const { customerId, key } = await seedCustomer(database.db, { balanceBrl: '1000' })
  const plain = ledger.attempt(key, 1)
  const more = { modelId: 'film', priceId, amountNanoBrl: worth(plain, seconds), tokensCounted: 0 }
  const attempt = { ...plain, ...more }
  assert.equal((await ledger.ledger.hold(attempt)).kind, 'held')
  const video = {
    id: attempt.id,
    customerId,
    keyId: key.id,
    modelId: 'film',
    upstreamId: 'up',
    upstreamJob: 'job',
    priceId,
    unit: 'video_seconds',
    seconds,
    size: '1280x720',
  }
  return { attempt, customerId, video }
}

type Said = VideoState | UpstreamFailure

/** Answers in turn, the last one for ever. */
function providersOf(said: readonly Said[]): ReadonlyMap<string, Provider> {
  let at = 0
  const state = async (): Promise<Said> => said[Math.min(at++, said.length - 1)] as Said
  return new Map([['up', { videos: { state } } as unknown as Provider]])
}

async function rowOf(id: string) {
  return database.db.selectFrom('videos').selectAll().where('id', '=', id).executeTakeFirstOrThrow()
}

async function eventsOf(id: string) {
  return database.db.selectFrom('usage_events').selectAll().where('id', '=', id).execute()
}

/** Makes the video due, as old as this. */
async function wake(id: string, age = '2 minutes'): Promise<void> {
  await sql`update videos set due_at = now(), created_at = now() - ${age}::interval where id = ${id}
    and due_at is not null`.execute(database.db)
}

const failure = (status: number): UpstreamFailure => ({
  kind: 'failure',
  reason: 'server_error',
  status,
  detail: 'x',
})
const anySeconds = fc.constantFrom(undefined, -1, 0, 0.2, 1, 3.5, 4, 8, 9, 1e9, Infinity)
const running = fc.record({
  kind: fc.constant('video_state' as const),
  status: fc.constant('running' as const),
  progress: fc.integer({ min: 0, max: 100 }),
})
const ended = fc.oneof(
  anySeconds.map((seconds) => ({
    kind: 'video_state' as const,
    status: 'completed' as const,
    ...(seconds === undefined ? {} : { seconds }),
  })),
  fc.boolean().map((isRefused) => ({
    kind: 'video_state' as const,
    status: 'failed' as const,
    isRefused,
  })),
  fc.constant(failure(404)),
)
const said = fc.oneof(running, fc.constantFrom(failure(500), failure(401)), ended)

test('whatever an upstream says of a video, whoever dies and how many ask, it costs at most its hold, once', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 12 }),
      fc.array(said, { maxLength: 4 }),
      ended,
      fc.infiniteStream(fc.constantFrom('sound', 'sound', 'dies_before', 'dies_after')),
      async (seconds, before, last, deaths) => {
        const { attempt, customerId, video } = await begin(seconds)
        assert.ok(await storeVideo(database.db, video))
        const providers = providersOf([...before, last])
        const ledger = {
          async resolve(...of: Parameters<TestLedger['ledger']['resolve']>) {
            const death = deaths.next().value
            if (death === 'dies_before') throw new Error('killed')
            const resolved = await node.ledger.resolve(...of)
            if (death === 'dies_after') throw new Error('killed')
            return resolved
          },
        }
        for (let turn = 0; (await rowOf(video.id)).due_at !== null; turn += 1) {
          assert.ok(turn < 50, 'it ends')
          await wake(video.id)
          const deps = { db: database.db, ledger, providers, log }
          await Promise.all([settleVideos(deps), settleVideos(deps)])
        }
        const row = await rowOf(video.id)
        const events = await eventsOf(video.id)
        assert.equal(events.length, 1)
        const [event] = events
        const account = await findAccount(database.db, customerId)
        assert.equal(account?.heldNanoBrl, 0n)
        const billed = event?.cost_billed_nano_brl ?? -1n
        assert.equal(account.balanceNanoBrl, 1_000n * NANO_PER_BRL - billed)
        assert.equal(row.status, event?.outcome === 'charged' ? 'completed' : 'failed')
        if (row.status === 'failed') return assert.equal(billed, 0n)
        assert.ok(row.seconds >= 1 && row.seconds <= seconds, `${row.seconds} of ${seconds}`)
        assert.equal(billed, worth(attempt, row.seconds))
        assert.deepEqual(event?.units, { video_seconds: row.seconds })
      },
    ),
    { numRuns: 60 },
  )
  await assertAudit(database)
})

test('a video that is made for ever, or whose upstream is gone, costs nothing after six hours', async () => {
  for (const providers of [
    providersOf([{ kind: 'video_state', status: 'running' }]),
    providersOf([failure(500)]),
    new Map<string, Provider>(),
  ]) {
    const { video } = await begin(4)
    await storeVideo(database.db, video)
    const deps = { db: database.db, ledger: node.ledger, providers, log }
    await wake(video.id, '5 hours 59 minutes')
    await settleVideos(deps)
    assert.equal((await rowOf(video.id)).status, 'in_progress')
    await wake(video.id, '6 hours 1 minute')
    await settleVideos(deps)
    const row = await rowOf(video.id)
    assert.deepEqual([row.status, row.error_code], ['failed', 'video_timeout'])
    assert.deepEqual(
      (await eventsOf(video.id)).map(({ outcome }) => outcome),
      ['released'],
    )
  }
})

test('an upstream that does not know a job yet is asked again', async () => {
  const { video } = await begin(4)
  await storeVideo(database.db, video)
  const providers = providersOf([failure(404), { kind: 'video_state', status: 'completed' }])
  const deps = { db: database.db, ledger: node.ledger, providers, log }
  await wake(video.id, '10 seconds')
  await settleVideos(deps)
  assert.equal((await rowOf(video.id)).status, 'in_progress')
  await wake(video.id, '20 seconds')
  await settleVideos(deps)
  assert.equal((await rowOf(video.id)).status, 'completed')
})

test('the reconciliation leaves the holds of videos alone, and a fenced node hands none over', async () => {
  const dead = await openTestLedger(database.db, database.databaseUrl)
  try {
    const kept = await begin(4, dead)
    const late = await begin(4, dead)
    assert.ok(await storeVideo(database.db, kept.video))
    await sql`update nodes set fenced_at = now() where id = ${dead.nodeId}`.execute(database.db)
    assert.equal(await storeVideo(database.db, late.video), undefined)
    const { orphanedHolds } = await readBacklog(database.db, 3_600)
    assert.equal(orphanedHolds, 1, 'the hold of a video is no reason for an alarm')
    const lease: Lease = {
      ...heldLease(node.nodeId),
      contactMs: () => 60_000,
      sinceContactMs: () => 0,
      stop: async () => {},
    }
    const calls = createRunningCalls()
    await reconcile({ db: database.db, ledger: node.ledger, lease, calls, log })
    assert.equal((await eventsOf(kept.video.id)).length, 0, 'its row keeps it')
    assert.equal((await eventsOf(late.video.id))[0]?.outcome, 'released')
    // Nor of this node, whose calls end long before.
    const own = await begin(4)
    assert.ok(await storeVideo(database.db, own.video))
    await sql`update holds set created_at = now() - interval '1 hour' where id = ${own.video.id}`.execute(
      database.db,
    )
    await reconcile({ db: database.db, ledger: node.ledger, lease, calls, log })
    assert.equal((await eventsOf(own.video.id)).length, 0)
    assert.equal(await storeVideo(database.db, { ...own.video, id: late.video.id }), undefined)
  } finally {
    await dead.ledger.close()
  }
})
