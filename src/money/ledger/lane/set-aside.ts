/**
 * The works of customers whose accounts are locked elsewhere for long, by a stuck node or a long transaction. They
 * leave their lane, so that the other customers of the lane go on, and are tried here, one customer after the other,
 * over a separate connection. A work that is not done within `GIVE_UP_MS` is refused with `AccountLocked`, without an
 * effect.
 */
import pg from 'pg'
import { createLaneConnection } from './lane-connection.ts'
import { customerOf, type LaneResult, type LaneWork } from './lane-work.ts'
import { runBatch } from './run-batch.ts'

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
