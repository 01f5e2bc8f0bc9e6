/** Models that operators wrote while servers run: entries of the form of the operator's file, in the database. */
import { isDeepStrictEqual } from 'node:util'
import { audited, type Actor } from '../../platform/audit-log/audited.ts'
import type { Database } from '../../platform/db/open.ts'
import type { Static } from 'typebox'
import type { addedModelSchema } from './catalog-config-schema.ts'

export type AddedModel = Static<typeof addedModelSchema> & { readonly id: string }

/** Returns the entries in the order of their ids. */
export async function listAddedModels(db: Database): Promise<AddedModel[]> {
  const rows = await db.selectFrom('added_models').select('entry').orderBy('model_id').execute()
  return rows.map(({ entry }) => entry as AddedModel)
}

/** Writes the entry in place of an earlier one of its model. The caller has checked it. Returns whether it is a new one. */
export function putAddedModel(db: Database, actor: Actor, entry: AddedModel): Promise<boolean> {
  return audited(db, actor, async (trx, record) => {
    const before = await trx
      .selectFrom('added_models')
      .select('entry')
      .where('model_id', '=', entry.id)
      .forUpdate()
      .executeTakeFirst()
    if (before && isDeepStrictEqual(before.entry, entry)) return false
    await trx
      .insertInto('added_models')
      .values({ model_id: entry.id, entry: JSON.stringify(entry) })
      .onConflict((conflict) =>
        conflict.column('model_id').doUpdateSet({ entry: JSON.stringify(entry) }),
      )
      .execute()
    await record({
      action: before ? 'model.entry_changed' : 'model.entry_added',
      customerId: null,
      subjectId: entry.id,
      details: { entry, ...(before && { before: before.entry }) },
    })
    return !before
  })
}

/** Returns whether it was there. Calls that hold money end at the prices of their hold. */
export function deleteAddedModel(
  db: Database,
  actor: Actor,
  { id }: { readonly id: string },
): Promise<boolean> {
  return audited(db, actor, async (trx, record) => {
    const before = await trx
      .deleteFrom('added_models')
      .where('model_id', '=', id)
      .returning('entry')
      .executeTakeFirst()
    if (!before) return false
    await record({
      action: 'model.entry_deleted',
      customerId: null,
      subjectId: id,
      details: { before: before.entry },
    })
    return true
  })
}
