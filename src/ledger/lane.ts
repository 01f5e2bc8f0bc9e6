/**
 * A lane runs `ledger_batch`, or what stands for it where a call is alone, over one connection, one batch
 * after the other. All calls of a customer go through the same lane of a node, so a node never waits for
 * itself on an account's lock.
 */
import pg from 'pg'
import { arrayText } from '../db/composite-text.ts'
import { createNaturalBatcher } from '../lib/natural-batcher.ts'
import { createLaneConnection, type LaneConnection } from './lane-connection.ts'
import { layOutBatch } from './lay-out-batch.ts'
import type { LaneWork } from './lane-work.ts'
import type { Verdict } from './attempt.ts'
import { readVerdict } from './read-verdict.ts'
import { holdAlone, resolveAlone } from './run-alone.ts'

/**
 * The verdict of an attempt or a count. Of a resolution, `missing`: there is no such hold and no event of one.
 * Of marks, `missing`: not each of them found its hold.
 */
export type LaneResult = Verdict | 'done' | 'missing'

export interface Lane {
  submit(work: LaneWork): Promise<LaneResult>
  readonly waiting: number
  close(): Promise<void>
}

export interface LaneObserver {
  batch(size: number, durationMs: number): void
  /** Resolutions that found no hold: repeats, or a hold that somebody else resolved. */
  gone(count: number): void
}

/** More than this in one statement makes the others wait longer than it saves. */
const BATCH_MAX = 256
/** Transactions that lost a deadlock or waited too long for a lock changed nothing and are run again. */
const RETRIES_MAX = 5
const RETRYABLE = new Set(['40P01', '40001', '55P03', '57014'])

const STATEMENT = {
  name: 'ledger_batch',
  text: 'select ledger_batch($1, $2, $3, $4, $5, $6, $7, $8)',
}

export function createLane(options: {
  databaseUrl: string
  nodeId: string
  observer: LaneObserver
}): Lane {
  const connection = createLaneConnection(options.databaseUrl)
  const batcher = createNaturalBatcher<LaneWork, LaneResult>(BATCH_MAX, async (works) => {
    const startedAt = performance.now()
    const results = await runWhole(connection, options, works)
    const durationMs = performance.now() - startedAt
    // After those who wait for the results were told.
    setImmediate(() => options.observer.batch(works.length, durationMs))
    return results
  })
  return {
    submit: (work) => batcher.submit(work),
    get waiting() {
      return batcher.waiting
    },
    async close() {
      await batcher.whenIdle()
      await connection.close()
    },
  }
}

/** Runs a batch; where the database refuses it, its works one by one, so that one cannot fail the others. */
async function runWhole(
  connection: LaneConnection,
  options: { nodeId: string; observer: LaneObserver },
  works: LaneWork[],
): Promise<LaneResult[]> {
  for (let retry = 0; ; retry++) {
    try {
      return await runOnce(connection, options, works)
    } catch (error) {
      if (!(error instanceof pg.DatabaseError)) throw error
      if (RETRYABLE.has(error.code ?? '') && retry < RETRIES_MAX) continue
      if (works.length === 1) throw error
      const results: LaneResult[] = []
      for (const work of works) results.push(...(await runWhole(connection, options, [work])))
      return results
    }
  }
}

async function runOnce(
  connection: LaneConnection,
  options: { nodeId: string; observer: LaneObserver },
  works: LaneWork[],
): Promise<LaneResult[]> {
  const [work] = works
  if (work && works.length === 1) {
    if (work.kind === 'attempt') return [await holdAlone(connection, options.nodeId, work.attempt)]
    if (work.kind === 'resolve') {
      const outcome = await resolveAlone(connection, work.row)
      if (outcome !== 'done') options.observer.gone(1)
      return [outcome === 'missing' ? 'missing' : 'done']
    }
  }
  return runBatch(connection, options, works)
}

async function runBatch(
  connection: LaneConnection,
  options: { nodeId: string; observer: LaneObserver },
  works: LaneWork[],
): Promise<LaneResult[]> {
  const batch = layOutBatch(works)
  const text = await connection.run(STATEMENT, [
    options.nodeId,
    arrayText(batch.customerIds),
    orNull(batch.resolutions),
    orNull(batch.marks),
    arrayText(batch.subjects),
    `{${batch.subjectRequests.join(',')}}`,
    orNull(batch.attempts),
    String(batch.mayLag),
  ])
  const [gone, missing, marked, at, ...verdicts] = (text as string).split(';')
  if (gone !== '0') options.observer.gone(Number(gone))
  const hasMarkedAll = Number(marked) === batch.marks.length
  const results = works.map((work): LaneResult => {
    if (work.kind === 'mark') return hasMarkedAll ? 'done' : 'missing'
    return work.kind === 'resolve' && missing && missing.includes(work.row.id) ? 'missing' : 'done'
  })
  verdicts.forEach((verdict, index) => {
    results[batch.order[index] as number] = readVerdict(verdict, Number(at))
  })
  return results
}

function orNull(rows: readonly string[]): string | null {
  return rows.length === 0 ? null : arrayText(rows)
}
