/** Models that an operator took out of service. They are still listed, and calls to them get a 503. */
import { audited, type Actor } from '../../platform/audit-log/audited.ts'
import type { Database } from '../../platform/db/open.ts'

export interface DisabledModel {
  readonly modelId: string
  readonly reason: string
  readonly disabledAt: Date
}

/** A model that is disabled already keeps its reason. */
export function disableModel(
  db: Database,
  actor: Actor,
  { modelId, reason }: { modelId: string; reason: string },
): Promise<void> {
  return audited(db, actor, async (trx, record) => {
    const row = await trx
      .insertInto('disabled_models')
      .values({ model_id: modelId, reason })
      .onConflict((conflict) => conflict.doNothing())
      .returning('model_id')
      .executeTakeFirst()
    if (!row) return
    const act = { action: 'model.disabled', customerId: null, subjectId: modelId } as const
    await record({ ...act, details: { reason } })
  })
}

export function enableModel(
  db: Database,
  actor: Actor,
  { modelId }: { modelId: string },
): Promise<void> {
  return audited(db, actor, async (trx, record) => {
    const row = await trx
      .deleteFrom('disabled_models')
      .where('model_id', '=', modelId)
      .returning('model_id')
      .executeTakeFirst()
    if (row) await record({ action: 'model.enabled', customerId: null, subjectId: modelId })
  })
}

export async function listDisabledModels(db: Database): Promise<DisabledModel[]> {
  const rows = await db.selectFrom('disabled_models').selectAll().execute()
  return rows.map(({ model_id, reason, disabled_at }) => ({
    modelId: model_id,
    reason,
    disabledAt: disabled_at,
  }))
}
