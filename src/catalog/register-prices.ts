import type { Database } from '../db/open.ts'
import { sha256 } from '../lib/ids.ts'
import type { Model } from './model.ts'
import type { Price, UnitPrices } from './prices.ts'

/** The ids of stored prices, by the price itself: every route of a model names one. */
export type PriceIds = ReadonlyMap<Price, number>

/**
 * Stores the prices of each model and its routes, unless the same price of the same model is stored
 * already, and returns their ids. A stored price never changes, so a charge can always be computed
 * again from the price it names.
 */
export async function registerPrices(db: Database, models: readonly Model[]): Promise<PriceIds> {
  const digests = new Map<Price, string>()
  const rows = new Map<string, PriceRow>()
  for (const model of models) {
    for (const price of [model.price, ...model.routes.map((route) => route.price)]) {
      const row = rowOf(model.id, price)
      digests.set(price, row.digest)
      rows.set(row.digest, row)
    }
  }
  if (rows.size === 0) return new Map()
  await db
    .insertInto('prices')
    .values([...rows.values()])
    .onConflict((conflict) => conflict.column('digest').doNothing())
    .execute()
  const stored = await db
    .selectFrom('prices')
    .select(['id', 'digest'])
    .where('digest', 'in', [...rows.keys()])
    .execute()
  const ids = new Map(stored.map((row) => [row.digest, row.id]))
  return new Map([...digests].map(([price, digest]) => [price, ids.get(digest) as number]))
}

interface PriceRow {
  digest: string
  model_id: string
  tiers: string
  units: string | null
}

function rowOf(modelId: string, price: Price): PriceRow {
  const tiers = JSON.stringify(tiersOf(price))
  const units = price.units ? JSON.stringify(unitsOf(price.units)) : null
  const digest = sha256([modelId, tiers, ...(units === null ? [] : [units])].join('\n'))
  return { digest: digest.toString('hex'), model_id: modelId, tiers, units }
}

/** Prices stored before, by id: to cost what a dead node left behind. */
export async function findPrice(db: Database, priceId: number): Promise<Price | undefined> {
  const row = await db
    .selectFrom('prices')
    .select(['tiers', 'units'])
    .where('id', '=', priceId)
    .executeTakeFirst()
  if (!row) return undefined
  const tiers = row.tiers as StoredTier[]
  const units = Object.entries((row.units ?? {}) as StoredUnits)
  return {
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

/** Pico-USD of one unit, as text; its keys sorted, so that the same prices have the same digest. */
type StoredUnits = Record<string, string>

function unitsOf(units: UnitPrices): StoredUnits {
  const sorted = Object.entries(units).sort(([left], [right]) => (left < right ? -1 : 1))
  return Object.fromEntries(sorted.map(([unit, each]) => [unit, each.toString()]))
}

function tiersOf(price: Price): StoredTier[] {
  return price.tiers.map((tier) => ({
    above_prompt_tokens: tier.abovePromptTokens,
    input: tier.input.toString(),
    cached_input: tier.cachedInput.toString(),
    cache_write: tier.cacheWrite.toString(),
    output: tier.output.toString(),
    reasoning: tier.reasoning.toString(),
  }))
}
