/** Models that an operator took out of service. They are still listed, and calls to them get a 503. */
import type { Database } from '../db/open.ts'

export interface DisabledModel {
  readonly modelId: string
  readonly reason: string
  readonly disabledAt: Date
}

/** Returns false if the model was already disabled; its reason and date then stay unchanged. */
export async function disableModel(
  trx: Database,
  { modelId, reason }: { modelId: string; reason: string },
): Promise<boolean> {
  const row = await trx
    .insertInto('disabled_models')
    .values({ model_id: modelId, reason })
    .onConflict((conflict) => conflict.doNothing())
    .returning('model_id')
    .executeTakeFirst()
  return row !== undefined
}

/** Returns false if the model was not disabled. */
export async function enableModel(trx: Database, modelId: string): Promise<boolean> {
  const row = await trx
    .deleteFrom('disabled_models')
    .where('model_id', '=', modelId)
    .returning('model_id')
    .executeTakeFirst()
  return row !== undefined
}

export async function listDisabledModels(db: Database): Promise<DisabledModel[]> {
  const rows = await db.selectFrom('disabled_models').selectAll().execute()
  return rows.map(({ model_id, reason, disabled_at }) => ({
    modelId: model_id,
    reason,
    disabledAt: disabled_at,
  }))
}
