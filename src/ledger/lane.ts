/**
 * A lane runs `ledger_batch` over one connection, one batch after the other. All calls of a customer
 * go through the same lane of a node, so a node never waits for itself on an account's lock.
 */
import pg from 'pg'
import { compositeArrayText } from '../db/composite-text.ts'
import { createNaturalBatcher } from '../lib/natural-batcher.ts'
import { createLaneConnection, type LaneConnection } from './lane-connection.ts'
import { layOutBatch } from './lay-out-batch.ts'
import type { LaneWork } from './lane-work.ts'
import type { Verdict, VerdictKind } from './attempt.ts'

/** The verdict of an attempt or a count; undefined for a resolution or a mark. */
export type LaneResult = Verdict | undefined

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
  text: 'select ledger_batch($1, $2, $3, $4, $5, $6, $7) as answer',
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
  const batch = layOutBatch(works)
  const { rows } = await connection.query(STATEMENT.name, STATEMENT.text, [
    options.nodeId,
    batch.customerIds,
    orNull(batch.resolutions),
    orNull(batch.marks),
    batch.subjects,
    batch.subjectRequests,
    orNull(batch.attempts),
  ])
  const answer = (rows[0] as { answer: Answer }).answer
  if (answer.gone) options.observer.gone(answer.gone)
  const results: LaneResult[] = works.map(() => undefined)
  if (answer.verdicts) {
    const at = new Date(answer.verdicts.at)
    answer.verdicts.list.forEach((row, index) => {
      results[batch.order[index] as number] = toVerdict(row, at)
    })
  }
  return results
}

interface Answer {
  gone: number | null
  verdicts: { at: string; list: VerdictRow[] } | null
}

interface VerdictRow {
  verdict: VerdictKind
  key_seq: number | null
  ip_seq: number
  balance: string | null
  held: string | null
  budget_left: string | null
  team_left: string | null
}

function toVerdict(row: VerdictRow, at: Date): Verdict {
  return {
    kind: row.verdict,
    keySequence: row.key_seq,
    ipSequence: row.ip_seq,
    balanceNanoBrl: amountOf(row.balance),
    heldNanoBrl: amountOf(row.held),
    budgetLeftPicoUsd: amountOf(row.budget_left),
    teamLeftNanoBrl: amountOf(row.team_left),
    at,
  }
}

function amountOf(text: string | null): bigint | null {
  return text === null ? null : BigInt(text)
}

function orNull(rows: readonly string[]): string | null {
  return rows.length === 0 ? null : compositeArrayText(rows)
}
