import type { Database } from '../db/open.ts'
import { sha256 } from '../lib/ids.ts'
import type { Model } from './model.ts'
import type { Price } from './prices.ts'

/**
 * Stores the price of each model, unless the same price of the same model is stored already, and
 * returns the id of each by model id. A stored price never changes, so a charge can always be
 * computed again from the price it names.
 */
export async function registerPrices(
  db: Database,
  models: readonly Model[],
): Promise<Map<string, number>> {
  const priceIds = new Map<string, number>()
  if (models.length === 0) return priceIds
  const rows = models.map((model) => {
    const tiers = JSON.stringify(tiersOf(model.price))
    const digest = sha256(`${model.id}\n${tiers}`).toString('hex')
    return { digest, model_id: model.id, tiers }
  })
  await db
    .insertInto('prices')
    .values(rows)
    .onConflict((conflict) => conflict.column('digest').doNothing())
    .execute()
  const stored = await db
    .selectFrom('prices')
    .select(['id', 'model_id'])
    .where(
      'digest',
      'in',
      rows.map((row) => row.digest),
    )
    .execute()
  for (const row of stored) priceIds.set(row.model_id, row.id)
  return priceIds
}

/** Prices stored before, by id: to cost what a dead node left behind. */
export async function findPrice(db: Database, priceId: number): Promise<Price | undefined> {
  const row = await db
    .selectFrom('prices')
    .select('tiers')
    .where('id', '=', priceId)
    .executeTakeFirst()
  if (!row) return undefined
  const tiers = row.tiers as StoredTier[]
  return {
    tiers: tiers.map((tier) => ({
      abovePromptTokens: tier.above_prompt_tokens,
      input: BigInt(tier.input),
      cachedInput: BigInt(tier.cached_input),
      cacheWrite: BigInt(tier.cache_write),
      output: BigInt(tier.output),
      reasoning: BigInt(tier.reasoning),
    })),
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
