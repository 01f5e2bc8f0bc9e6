/** Converts the price data package (decimal USD as floats) to whole micro-USD. */
import { findProvider } from '@pydantic/genai-prices'
import { hourCacheUnits } from './hour-cache.ts'
import type { PriceTerms, PriceTier, TokenPrices } from './prices.ts'

/** USD per unit: a number, or tiers by the size of the prompt. */
type Amount = number | { base: number; tiers: { start: number; price: number }[] }
type Amounts = Record<string, Amount | undefined>
interface Conditional {
  constraint?: { type: string; start_date?: string }
  prices: Amounts
}

const TOKEN_KINDS = {
  input: ['input_mtok'],
  cachedInput: ['cache_read_mtok', 'input_mtok'],
  cacheWrite: ['cache_write_mtok', 'input_mtok'],
  output: ['output_mtok'],
  reasoning: ['output_reasoning_mtok', 'output_mtok'],
} satisfies Record<keyof TokenPrices, string[]>

/** Units by their keys in the data. One micro-USD per million tokens is one pico-USD per token. */
const TOKEN_UNITS: Record<string, string> = {
  input_audio_mtok: 'input_audio_tokens',
  input_image_mtok: 'input_image_tokens',
  output_image_mtok: 'output_image_tokens',
}
const PICO_PER_MICRO = 1_000_000n
const SECONDS_PER_HOUR = 3_600n

const TEXT_KEYS = new Set([
  'input_mtok',
  'output_mtok',
  'cache_read_mtok',
  'cache_write_mtok',
  'cache_write_1h_mtok',
  'output_reasoning_mtok',
])

/**
 * The price of a model at a given time. Throws if the data has none, so that no model is ever without a price.
 *
 * If a price depends on the time of day, the highest price of the day applies. A kind of token without its own price
 * costs as much as the kind that includes it. One-hour cache writes are a surcharge; see `hour-cache.ts`.
 */
export function priceFromData(from: { provider: string; model: string }, at: Date): PriceTerms {
  const model = findProvider({ providerId: from.provider })?.models.find(
    ({ id }) => id === from.model,
  )
  if (!model) throw new Error(`the price data has no model "${from.model}" of "${from.provider}"`)
  const amounts = amountsAt(model.prices, at)
  const tiers = tiersOf(amounts)
  const units = { ...unitsOf(amounts), ...hourCacheUnitsOf(amounts, tiers) }
  const hasUnits = Object.keys(units).length > 0
  if (amounts.input_mtok === undefined && !hasUnits)
    throw new Error(`the price data has no price for "${from.model}"`)
  return { tiers, ...(hasUnits ? { units } : {}) }
}

/** Other priced items of the data (searches, pages, storage) need no price, because the gateway refuses them. */
function unitsOf(amounts: Amounts): Record<string, bigint> {
  const units: Record<string, bigint> = {}
  for (const [key, unit] of Object.entries(TOKEN_UNITS)) {
    if (amounts[key] !== undefined) units[unit] = microUsd(baseOf(amounts[key]))
  }
  if (amounts.audio_hours !== undefined)
    units.audio_seconds = picoUsdPerSecond(microUsd(baseOf(amounts.audio_hours)))
  return units
}

function hourCacheUnitsOf(amounts: Amounts, tiers: readonly PriceTier[]): Record<string, bigint> {
  const amount = amounts.cache_write_1h_mtok
  if (amount === undefined) return {}
  return hourCacheUnits(
    tiers,
    tiers.map(({ abovePromptTokens }) => microUsd(amountFrom(amount, abovePromptTokens))),
  )
}

/** Rounds up to whole pico-USD, which adds less than 3,600 pico-USD to the price of an hour. */
export function picoUsdPerSecond(microUsdPerHour: bigint): bigint {
  return (microUsdPerHour * PICO_PER_MICRO + SECONDS_PER_HOUR - 1n) / SECONDS_PER_HOUR
}

/** USD with at most six decimals is a whole number of micro-USD; more decimals are rounded up. */
export function microUsd(usd: number): bigint {
  const match = /^(\d+)(?:\.(\d+))?(?:e-(\d+))?$/.exec(String(usd))
  if (!match) throw new Error(`${usd} is not a price`)
  const [, whole = '', fraction = '', exponent = '0'] = match
  const scale = fraction.length + Number(exponent)
  const digits = BigInt(whole + fraction)
  if (scale <= 6) return digits * 10n ** BigInt(6 - scale)
  const divisor = 10n ** BigInt(scale - 6)
  return (digits + divisor - 1n) / divisor
}

function amountsAt(prices: Amounts | Conditional[], at: Date): Amounts {
  if (!Array.isArray(prices)) return prices
  const inForce = prices.filter(
    ({ constraint }) =>
      constraint?.start_date === undefined || Date.parse(constraint.start_date) <= at.getTime(),
  )
  const byTime = inForce.filter(({ constraint }) => constraint?.type === 'time_of_date')
  // Among prices by date, the last one that has started applies; among prices by hour, the highest of each kind.
  const base = inForce.filter(({ constraint }) => constraint?.type !== 'time_of_date').at(-1)
  return [base, ...byTime].reduce<Amounts>((highest, each) => {
    for (const [key, amount] of Object.entries(each?.prices ?? {})) {
      if (
        amount !== undefined &&
        (highest[key] === undefined || baseOf(amount) > baseOf(highest[key]))
      )
        highest[key] = amount
    }
    return highest
  }, {})
}

function tiersOf(amounts: Amounts): PriceTier[] {
  const starts = new Set([0])
  for (const [key, amount] of Object.entries(amounts)) {
    if (TEXT_KEYS.has(key) && typeof amount === 'object')
      for (const tier of amount.tiers) starts.add(tier.start)
  }
  return [...starts]
    .sort((a, b) => a - b)
    .map((start) => {
      const kind = (keys: readonly string[]): bigint => {
        const amount = keys.map((key) => amounts[key]).find((found) => found !== undefined)
        return amount === undefined ? 0n : microUsd(amountFrom(amount, start))
      }
      return {
        abovePromptTokens: start,
        input: kind(TOKEN_KINDS.input),
        cachedInput: kind(TOKEN_KINDS.cachedInput),
        cacheWrite: kind(TOKEN_KINDS.cacheWrite),
        output: kind(TOKEN_KINDS.output),
        reasoning: kind(TOKEN_KINDS.reasoning),
      }
    })
}

function amountFrom(amount: Amount, start: number): number {
  if (typeof amount === 'number') return amount
  const reached = amount.tiers
    .filter((tier) => tier.start <= start)
    .sort((a, b) => a.start - b.start)
  return reached.at(-1)?.price ?? amount.base
}

function baseOf(amount: Amount): number {
  return typeof amount === 'number' ? amount : amount.base
}
