/**
 * The spending guard: pauses keys that spent far above the usual pace within an hour, and notifies their owners, who
 * resume them in the dashboard. It reads roll-ups only, so calls pay nothing for it; docs/decisions.md says how long an
 * anomaly can run before it is seen.
 */
import { audited, SYSTEM } from '../../platform/audit-log/audited.ts'
import { recordPausedKeys } from '../../customers/key-acts.ts'
import { pauseKeys } from '../../customers/pause-keys.ts'
import type { Database } from '../../platform/db/open.ts'
import { decimalBrl, type NanoBrl } from '../../platform/lib/money.ts'
import type { Log } from '../../platform/lib/log.ts'
import { findAcceptedPace, noteAcceptedPace, type PaceKind } from './accepted-paces.ts'
import { isAnomaly } from './is-anomaly.ts'
import {
  listSpendingKeys,
  readUsualPaces,
  type SpendingKey,
  type UsualPaces,
} from './read-key-paces.ts'
import { listSpendingSessions, readUsualSessionPace } from './read-session-paces.ts'
import { spendingWindows, type SpendingWindows } from './spending-windows.ts'

/** Returns a function that looks once, and resolves to the number of keys that it paused. */
export function createPauseSpendingKeys(deps: {
  readonly db: Database
  readonly log: Log
  readonly now?: () => Date
}): () => Promise<number> {
  const { db, log, now = () => new Date() } = deps
  /** By customer, for the current hour. */
  let usual = new Map<string, UsualPaces>()
  let usualAtMs = 0

  async function usualOf(customerId: string, windows: SpendingWindows): Promise<UsualPaces> {
    if (windows.hourAt.getTime() !== usualAtMs) {
      usual = new Map()
      usualAtMs = windows.hourAt.getTime()
    }
    const known = usual.get(customerId) ?? (await readUsualPaces(db, customerId, windows))
    usual.set(customerId, known)
    return known
  }

  return async function pauseSpendingKeys() {
    const windows = spendingWindows(now())
    let paused = 0
    const judge = async (
      key: SpendingKey & { readonly sessionId?: string },
      usualNanoBrl: NanoBrl,
    ): Promise<void> => {
      const kind = key.sessionId === undefined ? 'key' : 'session'
      const wanted = { keyId: key.keyId, kind, since: windows.usualFrom } as const
      const accepted = await findAcceptedPace(db, wanted)
      const pace = { ...key, usualNanoBrl: accepted > usualNanoBrl ? accepted : usualNanoBrl }
      if (isAnomaly(key.guard, pace) && (await pause(db, kind, pace))) {
        paused += 1
        log.warn('key_paused_by_guard', { keyId: key.keyId, kind })
      }
    }
    for (const key of await listSpendingKeys(db, windows))
      await judge(key, (await usualOf(key.customerId, windows)).of(key.keyId))
    for (const session of await listSpendingSessions(db, windows)) {
      const usualNanoBrl = await readUsualSessionPace(db, session.customerId, windows)
      if (usualNanoBrl !== undefined) await judge(session, usualNanoBrl)
    }
    return paused
  }
}

function pause(
  db: Database,
  kind: PaceKind,
  {
    keyId,
    sessionId,
    spentNanoBrl,
    usualNanoBrl,
  }: SpendingKey & { readonly sessionId?: string; readonly usualNanoBrl: NanoBrl },
): Promise<boolean> {
  return audited(db, SYSTEM, async (trx, record) => {
    const keys = await pauseKeys(trx, { keyId }, 'anomaly')
    if (keys.length === 0) return false
    await noteAcceptedPace(trx, { keyId, kind, paceNanoBrl: spentNanoBrl })
    await recordPausedKeys(trx, record, keys, 'anomaly', {
      spent_in_hour_brl: decimalBrl(spentNanoBrl),
      usual_in_hour_brl: decimalBrl(usualNanoBrl),
      ...(sessionId === undefined ? {} : { session_id: sessionId }),
    })
    return true
  })
}
