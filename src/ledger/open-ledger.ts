/**
 * The ledger as the hot path sees it: hold, mark, resolve. See README.md for what it owns and promises.
 */
import type { Log } from '../lib/log.ts'
import type { Attempt, CountOnly, LedgerAway, Verdict } from './attempt.ts'
import { createLane, type Lane, type LaneObserver } from './lane.ts'
import type { Mark } from './lane-work.ts'
import { ConnectionLost } from './lane-connection.ts'
import { release, toRow, type Resolution, type ResolutionRow } from './resolution.ts'
import { openSpool } from './spool.ts'

export interface Ledger {
  /** Sets the money aside, or says why not. Anything but `held` leaves nothing behind. */
  hold(attempt: Attempt): Promise<Verdict | LedgerAway>
  /** Counts a refused call against the rate limits and says where it stands. */
  count(count: CountOnly): Promise<Verdict | LedgerAway>
  /** Checkpoints running calls. Lost without harm when the database is away. */
  mark(marks: readonly Mark[]): Promise<void>
  /**
   * Ends a hold. Resolves once the outcome is durable: committed by the database, or kept in the
   * spool from where it will be. Never rejects, and may be repeated.
   */
  resolve(resolution: Resolution): Promise<'committed' | 'spooled'>
  /** Tries again what the database could not take. */
  replaySpool(): Promise<void>
  readonly spoolLength: number
  readonly waiting: number
  close(): Promise<void>
}

export async function openLedger(options: {
  databaseUrl: string
  nodeId: string
  laneCount: number
  spoolDir: string
  log: Log
  observer: LaneObserver
}): Promise<Ledger> {
  const { log } = options
  const lanes = Array.from({ length: options.laneCount }, () => createLane(options))
  const laneOf = (customerId: string): Lane => lanes[hash(customerId) % lanes.length] as Lane

  const spool = await openSpool({
    dir: options.spoolDir,
    nodeId: options.nodeId,
    log,
    replay: (row) => submitRow(laneOf(row.customer_id), row),
  })

  async function resolveRow(row: ResolutionRow): Promise<'committed' | 'spooled'> {
    const outcome = await submitRow(laneOf(row.customer_id), row)
    if (outcome === 'taken') return 'committed'
    if (outcome === 'refused') log.error('resolution_refused', { id: row.id, outcome: row.outcome })
    await keep(row)
    return 'spooled'
  }

  /** The disk is the last place there is: as long as it fails too, the caller waits and the hold stays. */
  async function keep(row: ResolutionRow): Promise<void> {
    for (;;) {
      try {
        return await spool.append(row)
      } catch (error) {
        log.error('spool_append_failed', { id: row.id, error })
        await new Promise((resolve) => setTimeout(resolve, 1_000))
        if ((await submitRow(laneOf(row.customer_id), row)) === 'taken') return
      }
    }
  }

  return {
    async hold(attempt) {
      try {
        return (await laneOf(attempt.customerId).submit({ kind: 'attempt', attempt })) as Verdict
      } catch (error) {
        log.error('hold_failed', { id: attempt.id, error })
        // The hold may have been committed all the same: give it back, whichever it was.
        await keep(toRow(release(attempt, 'hold_unknown')))
        return { kind: 'away' }
      }
    },
    async count(count) {
      try {
        return (await (lanes[0] as Lane).submit({ kind: 'count', count })) as Verdict
      } catch (error) {
        log.warn('count_failed', { error })
        return { kind: 'away' }
      }
    },
    async mark(marks) {
      try {
        await (lanes[0] as Lane).submit({ kind: 'mark', marks })
      } catch (error) {
        log.warn('mark_failed', { error })
      }
    },
    resolve: (resolution) => resolveRow(toRow(resolution)),
    replaySpool: () => spool.replayAll(),
    get spoolLength() {
      return spool.length
    },
    get waiting() {
      return lanes.reduce((sum, lane) => sum + lane.waiting, 0)
    },
    async close() {
      await spool.replayAll()
      await spool.close()
      await Promise.all(lanes.map((lane) => lane.close()))
    },
  }
}

async function submitRow(lane: Lane, row: ResolutionRow): Promise<'taken' | 'away' | 'refused'> {
  try {
    await lane.submit({ kind: 'resolve', row })
    return 'taken'
  } catch (error) {
    return error instanceof ConnectionLost ? 'away' : 'refused'
  }
}

/** Spreads customers over lanes by the random end of their id. */
function hash(customerId: string): number {
  return Number.parseInt(customerId.slice(-6), 16)
}
