/**
 * Models that operators wrote while servers run: entries of the form of the operator's file, in the database. Another
 * price of a model that is known already is a change of it, as one of the price data is: a rise begins after the notice
 * to customers, and stands in the history of the model.
 */
import { isDeepStrictEqual } from 'node:util'
import type { Static } from 'typebox'
import { audited, type Actor } from '../../platform/audit-log/audited.ts'
import type { Database } from '../../platform/db/open.ts'
import type { addedModelSchema } from './catalog-config-schema.ts'
import type { ConfiguredModel } from './model.ts'
import {
  listPriceChanges,
  readStoredSchedule,
  setPrices,
  storeSchedule,
  withdrawPrices,
} from './price-changes.ts'
import type { PriceSchedule } from './price-schedule.ts'
import type { PriceTerms } from './prices.ts'
import { scheduleOf } from './with-price-changes.ts'

export type ModelEntry = Static<typeof addedModelSchema> & { readonly id: string }

export interface AddedModel {
  readonly entry: ModelEntry
  /** The prices that it begins with; undefined: those of the entry. */
  readonly base: PriceSchedule<PriceTerms> | undefined
}

/** Returns the models in the order of their ids. */
export async function listAddedModels(db: Database): Promise<AddedModel[]> {
  const rows = await db.selectFrom('added_models').selectAll().orderBy('model_id').execute()
  return Promise.all(
    rows.map(async ({ entry, base }) => ({
      entry: entry as ModelEntry,
      base: base ? await readStoredSchedule(db, base) : undefined,
    })),
  )
}

export interface EntryToPut {
  readonly entry: ModelEntry
  /** The model as the entry says. */
  readonly written: ConfiguredModel
  /** The model as it is without changes of its prices; undefined if it is a new one. */
  readonly known: ConfiguredModel | undefined
  /** The notice of a rise. */
  readonly noticeDays: number
}

export type PutModel =
  /** `startsAt`: of other prices than those before; undefined if they stay. */
  | { readonly kind: 'put'; readonly isNew: boolean; readonly startsAt: Date | undefined }
  | { readonly kind: 'other_units'; readonly units: string }
  /** More than twice or less than half of the prices in force. */
  | { readonly kind: 'far'; readonly text: string }
  /** A route of a known model has another price of its own, of which customers would get no notice. */
  | { readonly kind: 'other_route_prices' }

/** Writes an entry that the caller has checked, in place of an earlier one of its model. */
export function putAddedModel(
  db: Database,
  actor: Actor,
  { entry, written, known, noticeDays }: EntryToPut,
): Promise<PutModel> {
  return audited<PutModel>(db, actor, async (trx, record, undo) => {
    const { id } = entry
    const before = await trx
      .selectFrom('added_models')
      .select('entry')
      .where('model_id', '=', id)
      .forUpdate()
      .executeTakeFirst()
    if (known && !hasOnlyRoutePricesOf(before?.entry as ModelEntry | undefined, entry))
      return { kind: 'other_route_prices' }
    if (!known && !before) await forgetPrices(trx, actor, id)
    const hasPrices = Boolean(entry.prices ?? entry.price_schedule)
    const base =
      known && hasPrices
        ? await storeSchedule(trx, { modelId: id, schedule: scheduleOf(known) })
        : undefined
    if (!before || !isDeepStrictEqual(before.entry, entry)) {
      const values = { entry: JSON.stringify(entry), base: base ? JSON.stringify(base) : null }
      await trx
        .insertInto('added_models')
        .values({ model_id: id, ...values })
        .onConflict((conflict) => conflict.column('model_id').doUpdateSet(values))
        .execute()
      await record({
        action: before ? 'model.entry_changed' : 'model.entry_added',
        customerId: null,
        subjectId: id,
        details: { entry, ...(before && { before: before.entry }) },
      })
    }
    if (!known || !hasPrices) return { kind: 'put', isNew: !before, startsAt: undefined }
    const set = await setPrices(trx, actor, {
      models: [known],
      prices: [{ modelId: id, schedule: scheduleOf(written) }],
      startsAt: undefined,
      note: undefined,
      isConfirmed: false,
      isDryRun: false,
      noticeDays,
    })
    if (set.kind === 'not_confirmed') return undo({ kind: 'far', text: textOf(set.effects) })
    if (set.kind === 'other_units') return undo({ kind: 'other_units', units: set.units })
    const startsAt = set.kind === 'set' ? set.effects[0]?.startsAt : undefined
    return { kind: 'put', isNew: !before, startsAt }
  })
}

function textOf(effects: readonly { readonly text: string }[]): string {
  return effects.map(({ text }) => text).join('; ')
}

function hasOnlyRoutePricesOf(before: ModelEntry | undefined, entry: ModelEntry): boolean {
  const own = ({ routes }: ModelEntry) =>
    routes.flatMap(({ upstream, model, prices, price_schedule: schedule }) =>
      (prices ?? schedule) ? [{ upstream, model, prices, schedule }] : [],
    )
  const known = before ? own(before) : []
  return own(entry).every((each) => known.some((other) => isDeepStrictEqual(each, other)))
}

/** The changes of an earlier model of this id say nothing of a new one. */
async function forgetPrices(trx: Database, actor: Actor, modelId: string): Promise<void> {
  const changes = await listPriceChanges(trx)
  for (const change of changes)
    if (change.modelId === modelId)
      await withdrawPrices(trx, actor, { id: change.id, note: 'a new model of this id' })
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
