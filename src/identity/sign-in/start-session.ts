import { audited } from '../../platform/audit-log/audited.ts'
import type { Database } from '../../platform/db/open.ts'
import { markProved, type Session } from './sessions.ts'

/** Writes the row of the audit log once the login session may act for the customer. */
export async function recordSessionStarted(
  db: Database,
  customerId: string,
  ip: string | undefined,
): Promise<void> {
  const actor = { kind: 'customer', customerId, ...(ip ? { ip } : {}) } as const
  await audited(db, actor, (_trx, record) =>
    record({ action: 'session.started', customerId, subjectId: customerId }),
  )
}

/** Starts a waiting session after a right code. Returns false if it has ended meanwhile. */
export async function startWaitingSession(
  db: Database,
  { id, customerId }: Session,
  ip: string,
): Promise<boolean> {
  const actor = { kind: 'customer', customerId, sessionId: id, ip } as const
  return audited(db, actor, async (trx, record) => {
    if (!(await markProved(trx, { sessionId: id, byCode: true }))) return false
    await record({ action: 'session.started', customerId, subjectId: customerId })
    return true
  })
}
