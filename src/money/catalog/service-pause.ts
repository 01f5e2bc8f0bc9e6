/**
 * An operator's stop of all model calls: they get a 503 on every node until an operator lifts it, also after restarts.
 * Running calls end and are charged.
 */
import { audited, type Actor } from '../../platform/audit-log/audited.ts'
import type { Database } from '../../platform/db/open.ts'

export interface ServicePause {
  readonly reason: string
  readonly pausedAt: Date
}

/** A service that is paused already keeps its reason. Returns whether it was not. */
export function pauseService(
  db: Database,
  actor: Actor,
  { reason }: { readonly reason: string },
): Promise<boolean> {
  return audited(db, actor, async (trx, record) => {
    const row = await trx
      .insertInto('service_pause')
      .values({ reason })
      .onConflict((conflict) => conflict.doNothing())
      .returning('paused_at')
      .executeTakeFirst()
    if (!row) return false
    const details = { reason }
    await record({ action: 'service.paused', customerId: null, subjectId: null, details })
    return true
  })
}

/** Returns whether the service was paused. */
export function resumeService(db: Database, actor: Actor): Promise<boolean> {
  return audited(db, actor, async (trx, record) => {
    const row = await trx.deleteFrom('service_pause').returning('paused_at').executeTakeFirst()
    if (!row) return false
    await record({ action: 'service.resumed', customerId: null, subjectId: null })
    return true
  })
}

export async function findServicePause(db: Database): Promise<ServicePause | undefined> {
  const row = await db.selectFrom('service_pause').selectAll().executeTakeFirst()
  return row && { reason: row.reason, pausedAt: row.paused_at }
}
