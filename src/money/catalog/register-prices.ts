import type { Database } from '../../platform/db/open.ts'
import { sha256 } from '../../platform/lib/ids.ts'
import type { ConfiguredModel, Model } from './model.ts'
import type { Price, PriceTerms, UnitPrices } from './prices.ts'
import { mapSchedule, type PriceSchedule } from './price-schedule.ts'

/**
 * Stores the prices of each model and its routes, unless the same price of the same model is stored already, and
 * returns the models with the stored prices.
 */
export async function registerPrices(
  db: Database,
  models: readonly ConfiguredModel[],
): Promise<Model[]> {
  const rows = new Map<string, PriceRow>()
  for (const model of models) {
    mapPrices(model, (price) => {
      const row = rowOf(model.id, price)
      rows.set(row.digest, row)
      return price
    })
  }
  const ids = await storeRows(db, [...rows.values()])
  return models.map((model) =>
    mapPrices(model, (price) => {
      const id = ids.get(rowOf(model.id, price).digest)
      if (id === undefined) throw new Error(`a price of "${model.id}" is not stored`)
      return { id, ...price }
    }),
  )
}

/** Stores new rows; returns the ids of all rows by digest. */
async function storeRows(
  db: Database,
  rows: readonly PriceRow[],
): Promise<ReadonlyMap<string, number>> {
  if (rows.length === 0) return new Map()
  await db
    .insertInto('prices')
    .values(rows)
    .onConflict((conflict) => conflict.column('digest').doNothing())
    .execute()
  const stored = await db
    .selectFrom('prices')
    .select(['id', 'digest'])
    .where(
      'digest',
      'in',
      rows.map(({ digest }) => digest),
    )
    .execute()
  return new Map(stored.map(({ id, digest }) => [digest, id]))
}

interface PriceRow {
  digest: string
  model_id: string
  tiers: string
  units: string | null
  /** The price of which this is the share that a cached answer is charged. */
  share_of: number | null
}

function rowOf(modelId: string, price: PriceTerms, shareOf: number | null = null): PriceRow {
  const tiers = JSON.stringify(tiersOf(price))
  const units = price.units ? JSON.stringify(unitsOf(price.units)) : null
  const share = shareOf === null ? [] : [`share of ${shareOf}`]
  const digest = sha256([modelId, tiers, ...(units === null ? [] : [units]), ...share].join('\n'))
  return { digest: digest.toString('hex'), model_id: modelId, tiers, units, share_of: shareOf }
}

/** Stores prices of one model, unless they are stored already, and returns them in the given order. */
export async function storePrices(
  db: Database,
  modelId: string,
  terms: readonly PriceTerms[],
  shareOf: number | null = null,
): Promise<Price[]> {
  const rows = terms.map((price) => rowOf(modelId, price, shareOf))
  const ids = await storeRows(db, [...new Map(rows.map((row) => [row.digest, row])).values()])
  return terms.map((price, index) => ({
    id: ids.get((rows[index] as PriceRow).digest) as number,
    ...price,
  }))
}

/** Stores this share of every amount of a price, rounded down, and returns it: what a cached answer is charged by. */
export async function storeShareOfPrice(
  db: Database,
  modelId: string,
  { id, tiers, units }: Price,
  percent: number,
): Promise<Price> {
  const part = (amount: bigint): bigint => (amount * BigInt(percent)) / 100n
  const share = {
    tiers: tiers.map((tier) => ({
      abovePromptTokens: tier.abovePromptTokens,
      input: part(tier.input),
      cachedInput: part(tier.cachedInput),
      cacheWrite: part(tier.cacheWrite),
      output: part(tier.output),
      reasoning: part(tier.reasoning),
    })),
    ...(units && {
      units: Object.fromEntries(Object.entries(units).map(([unit, each]) => [unit, part(each)])),
    }),
  }
  const [stored] = await storePrices(db, modelId, [share], id)
  return stored as Price
}

/** Finds a stored price, for the orphaned hold of a dead node. */
export async function findPrice(db: Database, priceId: number): Promise<Price | undefined> {
  return (await findPrices(db, [priceId])).get(priceId)
}

export async function findPrices(
  db: Database,
  ids: readonly number[],
): Promise<ReadonlyMap<number, Price>> {
  if (ids.length === 0) return new Map()
  const rows = await db
    .selectFrom('prices')
    .select(['id', 'tiers', 'units'])
    .where('id', 'in', ids)
    .execute()
  return new Map(rows.map((row) => [row.id, toPrice(row)]))
}

function toPrice(row: { id: number; tiers: unknown; units: unknown }): Price {
  const tiers = row.tiers as StoredTier[]
  const units = Object.entries((row.units ?? {}) as StoredUnits)
  return {
    id: row.id,
    tiers: tiers.map((tier) => ({
      abovePromptTokens: tier.above_prompt_tokens,
      input: BigInt(tier.input),
      cachedInput: BigInt(tier.cached_input),
      cacheWrite: BigInt(tier.cache_write),
      output: BigInt(tier.output),
      reasoning: BigInt(tier.reasoning),
    })),
    ...(units.length > 0
      ? { units: Object.fromEntries(units.map(([unit, each]) => [unit, BigInt(each)])) }
      : {}),
  }
}

/** Micro-USD per million tokens, as text: the digits of a bigint survive any JSON. */
interface StoredTier {
  above_prompt_tokens: number
  input: string
  cached_input: string
  cache_write: string
  output: string
  reasoning: string
}

/** Pico-USD per unit, as text. The keys are sorted, so that equal prices have equal digests. */
type StoredUnits = Record<string, string>

function unitsOf(units: UnitPrices): StoredUnits {
  const sorted = Object.entries(units).sort(([left], [right]) => (left < right ? -1 : 1))
  return Object.fromEntries(sorted.map(([unit, each]) => [unit, each.toString()]))
}

function tiersOf(price: PriceTerms): StoredTier[] {
  return price.tiers.map((tier) => ({
    above_prompt_tokens: tier.abovePromptTokens,
    input: tier.input.toString(),
    cached_input: tier.cachedInput.toString(),
    cache_write: tier.cacheWrite.toString(),
    output: tier.output.toString(),
    reasoning: tier.reasoning.toString(),
  }))
}

interface Priced<P> {
  readonly price: P
  readonly priceSchedule?: PriceSchedule<P>
}

/** Returns the model with all of its prices and those of its routes replaced, whenever they apply. */
export function mapPrices<P extends PriceTerms, Q extends PriceTerms>(
  model: Model<P>,
  map: (price: P) => Q,
): Model<Q> {
  return {
    ...mapped(model, map),
    routes: model.routes.map((route) => mapped(route, map)),
  }
}

function mapped<P, Q, Rest extends Priced<P>>(
  { price, priceSchedule, ...rest }: Rest,
  map: (price: P) => Q,
): Omit<Rest, keyof Priced<P>> & Priced<Q> {
  return {
    ...rest,
    price: map(price),
    ...(priceSchedule && { priceSchedule: mapSchedule(priceSchedule, map) }),
  }
}
