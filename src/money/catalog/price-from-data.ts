/** Converts the price data package (decimal USD as floats) to whole micro-USD. */
import { findProvider, type MatchLogic } from '@pydantic/genai-prices'
import { hourCacheUnits } from './hour-cache.ts'
import type { PriceSchedule, PriceWindow, ScheduledPrice } from './price-schedule.ts'
import type { PriceTerms, PriceTier, TokenPrices } from './prices.ts'

/** USD per unit: a number, or tiers by the size of the prompt. */
type Amount = number | { base: number; tiers: { start: number; price: number }[] }
type Amounts = Record<string, Amount | undefined>
interface Conditional {
  readonly constraint?:
    | { readonly type?: 'start_date'; readonly start_date: string }
    | { readonly type?: 'time_of_date'; readonly start_time: string; readonly end_time: string }
  readonly prices: Amounts
}

/** The providers of the price data: those of the package, or of a newer file of its makers. */
export interface PriceData {
  findPrices(provider: string, model: string): Amounts | readonly Conditional[] | undefined
}

export const packagedPriceData: PriceData = {
  findPrices: (providerId, model) =>
    findProvider({ providerId })?.models.find(({ id }) => id === model)?.prices,
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

export const TEXT_KEYS = new Set([
  'input_mtok',
  'output_mtok',
  'cache_read_mtok',
  'cache_write_mtok',
  'cache_write_1h_mtok',
  'output_reasoning_mtok',
])

/** Where the price of a model is in the data. */
export interface PriceSource {
  readonly provider: string
  readonly model: string
  /** Its names, if the package does not have it. */
  readonly match?: MatchLogic
  /** The days on which the daily windows of the data apply, where the provider has a rule that the data cannot say. */
  readonly weekdays?: PriceWindow['weekdays']
}

/**
 * Returns the prices of a model. Throws if the data has none, so that no model is ever without a price.
 * Tiers that begin beyond the model's context are left out.
 *
 * A kind of token without its own price costs as much as the kind that includes it. One-hour cache writes are a
 * surcharge; see `hour-cache.ts`.
 */
export function scheduleFromData(
  from: PriceSource,
  contextTokens: number,
  data: PriceData = packagedPriceData,
): PriceSchedule<PriceTerms> {
  const prices = data.findPrices(from.provider, from.model)
  if (!prices) throw new Error(`the price data has no model "${from.model}" of "${from.provider}"`)
  return readSchedule(prices, from, contextTokens)
}

export function readSchedule(
  prices: Amounts | readonly Conditional[],
  from: PriceSource,
  contextTokens: number,
): PriceSchedule<PriceTerms> {
  const entries = Array.isArray(prices) ? (prices as readonly Conditional[]) : undefined
  const [first = { prices: prices as Amounts }, ...later] = entries ?? []
  if (first.constraint) throw new Error(`the price data has no first price for "${from.model}"`)
  const termsOf = ({ prices }: Conditional) => readTerms(prices, from, contextTokens)
  const scheduled = later.map((each) => ({ ...timesOf(each, from), price: termsOf(each) }))
  return [{ price: termsOf(first) }, ...scheduled]
}

function timesOf(
  { constraint }: Conditional,
  { model, weekdays }: PriceSource,
): Omit<ScheduledPrice<unknown>, 'price'> {
  if (constraint && 'start_date' in constraint) return { startsAt: new Date(constraint.start_date) }
  if (constraint && 'start_time' in constraint)
    return {
      window: {
        fromSecond: secondOf(constraint.start_time),
        untilSecond: secondOf(constraint.end_time),
        ...(weekdays && { weekdays }),
      },
    }
  throw new Error(`the price data has an unknown condition for "${model}"`)
}

/** `00:30:00Z` */
function secondOf(time: string): number {
  const at = Date.parse(`1970-01-01T${time}`)
  if (Number.isNaN(at)) throw new Error(`the price data has an unknown time: ${time}`)
  return at / 1_000
}

function readTerms(amounts: Amounts, { model }: PriceSource, contextTokens: number): PriceTerms {
  const tiers = tiersOf(amounts).filter(
    ({ abovePromptTokens }) => abovePromptTokens < contextTokens,
  )
  const units = { ...unitsOf(amounts), ...hourCacheUnitsOf(amounts, tiers) }
  const hasUnits = Object.keys(units).length > 0
  if (amounts.input_mtok === undefined && !hasUnits)
    throw new Error(`the price data has no price for "${model}"`)
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

/** Converts USD to micro-USD. With at most six decimals the result is exact; more decimals are rounded up. */
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
      const input = kind(TOKEN_KINDS.input)
      const cacheWrite = kind(TOKEN_KINDS.cacheWrite)
      return {
        abovePromptTokens: start,
        input,
        cachedInput: kind(TOKEN_KINDS.cachedInput),
        // Some entries have the storage of a cache there, which comes on top of the price of the written token.
        cacheWrite: cacheWrite < input ? input : cacheWrite,
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
