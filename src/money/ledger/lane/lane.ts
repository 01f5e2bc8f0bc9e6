/**
 * A lane runs batches over one connection, one after the other. All calls of a customer go through the same lane of a
 * node, so a node never waits for itself on an account's lock. Customers whose account is locked elsewhere for long are
 * set aside (`set-aside.ts`), so that they do not stop the others.
 *
 * Group commit by natural batching: while a batch runs, new work waits, and the next batch takes all of it.
 */
import pg from 'pg'
import { createNaturalBatcher } from '../../../platform/lib/natural-batcher.ts'
import { createLaneConnection, type LaneConnection } from './lane-connection.ts'
import { customerOf, type LaneResult, type LaneWork } from './ledger-fields.ts'
import { runBatch, AccountLocked, createSetAside, RETRYABLE, type SetAside } from './run-batch.ts'

export interface Lane {
  submit(work: LaneWork): Promise<LaneResult>
  readonly waiting: number
  close(): Promise<void>
}

export interface LaneObserver {
  batch(size: number, durationMs: number): void
  /** Resolutions that found no hold: repeats, or holds that another node resolved. */
  gone(count: number): void
}

interface LaneOptions {
  readonly databaseUrl: string
  readonly nodeId: () => string
  readonly observer: LaneObserver
}

/** A larger batch makes the others wait longer than it saves. */
const BATCH_MAX = 256
/** Longer than a healthy node ever locks an account, even with a slow disk. */
const LOCK_TIMEOUT_MS = 400
/** A transaction that lost a deadlock, or waited too long for a lock, changed nothing and is run again. */
const RETRIES_MAX = 4

/** A result, or the error with which this work was refused. */
type Ran = LaneResult | Promise<LaneResult>

export function createLane(options: LaneOptions): Lane {
  const connection = createLaneConnection(options.databaseUrl, LOCK_TIMEOUT_MS)
  const aside = createSetAside(options)
  const batcher = createNaturalBatcher<LaneWork, Ran>(BATCH_MAX, async (works) => {
    const startedAt = performance.now()
    const results = await runWhole(connection, aside, options, works)
    const durationMs = performance.now() - startedAt
    // Runs after the callers have their results.
    setImmediate(() => observe(options.observer, results, durationMs))
    return results
  })
  return {
    submit: (work) => batcher.submit(work) as Promise<LaneResult>,
    get waiting() {
      return batcher.waiting + aside.waiting
    },
    async close() {
      await batcher.whenIdle()
      await aside.whenIdle()
      await connection.close()
      await aside.close()
    },
  }
}

/**
 * Runs a batch. Works of customers that are set aside join the earlier works there. A batch that the database refuses
 * for another reason than a lock is tried work by work, so that one work cannot fail the others.
 */
async function runWhole(
  connection: LaneConnection,
  aside: SetAside,
  options: LaneOptions,
  works: readonly LaneWork[],
): Promise<Ran[]> {
  const results: Ran[] = []
  let mine: number[] = []
  works.forEach((work, index) => {
    if (aside.has(customerOf(work))) results[index] = submitAside(aside, work)
    else mine.push(index)
  })
  let skipsLocked = false
  for (let retry = 0; mine.length > 0;) {
    const batch = mine.map((index) => works[index] as LaneWork)
    try {
      const outcome = await runBatch(connection, options.nodeId(), batch, { skipsLocked })
      if (outcome.kind === 'done') {
        mine.forEach(
          (index, position) => (results[index] = outcome.results[position] as LaneResult),
        )
        return results
      }
      const busy = new Set(outcome.customerIds)
      const isBusy = (index: number): boolean =>
        busy.has(customerOf(works[index] as LaneWork) ?? '')
      for (const index of mine.filter(isBusy))
        results[index] = submitAside(aside, works[index] as LaneWork)
      mine = mine.filter((index) => !isBusy(index))
    } catch (error) {
      if (!(error instanceof pg.DatabaseError)) throw error
      if (RETRYABLE.has(error.code ?? '')) {
        if (retry++ >= RETRIES_MAX) throw new AccountLocked()
        // A lock was not granted in time: from now on locked accounts are skipped.
        skipsLocked ||= error.code === '55P03'
        continue
      }
      if (mine.length === 1) throw error
      for (const index of mine) {
        const work = works[index] as LaneWork
        results[index] = settled(
          runWhole(connection, aside, options, [work]).then((one) => one[0] as Ran),
        )
        await Promise.allSettled([results[index]])
      }
      return results
    }
  }
  return results
}

function submitAside(aside: SetAside, work: LaneWork): Promise<LaneResult> {
  return settled(aside.submit(work))
}

/** The caller handles the rejection, but later than the runtime expects a handler. */
function settled(result: Promise<LaneResult>): Promise<LaneResult> {
  result.catch(() => {})
  return result
}

function observe(observer: LaneObserver, results: readonly Ran[], durationMs: number): void {
  observer.batch(results.length, durationMs)
  let gone = 0
  for (const result of results) {
    if (result instanceof Promise) continue
    if (result.kind === 'committed' ? result.isRepeated : FOUND_NO_HOLD.has(result.kind)) gone += 1
  }
  if (gone > 0) observer.gone(gone)
}

const FOUND_NO_HOLD: ReadonlySet<string> = new Set(['missing', 'superseded', 'corrected'])
