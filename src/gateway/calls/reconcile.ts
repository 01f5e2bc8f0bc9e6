/**
 * Resolves orphaned holds: the holds of dead nodes, and holds of this node that no running call owns. The last
 * checkpoint decides the outcome:
 *
 * - if output had begun, the prompt and the output seen so far are charged as an estimate;
 * - otherwise the hold is released, because the customer received nothing.
 *
 * If the node that ran the call later reports what it delivered, that corrects this outcome, at most once.
 */
import { findPrice } from '../../money/catalog/register-prices.ts'
import { connectionsOf, endConnections } from '../../platform/db/end-connections.ts'
import type { Database } from '../../platform/db/open.ts'
import { LEASE_SECONDS, type Lease } from '../../money/ledger/lease.ts'
import {
  fenceEndedProcess,
  fenceSilentNodes,
  listOrphanedHolds,
  listOwnHolds,
  type OpenHold,
} from '../../money/ledger/nodes.ts'
import type { Ledger } from '../../money/ledger/open-ledger.ts'
import { release, type Resolution } from '../../money/ledger/resolution.ts'
import type { Log } from '../../platform/lib/log.ts'
import { plainTokens } from '../providers/plain-tokens.ts'
import { charge, NOT_TIMED } from './charge.ts'
import type { RunningCalls } from './running-calls.ts'

const BATCH_MAX = 1_000
/**
 * After this time, a hold of this node that no running call owns was left behind by an internal error, or the
 * database's answer to taking it was lost.
 */
const OWN_ORPHAN_AFTER_SECONDS = 25

export interface ReconcileDeps {
  readonly db: Database
  readonly ledger: Ledger
  readonly lease: Lease
  readonly calls: RunningCalls
  readonly log: Log
}

/** Returns how many holds it resolved. */
export async function reconcile(deps: ReconcileDeps): Promise<number> {
  const { db, ledger, lease, log } = deps
  // Charges in this node's spool are exact, so they are replayed before any hold is estimated.
  await ledger.replaySpool()
  // Right after an outage, other nodes may be healthy and merely not have reconnected yet.
  if (lease.contactMs() < LEASE_SECONDS * 1_000) return 0

  for (const nodeId of await fenceSilentNodes(db, lease.nodeId()))
    log.warn('silent_node_fenced', { nodeId })
  return (await resolveOrphans(deps)) + (await resolveForgotten(deps))
}

/** Resolves the holds of a worker, whose parent resolves those of other processes. Returns how many it resolved. */
export async function reconcileOwn(deps: ReconcileDeps): Promise<number> {
  const { ledger, lease } = deps
  await ledger.replaySpool()
  return lease.contactMs() < LEASE_SECONDS * 1_000 ? 0 : resolveForgotten(deps)
}

/**
 * Resolves, in the parent, the holds of a process that has ended, without waiting for its lease. Its spool is replayed
 * first, so that each answer that it delivered is charged exactly, and once.
 */
export async function reconcileEnded(deps: ReconcileDeps, processId: string): Promise<number> {
  const { db, ledger, log } = deps
  // A statement that the process had sent may still be running: it would write after the resolution. That is charged
  // exactly, too, by a correction.
  await endConnections(db, connectionsOf(processId)).catch((error: unknown) =>
    log.warn('connections_not_ended', { error }),
  )
  // A replay that was already running may have listed the files before the process ended; the second one has not.
  await ledger.replaySpool()
  await ledger.replaySpool()
  await fenceEndedProcess(db, processId)
  return resolveOrphans(deps, processId)
}

async function resolveOrphans(deps: ReconcileDeps, processId?: string): Promise<number> {
  const { db, ledger } = deps
  let resolved = 0
  let page: OpenHold[] = []
  do {
    page = await listOrphanedHolds(db, { afterId: page.at(-1)?.id, limit: BATCH_MAX, processId })
    const waiting = page.filter(({ id }) => !ledger.isSpooled(id))
    const done = await Promise.all(waiting.map((hold) => resolveOrphan(deps, hold, 'node_lost')))
    resolved += done.filter(Boolean).length
  } while (page.length === BATCH_MAX)
  return resolved
}

/** Holds of this node that no running call owns. */
async function resolveForgotten(deps: ReconcileDeps): Promise<number> {
  const { db, ledger, lease, calls } = deps
  let resolved = 0
  // Before the list: the hold of a call that ended meanwhile may have passed to a job, which the list does not show.
  const running = calls.ids()
  const own = await listOwnHolds(db, lease.nodeId(), OWN_ORPHAN_AFTER_SECONDS)
  for (const hold of own) {
    if (running.has(hold.id) || ledger.isSpooled(hold.id)) continue
    if (await resolveOrphan(deps, hold, 'hold_forgotten')) resolved += 1
  }
  return resolved
}

/** Returns false if the hold could not be resolved. It does not delay other holds, and the next run tries it again. */
async function resolveOrphan(
  { db, ledger, log }: ReconcileDeps,
  hold: OpenHold,
  reason: string,
): Promise<boolean> {
  try {
    const resolution = await resolutionOf(db, hold, reason)
    const { kind } = await ledger.resolve(resolution)
    log.warn('orphaned_hold_resolved', { holdId: hold.id, reason: resolution.reason, kind })
    return kind === 'committed'
  } catch (error) {
    log.error('orphaned_hold_not_resolved', { holdId: hold.id, error })
    return false
  }
}

async function resolutionOf(db: Database, hold: OpenHold, reason: string): Promise<Resolution> {
  if (!hold.hasOutputBegun) return release(hold, `${reason}_before_output`)
  const price = await findPrice(db, hold.priceId)
  if (!price) throw new Error(`price ${hold.priceId} of hold ${hold.id} is not stored`)
  const conversion = { fxRateE4: hold.fxRateE4, markupE4: hold.markupE4 }
  // Both counts are within the prompt bound and the output limit that the hold covers.
  const counts = plainTokens(hold.promptTokensEstimated, hold.outputTokensSeen)
  return charge(
    { ...hold, conversion },
    { counts, kind: 'estimated', reason },
    { ...NOT_TIMED, price },
  )
}
