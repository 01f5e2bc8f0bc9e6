/** Runs one batch of works over one connection. */
import pg from 'pg'
import { arrayText } from '../../../platform/db/composite-text.ts'
import { FUNCTIONS_SCHEMA } from '../../../platform/db/functions.ts'
import { type LaneConnection, createLaneConnection } from './lane-connection.ts'
import { type LaneResult, type LaneWork, customerOf } from './ledger-fields.ts'
import { layOutBatch } from './lay-out-batch.ts'
import { COMMITTED, readResolved, type Resolved } from '../resolution.ts'
import type { Verdict, VerdictKind } from '../attempt.ts'

const STATEMENT = {
  name: 'ledger_batch',
  // Qualified, because the sets of other releases have a function of this name, and the parameters are untyped.
  text: `select ${FUNCTIONS_SCHEMA}.ledger_batch($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
}

/**
 * The results in the order of the works; or, if nothing was done, the customers whose accounts are locked elsewhere.
 */
export type BatchOutcome =
  | { readonly kind: 'done'; readonly results: LaneResult[] }
  | { readonly kind: 'busy'; readonly customerIds: readonly string[] }

export async function runBatch(
  connection: LaneConnection,
  nodeId: string,
  works: readonly LaneWork[],
  { skipsLocked }: { readonly skipsLocked: boolean },
): Promise<BatchOutcome> {
  const batch = layOutBatch(works)
  const text = (await connection.run(STATEMENT, [
    nodeId,
    arrayText(batch.customerIds),
    orNull(batch.resolutions),
    orNull(batch.checkpoints),
    arrayText(batch.subjects),
    `{${batch.subjectRequests.join(',')}}`,
    orNull(batch.attempts),
    String(batch.commitsAsynchronously),
    String(skipsLocked),
  ])) as string
  if (text.startsWith('busy;')) return { kind: 'busy', customerIds: text.slice(5).split(',') }
  const [words, unwritten, at, ...verdicts] = text.split(';')
  const lost = new Set(unwritten ? unwritten.split(',').map(Number) : [])
  let checkpoint = 0
  const resolved = readWords(words as string)
  let resolution = 0
  const results = works.map((each): LaneResult => {
    if (each.kind === 'checkpoint') {
      const written = each.checkpoints.filter(() => !lost.has((checkpoint += 1)))
      return { kind: 'written', checkpoints: written }
    }
    if (each.kind === 'resolve') resolution += 1
    return (each.kind === 'resolve' && resolved?.get(resolution)) || COMMITTED
  })
  verdicts.forEach((verdict, index) => {
    results[batch.order[index] as number] = readVerdict(
      verdict,
      Number(at),
      !batch.commitsAsynchronously,
    )
  })
  return { kind: 'done', results }
}

/** `<place>:<word>` with commas between, for the resolutions that found no hold. */
function readWords(text: string): ReadonlyMap<number, Resolved> | undefined {
  if (text === '') return undefined
  return new Map(
    text.split(',').map((line) => {
      const colon = line.indexOf(':')
      return [Number(line.slice(0, colon)), readResolved(line.slice(colon + 1))] as const
    }),
  )
}

function orNull(rows: readonly string[]): string | null {
  return rows.length === 0 ? null : arrayText(rows)
}

/** Parses a verdict that the SQL function `verdict_text` wrote; `VERDICT_FIELDS` lists its fields in order. */
export function readVerdict(text: string, atMs: number, isDurable: boolean): Verdict {
  const [kind, keySequence, ipSequence, balance, held, budgetLeft, teamLeft, ...cap] =
    text.split(',')
  const [capLeft, capLimit, capUntil] = cap
  return {
    kind: kind as VerdictKind,
    keySequence: keySequence ? Number(keySequence) : null,
    ipSequence: ipSequence ? Number(ipSequence) : null,
    balanceNanoBrl: amountOf(balance),
    heldNanoBrl: amountOf(held),
    budgetLeftPicoUsd: amountOf(budgetLeft),
    teamLeftNanoBrl: amountOf(teamLeft),
    cap: capLeft
      ? {
          leftNanoBrl: BigInt(capLeft),
          limitNanoBrl: BigInt(capLimit as string),
          until: capUntil ? new Date(Number(capUntil)) : null,
        }
      : null,
    at: new Date(atMs),
    isDurable,
  }
}

function amountOf(text: string | undefined): bigint | null {
  return text ? BigInt(text) : null
}

/**
 * The works of customers whose accounts are locked elsewhere for long, by a stuck node or a long transaction. They
 * leave their lane, so that the other customers of the lane go on, and are tried here, one customer after the other,
 * over a separate connection. A work that is not done within `GIVE_UP_MS` is refused with `AccountLocked`, without an
 * effect.
 */
export class AccountLocked extends Error {
  constructor() {
    super('the account is locked by another transaction')
  }
}

export interface SetAside {
  /** True while works of this customer wait here: later ones must join them. */
  has(customerId: string | undefined): boolean
  submit(work: LaneWork): Promise<LaneResult>
  readonly waiting: number
  whenIdle(): Promise<void>
  close(): Promise<void>
}

const GIVE_UP_MS = 8_000
const LOCK_TIMEOUT_MS = 500
const BATCH_MAX = 256
/**
 * The codes of errors without an effect: a lock not granted in time, a lost deadlock, a statement that took too long.
 */
export const RETRYABLE: ReadonlySet<string> = new Set(['40P01', '40001', '55P03', '57014'])

interface Waiting {
  readonly work: LaneWork
  readonly giveUpAtMs: number
  resolve(result: LaneResult): void
  reject(error: unknown): void
}

export function createSetAside(options: { databaseUrl: string; nodeId: () => string }): SetAside {
  const connection = createLaneConnection(options.databaseUrl, LOCK_TIMEOUT_MS)
  const queues = new Map<string, Waiting[]>()
  let running: Promise<void> | undefined

  /** One attempt for each customer in turn, until no work is left. */
  async function drain(): Promise<void> {
    while (queues.size > 0) {
      for (const [customerId, queue] of queues) {
        await tryOnce(queue)
        if (queue.length === 0) queues.delete(customerId)
      }
    }
    running = undefined
  }

  async function tryOnce(queue: Waiting[]): Promise<void> {
    const batch = queue.splice(0, BATCH_MAX)
    const works = batch.map(({ work }) => work)
    try {
      const outcome = await runBatch(connection, options.nodeId(), works, { skipsLocked: false })
      if (outcome.kind === 'done')
        batch.forEach((each, index) => each.resolve(outcome.results[index] as LaneResult))
    } catch (error) {
      if (!(error instanceof pg.DatabaseError && RETRYABLE.has(error.code ?? ''))) {
        for (const each of batch) each.reject(error)
        return
      }
      const nowMs = performance.now()
      for (const each of batch) if (each.giveUpAtMs <= nowMs) each.reject(new AccountLocked())
      queue.unshift(...batch.filter((each) => each.giveUpAtMs > nowMs))
    }
  }

  return {
    has: (customerId) => customerId !== undefined && queues.has(customerId),
    submit(work) {
      return new Promise((resolve, reject) => {
        const customerId = customerOf(work) ?? ''
        const queue = queues.get(customerId)
        const waiting = { work, giveUpAtMs: performance.now() + GIVE_UP_MS, resolve, reject }
        if (queue) queue.push(waiting)
        else queues.set(customerId, [waiting])
        running ??= drain()
      })
    },
    get waiting() {
      let waiting = 0
      for (const queue of queues.values()) waiting += queue.length
      return waiting
    },
    whenIdle: () => running ?? Promise.resolve(),
    close: () => connection.close(),
  }
}
