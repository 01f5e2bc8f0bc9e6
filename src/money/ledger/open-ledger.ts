/**
 * The ledger as the hot path sees it: hold, checkpoint, resolve. See README.md for what it owns and promises.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Log } from '../../platform/lib/log.ts'
import type { Attempt, CountOnly, LedgerUnavailable, Verdict } from './attempt.ts'
import { createLane, type Lane, type LaneObserver } from './lane/lane.ts'
import { ConnectionLost } from './lane/lane-connection.ts'
import type { Checkpoint } from './lane/ledger-fields.ts'
import type { LeaseView } from './lease.ts'
import {
  COMMITTED,
  toRow,
  type Resolution,
  type ResolutionRow,
  type Resolved,
} from './resolution.ts'
import { AccountLocked } from './lane/run-batch.ts'
import { SpoolAppendFailed } from './spool/append-durably.ts'
import { openSpool } from './spool/spool.ts'

export interface Ledger {
  /** Takes a hold, or returns the reason why not. Every other verdict than `held` leaves no hold behind. */
  hold(attempt: Attempt): Promise<Verdict | LedgerUnavailable>
  /** Counts a refused request against the rate limits and returns its place in them. */
  count(count: CountOnly): Promise<Verdict | LedgerUnavailable>
  /**
   * Checkpoints running calls. A checkpoint is lost without harm when the database is unavailable. Returns the
   * checkpoints whose hold exists and from now on survives a crash of the database.
   */
  checkpoint(checkpoints: readonly Checkpoint[]): Promise<readonly Checkpoint[]>
  /**
   * Resolves a hold and returns the durable outcome. `call` describes the running call; it is left out for an orphaned
   * hold, whose resolution is tried once and is `unavailable` if the database does not take it. Never rejects, and may
   * be repeated.
   */
  resolve(resolution: Resolution, call?: CallInDoubt): Promise<Resolved>
  /** Retries the resolutions in the spool. */
  replaySpool(): Promise<void>
  /** True while a resolution of this hold waits in the spool. */
  isSpooled(holdId: string): boolean
  readonly spoolLength: number
  /** Unreadable pieces of the spool. */
  readonly spoolSetAside: number
  readonly waiting: number
  close(): Promise<void>
}

/** The state of a running call whose hold is being resolved. */
export interface CallInDoubt {
  /** The hold survives a crash of the database; only then may a charge go to the spool. */
  readonly isHoldDurable: boolean
  /** The epoch of the lease under which the hold was taken. */
  readonly epoch: number
  /** The client has a part of the answer already: its charge goes to the spool with or without a lease. */
  readonly isDelivered: boolean
}

const DOUBT_MS_MAX = 30_000
const ASK_AGAIN_MS = 250
/** Beyond this number, delivered answers that could not be stored are charged by the last checkpoint of their hold. */
const UNRESOLVED_MAX = 10_000

export async function openLedger(options: {
  databaseUrl: string
  lease: LeaseView
  laneCount: number
  spoolDir: string
  /** False: the spool of dead processes is left to the parent of this one. */
  takesOverSpool?: boolean
  log: Log
  observer: LaneObserver
  /** How long settling is retried while the client waits, in milliseconds, before the call is given up. */
  doubtMsMax?: number
}): Promise<Ledger> {
  const { log, lease, doubtMsMax = DOUBT_MS_MAX } = options
  const nodeId = (): string => lease.nodeId()
  const lanes = Array.from({ length: options.laneCount }, () =>
    createLane({ databaseUrl: options.databaseUrl, nodeId, observer: options.observer }),
  )
  /** Final outcomes that could be stored neither in the database nor on the disk; they are lost with this process. */
  const unresolved = new Map<string, ResolutionRow>()
  /** Holds whose charge is in the spool while it is still undecided whether the answer may be delivered. */
  const undecided = new Set<string>()
  const laneOf = (customerId: string): Lane => lanes[hash(customerId) % lanes.length] as Lane

  const spool = await openSpool({
    dir: options.spoolDir,
    nodeId: nodeId(),
    log,
    takesOver: options.takesOverSpool ?? true,
    async replay(row) {
      if (undecided.has(row.id)) return 'unreachable'
      const { kind } = await submitRow(row)
      if (kind === 'unreachable' || kind === 'refused') return kind
      if (kind === 'missing' && row.outcome === 'charged')
        log.error('charge_without_hold', { id: row.id })
      return 'taken'
    },
  })

  type Asked = Resolved | { kind: 'unreachable'; mayBeCommitted: boolean } | { kind: 'refused' }

  async function submitRow(row: ResolutionRow): Promise<Asked> {
    try {
      const resolved = (await laneOf(row.customer_id).submit({ kind: 'resolve', row })) as Resolved
      // A release of a hold that was never taken: there is nothing left to do.
      if (resolved.kind === 'missing' && row.outcome === 'released') return COMMITTED
      if (resolved.kind === 'corrected') log.error('charge_corrected', { id: row.id })
      if (resolved.kind === 'superseded' && row.is_final)
        log.error('final_outcome_superseded', { id: row.id, outcome: row.outcome })
      return resolved
    } catch (error) {
      if (error instanceof ConnectionLost)
        return { kind: 'unreachable', mayBeCommitted: error.wasSent }
      if (error instanceof AccountLocked) return { kind: 'unreachable', mayBeCommitted: false }
      log.error('resolution_refused', { id: row.id, outcome: row.outcome, error })
      return { kind: 'refused' }
    }
  }

  /** Retries until the database answers, and uses the spool if that is allowed. */
  async function resolveCall(resolution: Resolution, call: CallInDoubt): Promise<Resolved> {
    let mayBeCommitted = false
    for (const deadline = performance.now() + doubtMsMax; ; await sleep(ASK_AGAIN_MS)) {
      const asked = await submitRow(toRow(resolution))
      if (asked.kind !== 'unreachable' && asked.kind !== 'refused') return asked
      // Without a disk the reconciliation resolves the hold, by its last checkpoint.
      if (resolution.outcome === 'released')
        return (await append(toRow(resolution))) ? SPOOLED : UNAVAILABLE
      if (asked.kind === 'unreachable') mayBeCommitted ||= asked.mayBeCommitted
      if (call.isHoldDurable && (call.isDelivered || lease.isHeld(call.epoch))) {
        const kept = await keepCharge(resolution, call)
        if (kept === 'kept') return SPOOLED
        if (kept === 'taken_back') return UNAVAILABLE
        // The row may still be on the disk: if this process dies, the next one replays it.
        mayBeCommitted ||= kept === 'doubtful'
      }
      if (asked.kind === 'refused' || performance.now() >= deadline) break
    }
    if (call.isDelivered) keepInMemory({ ...toRow(resolution), is_final: true })
    else if (mayBeCommitted && !(await append(notDelivered(resolution))))
      keepInMemory(notDelivered(resolution))
    return UNAVAILABLE
  }

  /**
   * Writes a charge to the spool. `taken_back`: the lease lapsed meanwhile, so the answer must not be delivered, and a
   * later record replaces the charge. The replay skips the hold until that is decided; a process that dies in this
   * moment leaves a charge whose answer was not delivered.
   */
  async function keepCharge(
    resolution: Resolution,
    call: CallInDoubt,
  ): Promise<'kept' | 'taken_back' | 'failed' | 'doubtful'> {
    const row = { ...toRow(resolution), is_final: true }
    undecided.add(row.id)
    try {
      await spool.append(row)
      if (call.isDelivered || lease.isHeld(call.epoch)) return 'kept'
      // A charge that cannot be taken back stands, and its answer is delivered.
      return (await append(notDelivered(resolution))) ? 'taken_back' : 'kept'
    } catch (error) {
      log.error('spool_append_failed', { id: row.id, error })
      return error instanceof SpoolAppendFailed && error.mayRemain ? 'doubtful' : 'failed'
    } finally {
      undecided.delete(row.id)
    }
  }

  /** False if the disk fails. */
  async function append(row: ResolutionRow): Promise<boolean> {
    try {
      await spool.append(row)
      return true
    } catch (error) {
      log.error('spool_append_failed', { id: row.id, error })
      return false
    }
  }

  function keepInMemory(row: ResolutionRow): void {
    if (unresolved.size < UNRESOLVED_MAX) unresolved.set(row.id, row)
  }

  async function resolveUnresolved(): Promise<void> {
    for (const [id, row] of unresolved) {
      const { kind } = await submitRow(row)
      if (kind === 'unreachable') return
      if (kind !== 'refused') unresolved.delete(id)
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
    async checkpoint(checkpoints) {
      const byLane = Map.groupBy(checkpoints, ({ customerId }) => laneOf(customerId))
      const kept = await Promise.all(
        [...byLane].map(async ([lane, some]) => {
          try {
            const result = await lane.submit({ kind: 'checkpoint', checkpoints: some })
            return result.kind === 'written' ? result.checkpoints : []
          } catch (error) {
            log.warn('checkpoint_failed', { error })
            return []
          }
        }),
      )
      return kept.flat()
    },
    async resolve(resolution, call) {
      if (call) return resolveCall(resolution, call)
      const asked = await submitRow(toRow(resolution))
      return asked.kind === 'unreachable' || asked.kind === 'refused' ? UNAVAILABLE : asked
    },
    async replaySpool() {
      await spool.replayAll()
      await resolveUnresolved()
    },
    isSpooled: (holdId) => spool.has(holdId) || unresolved.has(holdId),
    get spoolLength() {
      return spool.length + unresolved.size
    },
    get spoolSetAside() {
      return spool.setAsideCount
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

const SPOOLED: Resolved = { kind: 'spooled' }
const UNAVAILABLE: Resolved = { kind: 'unavailable' }

const NOTHING_USED = {
  outcome: 'released',
  reason: 'not_delivered',
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

/** The answer is not delivered: its charge, stored already or still on its way, is corrected to a release. */
function notDelivered(resolution: Resolution): ResolutionRow {
  return { ...toRow({ ...resolution, ...NOTHING_USED }), is_final: true }
}

/** Spreads customers over lanes by the random end of their id. */
function hash(customerId: string): number {
  return Number.parseInt(customerId.slice(-6), 16)
}
