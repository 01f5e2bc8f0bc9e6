/**
 * Resolves what nobody else will: the holds of dead nodes, and holds of this node that no call of it
 * knows. By what the last checkpoint says:
 *
 * - output had begun: the prompt and the output seen so far are charged, as an estimate;
 * - it had not: the hold is released. The customer got nothing of it.
 *
 * A resolution by the call itself, if it comes all the same, finds the hold gone and changes nothing.
 */
import { findPrice } from '../catalog/register-prices.ts'
import type { Database } from '../db/open.ts'
import { listOrphanedHolds, listOwnHolds, type OpenHold } from '../ledger/nodes.ts'
import type { Ledger } from '../ledger/open-ledger.ts'
import { release, type Resolution } from '../ledger/resolution.ts'
import type { Log } from '../lib/log.ts'
import { plainTokens } from '../providers/plain-tokens.ts'
import { charge, type CallTimes } from './charge.ts'
import type { RunningCalls } from './running-calls.ts'

const BATCH_MAX = 500
/** A hold of ours that no running call knows after this long was left by a fault: it is given back. */
const FORGOTTEN_AFTER_SECONDS = 60

const NO_TIMES: CallTimes = {
  upstreamId: null,
  firstByteMs: null,
  durationMs: null,
  attempts: null,
}

/** Returns how many holds it resolved. */
export async function reconcile(deps: {
  db: Database
  ledger: Ledger
  calls: RunningCalls
  nodeId: string
  log: Log
}): Promise<number> {
  // What waits on this disk is better known than any estimate.
  await deps.ledger.replaySpool()

  const orphans = await listOrphanedHolds(deps.db, BATCH_MAX)
  for (const hold of orphans) {
    const resolution = await resolutionOf(deps.db, hold)
    await deps.ledger.resolve(resolution)
    deps.log.warn('orphaned_hold_resolved', {
      holdId: hold.id,
      outcome: resolution.outcome,
      reason: resolution.reason,
    })
  }

  const own = await listOwnHolds(deps.db, deps.nodeId, FORGOTTEN_AFTER_SECONDS)
  const forgotten =
    deps.ledger.spoolLength > 0 ? [] : own.filter((hold) => !deps.calls.has(hold.id))
  for (const hold of forgotten) {
    deps.log.error('forgotten_hold_released', { holdId: hold.id })
    await deps.ledger.resolve(release(hold, 'hold_forgotten'))
  }
  return orphans.length + forgotten.length
}

async function resolutionOf(db: Database, hold: OpenHold): Promise<Resolution> {
  if (!hold.hasOutputBegun) return release(hold, 'node_lost_before_output')
  const price = await findPrice(db, hold.priceId)
  if (!price) throw new Error(`price ${hold.priceId} of hold ${hold.id} is not stored`)
  const conversion = { fxRateE4: hold.fxRateE4, markupE4: hold.markupE4 }
  // The hold covers the prompt's bound and the output's limit, so these counts are within it.
  const counts = plainTokens(hold.promptTokensEstimated, hold.outputTokensSeen)
  return charge(
    { ...hold, conversion },
    { counts, kind: 'estimated', reason: 'node_lost' },
    { ...NO_TIMES, price, priceId: null },
  )
}
