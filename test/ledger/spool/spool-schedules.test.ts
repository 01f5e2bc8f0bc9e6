// deep: generated schedules
/**
 * Generated schedules of appends, replays, crashes and disk errors. Each row of a hold has a version,
 * which grows with each append.
 */
import assert from 'node:assert/strict'
import { readdir } from 'node:fs/promises'
import { test } from 'node:test'
import fc from '../../harness/fast-check.ts'
import { openSpool, type Spool } from '../../../src/money/ledger/spool/spool.ts'
import { SpoolAppendFailed } from '../../../src/money/ledger/spool/append-durably.ts'
import { createId } from '../../../src/platform/lib/ids.ts'
import { effort, seedOr } from '../../harness/effort.ts'
import { createFailingDisk, type DiskStep } from './failing-disk.ts'
import { recordEvents, spoolFolder, testRow, versionOf } from './spool-rows.ts'

const HOLDS = 4

type Outcome = 'taken' | 'unreachable' | 'refused' | 'throws'

type Step =
  | { kind: 'append'; holds: number[] }
  /** The rows are appended while it runs. */
  | { kind: 'replay'; outcomes: Outcome[]; holds: number[] }
  /** Another process takes over, as after a kill. */
  | { kind: 'crash' }
  | { kind: 'wait' }

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('append' as const),
      holds: fc.array(fc.nat(HOLDS - 1), { minLength: 1, maxLength: 4 }),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('replay' as const),
      outcomes: fc.array(fc.constantFrom('taken', 'unreachable', 'refused', 'throws'), {
        minLength: 1,
        maxLength: 5,
      }),
      holds: fc.array(fc.nat(HOLDS - 1), { maxLength: 3 }),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ kind: 'crash' as const }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'wait' as const }) },
)
/** The kinds of disk steps that may fail, how many of ten do, and the dice. */
const failures = fc.record({
  kinds: fc.subarray<DiskStep>([
    'open',
    'write',
    'datasync',
    'sync',
    'truncate',
    'rename',
    'unlink',
  ]),
  ofTen: fc.integer({ min: 2, max: 9 }),
  dice: fc.array(fc.integer({ min: 0, max: 9 }), { minLength: 7, maxLength: 40 }),
})
type Failures = typeof failures extends fc.Arbitrary<infer T> ? T : never

test('an acknowledged row is taken in the end, no older row follows a handed-over one, and no rejected row is replayed', async () => {
  let handedOver = 0
  let rejected = 0
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 25 }), failures, async (steps, failing) => {
      const world = await openWorld(failing)
      for (const each of steps) await world.take(each)
      await world.end()
      handedOver += world.counts.handedOver
      rejected += world.counts.rejected
    }),
    {
      numRuns: effort({ ordinary: 250, full: 20_000 }),
      seed: seedOr(714),
    },
  )
  assert.ok(handedOver > 0 && rejected > 0, 'the schedules reach both')
})

async function openWorld({ kinds, ofTen, dice }: Failures) {
  const dir = await spoolFolder()
  const ids = Array.from({ length: HOLDS }, () => createId())
  const nextVersion = new Map<string, number>()
  /** The newest acknowledged version. */
  const kept = new Map<string, number>()
  const taken = new Map<string, number>()
  const shown = new Map<string, number>()
  const mustNotCome = new Set<string>()
  /** Rows that must not come as long as this process lives. */
  const mustNotComeNow = new Set<string>()
  const counts = { handedOver: 0, rejected: 0 }
  let outcomes: Outcome[] = ['taken']
  let rolled = 0
  let clock = 0
  const roll = (): number => dice[rolled++ % dice.length] as number
  const failing = createFailingDisk((bytes) => Math.floor((bytes * roll()) / 9))
  let isHealthy = true
  failing.fails = (kind) => !isHealthy && kinds.includes(kind) && roll() < ofTen

  const open = (): Promise<Spool> => {
    // A process that fails to start is started again, until the disk permits it.
    isHealthy = true
    return openSpool({
      dir,
      nodeId: createId(),
      log: recordEvents().log,
      disk: failing.disk,
      now: () => clock,
      async replay(row) {
        const version = versionOf(row)
        counts.handedOver += 1
        const name = `${row.id} ${version}`
        assert.ok(
          !mustNotCome.has(name) && !mustNotComeNow.has(name),
          'a rejected row is not replayed',
        )
        assert.ok(version >= (shown.get(row.id) ?? 0), 'no older row follows a newer one')
        assert.ok(version >= (kept.get(row.id) ?? 0), 'the newest acknowledged row is meant')
        shown.set(row.id, version)
        const outcome = outcomes[roll() % outcomes.length]
        if (outcome === 'throws') throw new Error('of the database')
        if (outcome === 'taken') taken.set(row.id, version)
        return outcome ?? 'taken'
      },
    })
  }
  let spool = await open()

  async function append(hold: number): Promise<void> {
    const id = ids[hold] as string
    const version = (nextVersion.get(id) ?? 0) + 1
    nextVersion.set(id, version)
    try {
      await spool.append(testRow(id, version))
      kept.set(id, Math.max(version, kept.get(id) ?? 0))
      assert.ok(spool.has(id), 'it waits')
    } catch (error) {
      if (!(error instanceof SpoolAppendFailed)) throw error
      counts.rejected += 1
      ;(error.mayRemain ? mustNotComeNow : mustNotCome).add(`${id} ${version}`)
    }
  }

  async function replay(some: Outcome[]): Promise<void> {
    outcomes = some
    await spool.replayAll()
  }

  return {
    counts,
    async take(step: Step): Promise<void> {
      isHealthy = false
      if (step.kind === 'append') await Promise.all(step.holds.map(append))
      else if (step.kind === 'replay')
        await Promise.all([replay(step.outcomes), ...step.holds.map(append)])
      else if (step.kind === 'wait') clock += 600_000
      else {
        spool = await open()
        mustNotComeNow.clear()
      }
    },
    async end(): Promise<void> {
      isHealthy = true
      clock += 600_000
      await replay(['taken'])
      assert.equal(spool.length, 0)
      for (const id of ids) {
        assert.ok(!spool.has(id))
        assert.ok((taken.get(id) ?? 0) >= (kept.get(id) ?? 0), 'what was acknowledged is taken')
      }
      assert.equal(spool.setAsideCount, 0)
      await spool.close()
      assert.deepEqual(await readdir(dir), [])
    },
  }
}
