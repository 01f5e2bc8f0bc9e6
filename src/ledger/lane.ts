/**
 * A lane runs `ledger_batch` over one connection, one batch after the other. All calls of a customer
 * go through the same lane of a node, so a node never waits for itself on an account's lock.
 */
import pg from 'pg'
import { createNaturalBatcher } from '../lib/natural-batcher.ts'
import { createLaneConnection, type LaneConnection } from './lane-connection.ts'
import type { Attempt, CountOnly, Verdict, VerdictKind } from './attempt.ts'
import type { ResolutionRow } from './resolution.ts'

export type LaneWork =
  | { kind: 'attempt'; attempt: Attempt }
  | { kind: 'count'; count: CountOnly }
  | { kind: 'resolve'; row: ResolutionRow }
  | { kind: 'mark'; marks: readonly Mark[] }

/** A checkpoint of a running call: it was dispatched, and this much of its output was seen. */
export interface Mark {
  readonly id: string
  readonly outputTokensSeen: number
}

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
    options.observer.batch(works.length, performance.now() - startedAt)
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
  const batch = layOut(works)
  const { rows } = await connection.query(STATEMENT.name, STATEMENT.text, [
    options.nodeId,
    [...batch.customerIds],
    jsonOrNull(batch.resolutions),
    jsonOrNull(batch.marks),
    [...batch.subjects.keys()],
    [...batch.subjects.values()],
    jsonOrNull(batch.attempts),
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
}

function toVerdict(row: VerdictRow, at: Date): Verdict {
  return {
    kind: row.verdict,
    keySequence: row.key_seq,
    ipSequence: row.ip_seq,
    balanceNanoBrl: row.balance === null ? null : BigInt(row.balance),
    heldNanoBrl: row.held === null ? null : BigInt(row.held),
    budgetLeftPicoUsd: row.budget_left === null ? null : BigInt(row.budget_left),
    at,
  }
}

interface LaidOut {
  customerIds: Set<string>
  resolutions: ResolutionRow[]
  marks: { id: string; output_tokens_seen: number }[]
  subjects: Map<string, number>
  attempts: AttemptRow[]
  /** For each attempt, the index of its work. */
  order: number[]
}

/**
 * Sorts attempts by customer and key, as `take_holds` wants them, keeping their order within a key, and
 * counts the new requests of each rate window.
 */
function layOut(works: LaneWork[]): LaidOut {
  const batch: LaidOut = {
    customerIds: new Set(),
    resolutions: [],
    marks: [],
    subjects: new Map(),
    attempts: [],
    order: [],
  }
  const asking: {
    work: LaneWork & { kind: 'attempt' | 'count' }
    index: number
    sortKey: string
  }[] = []
  works.forEach((work, index) => {
    if (work.kind === 'resolve') {
      batch.customerIds.add(work.row.customer_id)
      batch.resolutions.push(work.row)
    } else if (work.kind === 'mark') {
      for (const mark of work.marks) {
        batch.marks.push({ id: mark.id, output_tokens_seen: mark.outputTokensSeen })
      }
    } else if (work.kind === 'attempt') {
      batch.customerIds.add(work.attempt.customerId)
      asking.push({ work, index, sortKey: work.attempt.customerId + work.attempt.key.id })
    } else {
      asking.push({ work, index, sortKey: work.count.key?.id ?? '' })
    }
  })
  asking.sort((left, right) =>
    left.sortKey < right.sortKey ? -1 : left.sortKey > right.sortKey ? 1 : 0,
  )
  for (const { work, index } of asking) {
    batch.order.push(index)
    batch.attempts.push(
      work.kind === 'attempt'
        ? attemptRow(work.attempt, batch.subjects)
        : countRow(work.count, batch.subjects),
    )
  }
  // From ranks, counted up from 1, to offsets, counted down to 0: only now the totals are known.
  for (const row of batch.attempts) {
    row.ip_offset -= batch.subjects.get(`i:${row.ip}`) as number
    if (row.key_offset !== undefined)
      row.key_offset -= batch.subjects.get(`k:${row.api_key_id}`) as number
  }
  return batch
}

/** Counts one more new request of this batch for a rate window; returns which one it is, from 1. */
function countSubject(subjects: Map<string, number>, subject: string, isNew: boolean): number {
  const rank = (subjects.get(subject) ?? 0) + (isNew ? 1 : 0)
  subjects.set(subject, rank)
  return rank
}

interface AttemptRow extends Record<string, unknown> {
  ip: string
  api_key_id: string | undefined
  ip_offset: number
  key_offset: number | undefined
}

function countRow(count: CountOnly, subjects: Map<string, number>): AttemptRow {
  return {
    is_repeated: false,
    api_key_id: count.key?.id,
    ip: count.ip,
    key_offset: count.key && countSubject(subjects, `k:${count.key.id}`, true),
    ip_offset: countSubject(subjects, `i:${count.ip}`, true),
    requests_per_minute: count.key?.requestsPerMinute,
    ip_requests_per_minute: count.ipLimit,
  }
}

function attemptRow(attempt: Attempt, subjects: Map<string, number>): AttemptRow {
  const isNew = !attempt.isRepeated
  return {
    id: attempt.id,
    is_repeated: attempt.isRepeated,
    customer_id: attempt.customerId,
    api_key_id: attempt.key.id,
    key_version: attempt.key.version,
    ip: attempt.ip,
    key_offset: countSubject(subjects, `k:${attempt.key.id}`, isNew),
    ip_offset: countSubject(subjects, `i:${attempt.ip}`, isNew),
    requests_per_minute: attempt.key.requestsPerMinute,
    ip_requests_per_minute: attempt.ipLimit,
    tokens_per_minute: attempt.key.tokensPerMinute,
    request_id: attempt.requestId,
    session_id: attempt.sessionId,
    model_id: attempt.modelId,
    is_stream: attempt.isStream,
    amount_nano_brl: attempt.amountNanoBrl.toString(),
    budget_pico_usd: attempt.budgetPicoUsd.toString(),
    price_id: attempt.priceId,
    fx_rate_id: attempt.fxRateId,
    fx_rate_e4: Number(attempt.fxRateE4),
    markup_e4: Number(attempt.markupE4),
    prompt_tokens_estimated: attempt.promptTokensEstimated,
    tokens_counted: attempt.tokensCounted,
  }
}

function jsonOrNull(rows: readonly unknown[]): string | null {
  return rows.length === 0 ? null : JSON.stringify(rows)
}
