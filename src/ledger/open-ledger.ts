/**
 * The ledger as the hot path sees it: hold, checkpoint, resolve. See README.md for what it owns and promises.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Log } from '../lib/log.ts'
import type { Attempt, CountOnly, LedgerUnavailable, Verdict } from './attempt.ts'
import { createLane, type Lane, type LaneObserver } from './lane.ts'
import { ConnectionLost } from './lane-connection.ts'
import type { Mark } from './lane-work.ts'
import type { LeaseView } from './lease.ts'
import { toRow, type Resolution, type ResolutionRow, type Resolved } from './resolution.ts'
import { AccountLocked } from './set-aside.ts'
import { openSpool } from './spool.ts'

export interface Ledger {
  /** Sets the money aside, or says why not. Anything but `held` leaves nothing behind. */
  hold(attempt: Attempt): Promise<Verdict | LedgerUnavailable>
  /** Counts a refused call against the rate limits and says where it stands. */
  count(count: CountOnly): Promise<Verdict | LedgerUnavailable>
  /**
   * Checkpoints running calls. Lost without harm when the database is unavailable. Returns those whose hold is there
   * and, from now on, would survive a crash of the database.
   */
  mark(marks: readonly Mark[]): Promise<readonly Mark[]>
  /**
   * Ends a hold and says what is stored of it, durably. `call`: what the node knows of the call that runs; left out
   * for a resolution that is nobody's running call (an orphan): that one is tried once, and `unavailable` where the
   * database does not take it. Never rejects, and may be repeated.
   */
  resolve(resolution: Resolution, call?: CallInDoubt): Promise<Resolved>
  /** Tries again to hand the spool to the database. */
  replaySpool(): Promise<void>
  /** True while a resolution of this hold waits in the spool. */
  isSpooled(holdId: string): boolean
  readonly spoolLength: number
  readonly waiting: number
  close(): Promise<void>
}

/** What a node knows of a call whose hold it resolves. */
export interface CallInDoubt {
  /** The hold would survive a crash of the database; only then a charge may go to the spool. */
  readonly isKept: boolean
  /** The epoch of the lease under which the hold was taken. */
  readonly epoch: number
  /** Something of the answer is with the client already: its charge goes to the spool with or without a lease. */
  readonly isDelivered: boolean
}

/** How long settling is retried, while the client waits, before the call is given up. */
const DOUBT_MS_MAX = 30_000
const ASK_AGAIN_MS = 250
/** Beyond this, delivered answers that nothing took are charged by the last checkpoint of their holds. */
const UNRESOLVED_MAX = 10_000

export async function openLedger(options: {
  databaseUrl: string
  lease: LeaseView
  laneCount: number
  spoolDir: string
  log: Log
  observer: LaneObserver
}): Promise<Ledger> {
  const { log, lease } = options
  const nodeId = (): string => lease.nodeId()
  const lanes = Array.from({ length: options.laneCount }, () =>
    createLane({ databaseUrl: options.databaseUrl, nodeId, observer: options.observer }),
  )
  /** Charges of delivered answers that neither the database nor the disk took, as long as this process lives. */
  const unresolved = new Map<string, ResolutionRow>()
  const laneOf = (customerId: string): Lane => lanes[hash(customerId) % lanes.length] as Lane

  const spool = await openSpool({
    dir: options.spoolDir,
    nodeId: nodeId(),
    log,
    async replay(row) {
      const outcome = await submitRow(row)
      if (typeof outcome === 'string') return outcome
      if (outcome.kind === 'missing' && row.outcome === 'charged')
        log.error('charge_without_hold', { id: row.id })
      return 'taken'
    },
  })

  async function submitRow(row: ResolutionRow): Promise<Resolved | 'away' | 'refused'> {
    try {
      const resolved = (await laneOf(row.customer_id).submit({ kind: 'resolve', row })) as Resolved
      // A release of a hold that was never taken: there is nothing left to do.
      if (resolved.kind === 'missing' && row.outcome === 'released')
        return { kind: 'committed', isRepeated: false }
      if (resolved.kind === 'corrected') log.error('charge_corrected', { id: row.id })
      return resolved
    } catch (error) {
      if (error instanceof ConnectionLost || error instanceof AccountLocked) return 'away'
      log.error('resolution_refused', { id: row.id, outcome: row.outcome, error })
      return 'refused'
    }
  }

  /** Asks until the database answers, and turns to the spool where that is allowed. */
  async function resolveCall(resolution: Resolution, call: CallInDoubt): Promise<Resolved> {
    for (const deadline = performance.now() + DOUBT_MS_MAX; ; await sleep(ASK_AGAIN_MS)) {
      const outcome = await submitRow(toRow(resolution))
      if (typeof outcome !== 'string') return outcome
      if (resolution.outcome === 'released') return keepRelease(resolution)
      const mayCharge = call.isKept && (call.isDelivered || lease.isHeld(call.epoch))
      if (mayCharge && (await keep(resolution, call))) return { kind: 'spooled' }
      if (outcome === 'refused' || performance.now() >= deadline) break
    }
    if (call.isDelivered && unresolved.size < UNRESOLVED_MAX)
      unresolved.set(resolution.id, { ...toRow(resolution), is_final: true })
    return { kind: 'unavailable' }
  }

  /** Without a disk the reconciliation resolves the hold, by its last checkpoint. */
  async function keepRelease(resolution: Resolution): Promise<Resolved> {
    try {
      await spool.append(toRow(resolution))
      return { kind: 'spooled' }
    } catch (error) {
      log.error('spool_append_failed', { id: resolution.id, error })
      return { kind: 'unavailable' }
    }
  }

  async function resolveUnresolved(): Promise<void> {
    for (const [id, row] of unresolved) {
      const outcome = await submitRow(row)
      if (outcome === 'away') return
      if (outcome !== 'refused') unresolved.delete(id)
    }
  }

  /**
   * Puts a charge on the disk. False where the disk does not take it, or where the lease lapsed meanwhile and the
   * answer must not be delivered: then a later record in the spool takes the charge back.
   */
  async function keep(resolution: Resolution, call: CallInDoubt): Promise<boolean> {
    const row = { ...toRow(resolution), is_final: true }
    try {
      await spool.append(row)
    } catch (error) {
      log.error('spool_append_failed', { id: row.id, error })
      return false
    }
    if (call.isDelivered || lease.isHeld(call.epoch)) return true
    try {
      await spool.append({ ...toRow({ ...resolution, ...NOTHING_USED }), is_final: true })
      return false
    } catch (error) {
      // The charge is on the disk and stays there: the answer that it pays for is delivered.
      log.error('spool_append_failed', { id: row.id, error })
      return true
    }
  }

  return {
    async hold(attempt) {
      try {
        return (await laneOf(attempt.customerId).submit({ kind: 'attempt', attempt })) as Verdict
      } catch (error) {
        log.error('hold_failed', { id: attempt.id, error })
        return { kind: 'unavailable' }
      }
    },
    async count(count) {
      try {
        return (await (lanes[0] as Lane).submit({ kind: 'count', count })) as Verdict
      } catch (error) {
        log.warn('count_failed', { error })
        return { kind: 'unavailable' }
      }
    },
    async mark(marks) {
      const byLane = Map.groupBy(marks, ({ customerId }) => laneOf(customerId))
      const kept = await Promise.all(
        [...byLane].map(async ([lane, some]) => {
          try {
            const result = await lane.submit({ kind: 'mark', marks: some })
            return result.kind === 'marked' && result.hasFoundAll ? some : []
          } catch (error) {
            log.warn('mark_failed', { error })
            return []
          }
        }),
      )
      return kept.flat()
    },
    async resolve(resolution, call) {
      if (call) return resolveCall(resolution, call)
      const outcome = await submitRow(toRow(resolution))
      return typeof outcome === 'string' ? { kind: 'unavailable' } : outcome
    },
    async replaySpool() {
      await spool.replayAll()
      await resolveUnresolved()
    },
    isSpooled: (holdId) => spool.has(holdId) || unresolved.has(holdId),
    get spoolLength() {
      return spool.length + unresolved.size
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

const NOTHING_USED = {
  outcome: 'released',
  reason: 'lease_lapsed',
  usageKind: 'none',
  promptTokens: 0,
  cachedTokens: 0,
  cacheWriteTokens: 0,
  completionTokens: 0,
  reasoningTokens: 0,
  costPicoUsd: 0n,
  billedNanoBrl: 0n,
  billedPicoUsd: 0n,
  priceId: null,
  units: null,
} as const

/** Spreads customers over lanes by the random end of their id. */
function hash(customerId: string): number {
  return Number.parseInt(customerId.slice(-6), 16)
}
