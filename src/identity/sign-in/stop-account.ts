import { audited, type Actor } from '../../platform/audit-log/audited.ts'
import { recordPausedKeys } from '../../customers/key-acts.ts'
import { pauseKeys } from '../../customers/pause-keys.ts'
import type { Database } from '../../platform/db/open.ts'
import { deleteAutomaticTopUp } from '../../money/payments/automatic-top-ups.ts'
import { endSessionsOf } from './sessions.ts'

export interface StoppedAccount {
  readonly pausedKeys: number
  readonly endedSessions: number
  /** They were on. */
  readonly isAutomaticTopUpOff: boolean
}

/** Pauses all keys, turns automatic top-ups off, and ends all login sessions but the actor's, in one transaction. */
export function stopAccount(
  db: Database,
  actor: Actor,
  { customerId }: { readonly customerId: string },
): Promise<StoppedAccount> {
  return audited(db, actor, async (trx, record) => {
    const keys = await pauseKeys(trx, { customerId }, 'owner')
    await recordPausedKeys(trx, record, keys, 'owner')
    const automatic = await deleteAutomaticTopUp(trx, actor, { customerId })
    const endedSessions = await endSessionsOf(trx, customerId, actor.sessionId)
    const details = { paused_keys: keys.length, ended_sessions: endedSessions }
    await record({ action: 'account.stopped', customerId, subjectId: customerId, details })
    return { pausedKeys: keys.length, endedSessions, isAutomaticTopUpOff: automatic !== undefined }
  })
}
