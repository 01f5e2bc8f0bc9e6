/** The published price data that was accepted last, in the database: all nodes compare with, and sell by, the same. */
import { sql } from 'kysely'
import type { ModelInfo } from '@pydantic/genai-prices'
import { inTransaction, type Database } from '../../platform/db/open.ts'
import { packagedPriceData, type PriceData } from './price-from-data.ts'
import {
  assertPlausible,
  isBelievable,
  isUsuallyPriced,
  packagedData,
  type PublishedData,
} from './published-prices.ts'
import { opinionOnEntry } from './second-opinion.ts'

export interface StoredPriceData {
  readonly published: PublishedData
  /** Its models that the package lacks, as they were when they came into the catalog. */
  readonly added: PublishedData
  readonly fetchedAt: Date
  /** The second list that was read last, or nothing; it sets no price. */
  readonly second: PublishedData
}

export interface Acceptance {
  /** New models come into the catalog without an answer, unless they are cheaper than any that is known. */
  readonly addsNew: boolean
  /** A model that customers see keeps its price, and another one is a change of it. */
  readonly isSold: (provider: string, model: string) => boolean
  /** A new model of which this list says another price waits for an operator. */
  readonly second: PublishedData
}

/** Replaces the data. Throws a `PublishedDataFault` if it moves too far from what is known. */
export function storePriceData(
  db: Database,
  published: PublishedData,
  acceptance: Acceptance,
): Promise<void> {
  return inTransaction(db, async (trx) => {
    await lockPriceData(trx)
    const stored = await readStoredPriceData(trx)
    assertPlausible(published, stored?.published ?? packagedData())
    const added = nextAdded(published, stored?.added ?? [], acceptance)
    await trx
      .insertInto('price_data')
      .values({
        published: JSON.stringify(published),
        added: JSON.stringify(added),
        fetched_at: sql<Date>`now()`,
        second_list: JSON.stringify(acceptance.second),
      })
      .onConflict((conflict) =>
        conflict.column('only_row').doUpdateSet((eb) => ({
          published: eb.ref('excluded.published'),
          added: eb.ref('excluded.added'),
          fetched_at: eb.ref('excluded.fetched_at'),
          second_list: eb.ref('excluded.second_list'),
        })),
      )
      .execute()
  })
}

/** Brings one model of the data into the catalog, unless it is there. */
export async function addModel(trx: Database, provider: string, model: ModelInfo): Promise<void> {
  await lockPriceData(trx)
  const { added = [] } = (await readStoredPriceData(trx)) ?? {}
  if (modelsOf(added, provider).some(({ id }) => id === model.id)) return
  const next = [{ id: provider, models: [model] }]
  await trx
    .updateTable('price_data')
    .set({ added: JSON.stringify(joined(added, next)) })
    .execute()
}

export async function readStoredPriceData(db: Database): Promise<StoredPriceData | undefined> {
  const row = await db.selectFrom('price_data').selectAll().executeTakeFirst()
  return (
    row && {
      published: row.published,
      added: row.added,
      fetchedAt: row.fetched_at,
      second: row.second_list ?? [],
    }
  )
}

/** Keeps the second list beside the data, whatever becomes of that; before the first data there is nothing to dispute. */
export async function storeSecondList(db: Database, second: PublishedData): Promise<void> {
  await db
    .updateTable('price_data')
    .set({ second_list: JSON.stringify(second) })
    .execute()
}

/** While this is the same, so are the added models. */
export async function readAddedDigest(db: Database): Promise<string> {
  const { rows } = await sql<{ digest: string }>`
    select md5(added::text) as digest from price_data`.execute(db)
  return rows[0]?.digest ?? ''
}

/** The published prices; of what they lack, those of the package, and else those by which it was added. */
export function priceDataOf({
  published = [],
  added = [],
}: Partial<StoredPriceData> = {}): PriceData {
  const findIn = (data: PublishedData, provider: string, model: string) =>
    modelsOf(data, provider).find(({ id }) => id === model)?.prices as
      | ReturnType<PriceData['findPrices']>
      | undefined
  return {
    findPrices: (provider, model) =>
      findIn(published, provider, model) ??
      packagedPriceData.findPrices(provider, model) ??
      findIn(added, provider, model),
  }
}

/** The models that are neither in the package nor added, and could be sold, at a usual price or not. */
export function unknownModels(
  published: PublishedData,
  added: PublishedData,
  isWanted: (provider: string, model: ModelInfo) => boolean = () => true,
): PublishedData {
  return published.map(({ id: provider, models }) => {
    const known = new Set(modelsOf(added, provider).map(({ id }) => id))
    return {
      id: provider,
      models: models.filter(
        (model) =>
          !known.has(model.id) &&
          !packagedPriceData.findPrices(provider, model.id) &&
          isBelievable(model) &&
          isWanted(provider, model),
      ),
    }
  })
}

/** Models that came first are found first: a later one takes no name from them. */
export function joined(first: PublishedData, later: PublishedData): PublishedData {
  const providers = new Set([...first, ...later].map(({ id }) => id))
  return [...providers].map((id) => ({
    id,
    models: [...modelsOf(first, id), ...modelsOf(later, id)],
  }))
}

/** What is in the catalog by the data alone. Pure. */
export function nextAdded(
  published: PublishedData,
  added: PublishedData,
  { addsNew, isSold, second }: Acceptance,
): PublishedData {
  if (!addsNew) return added
  const isTrusted = (provider: string, model: ModelInfo): boolean =>
    isUsuallyPriced(provider, model) &&
    opinionOnEntry(provider, model, second, new Date())?.agrees !== false
  const renewed = added.map(({ id: provider, models }) => {
    const newest = modelsOf(published, provider).filter(
      (model) => isBelievable(model) && isTrusted(provider, model),
    )
    return {
      id: provider,
      models: models.map((model) =>
        isSold(provider, model.id) ? model : (newest.find(({ id }) => id === model.id) ?? model),
      ),
    }
  })
  return joined(renewed, unknownModels(published, added, isTrusted))
}

function modelsOf(data: PublishedData, provider: string): readonly ModelInfo[] {
  return data.find(({ id }) => id === provider)?.models ?? []
}

async function lockPriceData(trx: Database): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended('price data', 0))`.execute(trx)
}
