/**
 * Works off the due rows of one kind on this node: mails, webhooks, destinations of usage, or lines of batches. Each lane has its
 * slots, a row takes one of them, and a slot that becomes free takes the next row at once: a slow receiver occupies only the
 * slots of its own rows. Nothing is kept here that must not be lost: a row is leased in the database, and due again when
 * the lease of a worker that died ends.
 */
import { isCustomerDeleted } from '../customers/customers.ts'
import { isLockTimeout } from '../platform/db/open.ts'
import type { Log } from '../platform/lib/log.ts'

export interface Lane<Row> {
  /** The most rows at once on this node. */
  readonly slots: number
  /**
   * Leases at most `limit` due rows. `busy` are the ids of those that run on this node, which must not be among them: where
   * a lease may end before the work does, or a row be made due again.
   */
  readonly claim: (limit: number, busy: readonly string[]) => Promise<readonly Row[]>
}

export interface RunnerOptions<Row> {
  /** What is delivered, for the log. */
  readonly kind: 'mail' | 'webhook' | 'usage' | 'batch'
  readonly lanes: readonly Lane<Row>[]
  readonly log: Log
  /** Tries one row and records the outcome. A failure of the receiver is an outcome; what this throws is a fault of ours. */
  readonly work: (row: Row) => Promise<void>
  /** Called with a row whose work threw. Without it, the row is due again when its lease ends. */
  readonly giveBack?: (row: Row) => Promise<void>
}

export interface Runner {
  /** Starts the due rows for which there is a free slot, and returns their number without waiting for them. */
  startDue(): Promise<number>
  /** Resolves when nothing runs. */
  whenIdle(): Promise<void>
  /** Starts nothing more, and waits for what runs. */
  stop(): Promise<void>
}

export function createRunner<Row extends { readonly id: string }>({
  kind,
  lanes,
  log,
  work,
  giveBack,
}: RunnerOptions<Row>): Runner {
  const running = new Map<Promise<void>, { readonly lane: Lane<Row>; readonly id: string }>()
  let filling: Promise<number> | undefined
  /** A slot may have become free since the running fill counted them. */
  let mustRepeat = false
  let isStopped = false

  const startDue = (): Promise<number> => {
    if (filling) mustRepeat = true
    else filling = fill()
    return filling
  }
  const fill = async (): Promise<number> => {
    let started = 0
    try {
      do {
        mustRepeat = false
        for (const lane of lanes) started += await fillLane(lane)
      } while (mustRepeat)
    } finally {
      filling = undefined
    }
    return started
  }
  const fillLane = async (lane: Lane<Row>): Promise<number> => {
    const rows = [...running.values()]
    const limit = lane.slots - rows.filter((row) => row.lane === lane).length
    if (isStopped || limit <= 0) return 0
    const claimed = await lane.claim(
      limit,
      rows.map(({ id }) => id),
    )
    for (const row of claimed) start(lane, row)
    return claimed.length
  }
  const start = (lane: Lane<Row>, row: Row): void => {
    const done = deliver(row).finally(() => {
      running.delete(done)
      // The free slot may have another row waiting for it.
      startDue().catch((error: unknown) => log.warn('deliveries_not_claimed', { kind, error }))
    })
    running.set(done, { lane, id: row.id })
  }
  const deliver = async (row: Row): Promise<void> => {
    const facts = { kind, id: row.id }
    try {
      await work(row)
    } catch (error) {
      // Nothing more is sent for a deleted account.
      if (isCustomerDeleted(error)) return
      // The database was busy, and the row is tried again.
      log[isLockTimeout(error) ? 'warn' : 'error']('delivery_failed', { ...facts, error })
      await giveBack?.(row).catch((error: unknown) =>
        log.warn('delivery_not_given_back', { ...facts, error }),
      )
    }
  }
  const whenIdle = async (): Promise<void> => {
    for (;;) {
      const work = [...running.keys(), ...(filling ? [filling] : [])]
      if (work.length === 0) return
      await Promise.allSettled(work)
    }
  }
  return {
    startDue,
    whenIdle,
    async stop() {
      isStopped = true
      await whenIdle()
    },
  }
}
