/**
 * Differences of the price data from the catalog: what the operator's rule takes by itself, and what waits for an answer.
 * While a dearer price waits, customers pay the price that they see, even if that is below the cost.
 */
import { sql } from 'kysely'
import { audited, SYSTEM, type Actor } from '../../platform/audit-log/audited.ts'
import type { Database } from '../../platform/db/open.ts'
import type { StoredPriceEntry } from '../../platform/db/tables.ts'
import type { ConfiguredModel } from './model.ts'
import { isFarFromAll } from './compare-amounts.ts'
import {
  listPriceChanges,
  readStoredSchedule,
  setPrices,
  storeSchedule,
  type SetPrices,
} from './price-changes.ts'
import type { Dispute, PriceDifference } from './price-data-differences.ts'
import { packagedPriceData, scheduleFromData } from './price-from-data.ts'
import { withoutPast } from './price-schedule.ts'
import type { PriceTerms } from './prices.ts'
import { addModel } from './stored-price-data.ts'
import { scheduleOf } from './with-price-changes.ts'

/** What happens to news of the price data: `price_updates` of the configuration. */
export interface PriceRule {
  readonly new: 'show' | 'ask' | 'hide'
  readonly cheaper: 'take' | 'ask'
  readonly dearer: 'take' | 'ask'
}

export const DEFAULT_PRICE_RULE: PriceRule = { new: 'show', cheaper: 'take', dearer: 'ask' }

/** A model of the data that an upstream lists, and that the catalog does not have. */
export interface NewModel {
  readonly modelId: string
  readonly text: string
  readonly kind: 'new'
  readonly entry: StoredPriceEntry
}

export const PRICE_UPDATE_KINDS = ['new', 'cheaper', 'dearer', 'unreadable', 'disputed'] as const

type Difference = PriceDifference | NewModel | Dispute

/** The notes of changes: what nobody looked at is trusted by nothing. */
const TAKEN = 'price data'
const APPROVED = 'price data, approved'

export interface PendingPrice {
  readonly modelId: string
  readonly kind: Difference['kind']
  readonly difference: string
  readonly foundAt: Date
}

/**
 * Takes what the rule takes, and returns the rest. A price that an operator set, wrote or took back stays. A price needs an
 * operator's look if some of it rises and some falls, if the second list says something else, or if it is more than twice
 * or less than half of the one in force or of the trusted one: else data that moves a little every day would get anywhere
 * without an answer.
 */
export async function takeByRule(
  trx: Database,
  found: readonly PriceDifference[],
  {
    models,
    rule,
    noticeDays,
  }: {
    readonly models: readonly ConfiguredModel[]
    readonly rule: Pick<PriceRule, 'cheaper' | 'dearer'>
    readonly noticeDays: number
  },
): Promise<{ taken: PriceDifference[]; waiting: PriceDifference[] }> {
  const isOfData = await listLastChanges(trx)
  const confirmed = await listConfirmed(trx)
  const taken: PriceDifference[] = []
  const waiting: PriceDifference[] = []
  for (const difference of found) {
    const { modelId, kind, isMixed, isDisputed, schedule } = difference
    const model = models.find(({ id }) => id === modelId)
    const isFree = model && !isMixed && !isDisputed && (isOfData.get(modelId) ?? !model.hasOwnPrice)
    const trusted = isFree ? (confirmed.get(modelId) ?? deliveredPrices(model)) : []
    const isNear = schedule?.every(({ price }) => !isFarFromAll(price, trusted))
    if (schedule && isNear && isFree && kind !== 'unreadable' && rule[kind] === 'take') {
      const prices = { modelId, schedule }
      const set = await setFromData(trx, SYSTEM, { models, prices, noticeDays, isConfirmed: false })
      if (set.kind === 'set' || set.kind === 'nothing_changes') {
        taken.push(difference)
        continue
      }
    }
    waiting.push(difference)
  }
  return { taken, waiting }
}

/** Whether the last change of a model's prices is one of the data, and is in use. */
async function listLastChanges(trx: Database): Promise<ReadonlyMap<string, boolean>> {
  const { rows } = await sql<{ model_id: string; is_of_data: boolean }>`
    select distinct on (model_id) model_id,
      notice_percent_e2 is not null and withdrawn_at is null as is_of_data
    from price_changes order by model_id, id desc`.execute(trx)
  return new Map(rows.map(({ model_id, is_of_data }) => [model_id, is_of_data]))
}

/** The prices that an operator set or approved last, by model. */
async function listConfirmed(trx: Database): Promise<ReadonlyMap<string, readonly PriceTerms[]>> {
  return new Map(
    (await listChangesAsMade(trx))
      .filter(({ note }) => note !== TAKEN)
      .map(({ modelId, schedule }) => [modelId, schedule.map(({ price }) => price)]),
  )
}

/** Leaves out prices that an operator set or approved, whatever the second list says. */
export async function withoutConfirmed(
  trx: Database,
  disputes: readonly Dispute[],
): Promise<Dispute[]> {
  const changes = await listChangesAsMade(trx)
  const notes = new Map(changes.map(({ modelId, note }) => [modelId, note]))
  return disputes.filter(({ modelId }) => (notes.get(modelId) ?? TAKEN) === TAKEN)
}

async function listChangesAsMade(trx: Database) {
  return (await listPriceChanges(trx)).toSorted((one, other) => one.id - other.id)
}

/** The package's prices; of a model that it lacks, the one at which it came into the catalog. */
function deliveredPrices(model: ConfiguredModel): readonly PriceTerms[] {
  const { priceFrom, contextTokens } = model
  const [first] = scheduleOf(model)
  if (!priceFrom || !packagedPriceData.findPrices(priceFrom.provider, priceFrom.model))
    return [first.price]
  const schedule = scheduleFromData(priceFrom, contextTokens)
  return withoutPast(schedule, Date.now()).map(({ price }) => price)
}

function setFromData(
  trx: Database,
  actor: Actor,
  given: {
    readonly models: readonly ConfiguredModel[]
    readonly prices: {
      readonly modelId: string
      readonly schedule: NonNullable<PriceDifference['schedule']>
    }
    readonly noticeDays: number
    readonly isConfirmed: boolean
  },
): Promise<SetPrices> {
  return setPrices(trx, actor, {
    ...given,
    prices: [given.prices],
    startsAt: undefined,
    note: given.isConfirmed ? APPROVED : TAKEN,
    isDryRun: false,
  })
}

/** Keeps what is found now. Returns what is new, or another difference than before: it waits for an answer again. */
export async function storeDifferences(
  trx: Database,
  found: readonly Difference[],
): Promise<Difference[]> {
  const ids = found.map(({ modelId }) => modelId)
  await sql`delete from price_differences where model_id <> all(${ids}::text[])`.execute(trx)
  const opened: Difference[] = []
  for (const difference of found) {
    const { modelId, kind, text } = difference
    const schedule = 'schedule' in difference ? difference.schedule : undefined
    const stored = schedule && (await storeSchedule(trx, { modelId, schedule }))
    const entry = 'entry' in difference ? JSON.stringify(difference.entry) : null
    const { rows } = await sql`
      insert into price_differences as d (model_id, difference, kind, schedule, entry)
      values (${modelId}, ${text}, ${kind}, ${stored ? JSON.stringify(stored) : null}::jsonb, ${entry}::jsonb)
      on conflict (model_id) do update set difference = excluded.difference, kind = excluded.kind,
        schedule = excluded.schedule, entry = excluded.entry, found_at = now(), rejected_at = null
        where (d.difference, d.kind) is distinct from (excluded.difference, excluded.kind)
      returning model_id`.execute(trx)
    if (rows.length > 0) opened.push(difference)
  }
  return opened
}

export async function lockDifferences(trx: Database): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended('price differences', 0))`.execute(trx)
}

/** What waits for an answer, by model. */
export async function listPendingPrices(db: Database): Promise<PendingPrice[]> {
  const rows = await db
    .selectFrom('price_differences')
    .selectAll()
    .where('rejected_at', 'is', null)
    .orderBy('model_id')
    .execute()
  return rows.map(({ model_id, kind, difference, found_at }) => ({
    modelId: model_id,
    kind,
    difference,
    foundAt: found_at,
  }))
}

export interface Answer {
  readonly modelId: string
  /** What the operator saw; undefined: whatever waits. */
  readonly difference: string | undefined
}

export type Answered =
  | { readonly kind: 'answered'; readonly startsAt: Date | undefined }
  /** Nothing of this model waits. */
  | { readonly kind: 'price_update_not_found' }
  /** The data says something else than what the operator saw. */
  | { readonly kind: 'price_update_changed'; readonly difference: string }
  /** The data has no price that can be read, or one of other units than the model's. */
  | { readonly kind: 'price_update_unusable' }

/** Takes exactly the price that was shown: at once, or if it is dearer after the customers' notice. */
export function approvePrice(
  db: Database,
  actor: Actor,
  answer: Answer,
  {
    models,
    noticeDays,
  }: { readonly models: readonly ConfiguredModel[]; readonly noticeDays: number },
): Promise<Answered> {
  return audited<Answered>(db, actor, async (trx, record, undo) => {
    const row = await findWaiting(trx, answer)
    if ('refused' in row) return row.refused
    const { model_id: modelId, entry, schedule, difference } = row
    await trx.deleteFrom('price_differences').where('model_id', '=', modelId).execute()
    if (entry) {
      await addModel(trx, entry.provider, entry.model)
      const details = { ...entry, model: entry.model.id, difference }
      await record({ action: 'model.added', customerId: null, subjectId: modelId, details })
      return { kind: 'answered', startsAt: undefined }
    }
    if (!schedule) return undo({ kind: 'price_update_unusable' })
    const prices = { modelId, schedule: await readStoredSchedule(trx, schedule) }
    const set = await setFromData(trx, actor, { models, prices, noticeDays, isConfirmed: true })
    if (set.kind === 'set') return { kind: 'answered', startsAt: set.effects[0]?.startsAt }
    return undo({ kind: 'price_update_unusable' })
  })
}

/** Keeps the price in force, or the new model out of the catalog, until the data says something else. */
export function rejectPrice(db: Database, actor: Actor, answer: Answer): Promise<Answered> {
  return audited<Answered>(db, actor, async (trx, record) => {
    const row = await findWaiting(trx, answer)
    if ('refused' in row) return row.refused
    const { model_id: modelId, difference } = row
    await trx
      .updateTable('price_differences')
      .set({ rejected_at: sql<Date>`now()` })
      .where('model_id', '=', modelId)
      .execute()
    const details = { difference }
    await record({ action: 'model.price_rejected', customerId: null, subjectId: modelId, details })
    return { kind: 'answered', startsAt: undefined }
  })
}

async function findWaiting(trx: Database, { modelId, difference }: Answer) {
  await lockDifferences(trx)
  const row = await trx
    .selectFrom('price_differences')
    .selectAll()
    .where('model_id', '=', modelId)
    .where('rejected_at', 'is', null)
    .executeTakeFirst()
  if (!row) return { refused: { kind: 'price_update_not_found' } as const }
  if (difference !== undefined && difference !== row.difference)
    return { refused: { kind: 'price_update_changed', difference: row.difference } as const }
  return row
}

export async function countPendingPrices(db: Database): Promise<number> {
  const { rows } = await sql<{ count: bigint }>`
    select count(*) from price_differences where rejected_at is null`.execute(db)
  return Number(rows[0]?.count ?? 0n)
}
