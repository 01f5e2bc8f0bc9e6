/**
 * The ledger as the hot path sees it: hold, mark, resolve. See README.md for what it owns and promises.
 */
import { setTimeout as sleep } from 'node:timers/promises'
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
  /**
   * Checkpoints running calls. Lost without harm when the database is away. True where each of their holds is
   * there and, from now on, would survive a crash of the database.
   */
  mark(marks: readonly Mark[]): Promise<boolean>
  /**
   * Ends a hold. Resolves once the outcome is durable: committed by the database, or kept in the
   * spool from where it will be. `missing`: the database forgot the hold in a crash, see `Attempt.mayLag`;
   * nothing is charged, and nothing may be answered. Never rejects, and may be repeated.
   */
  resolve(resolution: Resolution, hold?: HoldInDoubt): Promise<Resolved>
  /** Tries again what the database could not take. */
  replaySpool(): Promise<void>
  readonly spoolLength: number
  readonly waiting: number
  close(): Promise<void>
}

export type Resolved = 'committed' | 'spooled' | 'missing'

/** What is known of a hold that was taken with `mayLag`. */
export interface HoldInDoubt {
  /** It would survive a crash of the database. */
  readonly isKept: boolean
}

/** Of every other hold. */
const KEPT: HoldInDoubt = { isKept: true }
/** How long a charge is asked about whose hold may be forgotten, while its client waits. */
const DOUBT_MS_MAX = 30_000
const ASK_AGAIN_MS = 250

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
    async replay(row) {
      const outcome = await submitRow(laneOf(row.customer_id), row)
      if (outcome !== 'missing') return outcome
      if (row.outcome === 'charged') log.error('charge_without_hold', { id: row.id })
      return 'taken'
    },
  })

  async function resolveRow(row: ResolutionRow, hold: HoldInDoubt): Promise<Resolved> {
    for (const deadline = performance.now() + DOUBT_MS_MAX; ; await sleep(ASK_AGAIN_MS)) {
      const outcome = await submitRow(laneOf(row.customer_id), row)
      if (outcome === 'taken') return 'committed'
      if (outcome === 'missing') return 'missing'
      if (outcome === 'refused') {
        log.error('resolution_refused', { id: row.id, outcome: row.outcome })
        break
      }
      // From the spool a charge is taken only if its hold is there: that must be certain before.
      if (hold.isKept || row.outcome !== 'charged') break
      if (performance.now() >= deadline) {
        await keep(toRow(release({ id: row.id, customerId: row.customer_id }, 'hold_unknown')))
        return 'missing'
      }
    }
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
        await sleep(1_000)
        const outcome = await submitRow(laneOf(row.customer_id), row)
        if (outcome === 'taken' || outcome === 'missing') return
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
        return (await (lanes[0] as Lane).submit({ kind: 'mark', marks })) === 'done'
      } catch (error) {
        log.warn('mark_failed', { error })
        return false
      }
    },
    async resolve(resolution, hold = KEPT) {
      const resolved = await resolveRow(toRow(resolution), hold)
      // Of a release nothing is lost: its hold may never have been taken.
      return resolved === 'missing' && resolution.outcome === 'released' ? 'committed' : resolved
    },
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

async function submitRow(
  lane: Lane,
  row: ResolutionRow,
): Promise<'taken' | 'missing' | 'away' | 'refused'> {
  try {
    return (await lane.submit({ kind: 'resolve', row })) === 'missing' ? 'missing' : 'taken'
  } catch (error) {
    return error instanceof ConnectionLost ? 'away' : 'refused'
  }
}

/** Spreads customers over lanes by the random end of their id. */
function hash(customerId: string): number {
  return Number.parseInt(customerId.slice(-6), 16)
}
