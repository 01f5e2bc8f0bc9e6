/**
 * A second published list of prices. It sets no price: where it says something else than the price data, nothing is taken
 * without an operator, so a wrong one costs a click and never money. Only input and output are compared, up to the first
 * tier. Pure.
 */
import Type from 'typebox'
import { Value } from 'typebox/value'
import { decimalUsd } from '../../platform/lib/money.ts'
import type { ConfiguredModel } from './model.ts'
import type { Dispute, PriceDifference } from './price-data-differences.ts'
import { readSchedule } from './price-from-data.ts'
import { pricesBetween, withoutPast } from './price-schedule.ts'
import type { PriceTerms, PriceTier } from './prices.ts'
import { PublishedDataFault, readPublishedData, type PublishedData } from './published-prices.ts'
import { scheduleOf } from './with-price-changes.ts'

type Entry = PublishedData[number]['models'][number]

/** In hundredths of the higher price: lists round. */
const TOLERANCE_PERCENT = 1n
const DAY_MS = 86_400_000
const PICO_PER_MICRO = 1_000_000n
/** OpenRouter has some 350. */
const MODELS_MAX = 4_000

/**
 * The providers of the price data by OpenRouter's names of makers. Of models that many serve, OpenRouter shows the price of
 * the cheapest server, which says nothing about the maker's.
 */
const MAKERS = new Map([
  ['openai', 'openai'],
  ['anthropic', 'anthropic'],
  ['google', 'google'],
  ['x-ai', 'x-ai'],
  ['mistralai', 'mistral'],
  ['cohere', 'cohere'],
])
const SERVED_BY_MANY = /^(?:gpt-oss|gemma|mistral-nemo)/

const routerList = Type.Object({
  data: Type.Array(
    Type.Object({
      id: Type.String(),
      pricing: Type.Object({ prompt: Type.String(), completion: Type.String() }),
    }),
    { maxItems: MODELS_MAX },
  ),
})

/** `anthropic/claude-sonnet-4.5`; neither a variant (`:free`) nor an alias (`~anthropic/…`). */
const ROUTER_ID = /^([a-z0-9-]{1,50})\/([\w.-]{1,100})$/
/** USD per million tokens, as in the price data. */
const AMOUNT_MAX = 100_000

/** Reads a list in the form of the price data, or in OpenRouter's (`GET /api/v1/models`). Throws a `PublishedDataFault`. */
export function readSecondList(json: string): PublishedData {
  if (/^\s*\[/.test(json)) return readPublishedData(json)
  let value: unknown
  try {
    value = JSON.parse(json)
  } catch {
    throw new PublishedDataFault('it is no JSON')
  }
  if (!Value.Check(routerList, value)) throw new PublishedDataFault('its form is unknown')
  const found = new Map<string, Entry[]>()
  for (const { id, pricing } of value.data) {
    const [, maker = '', name = ''] = ROUTER_ID.exec(id) ?? []
    const provider = MAKERS.get(maker)
    const [input, output] = [perMillion(pricing.prompt), perMillion(pricing.completion)]
    if (!provider || !input || !output || SERVED_BY_MANY.test(name)) continue
    const prices = { input_mtok: input, output_mtok: output }
    found.set(provider, [
      ...(found.get(provider) ?? []),
      { id: name, match: { equals: name }, prices },
    ])
  }
  if (found.size === 0) throw new PublishedDataFault('it has no price that can be read')
  return [...found].map(([id, models]) => ({ id, models }))
}

/** In USD; undefined for what is free, or has no price of its own (`-1`). */
function perMillion(usdPerToken: string): number | undefined {
  const usd = Number((Number(usdPerToken) * 1e6).toFixed(6))
  return usd > 0 && usd <= AMOUNT_MAX ? usd : undefined
}

/** Says of each difference what the second list says about the prices of the data. */
export function withOpinions(
  found: readonly PriceDifference[],
  models: readonly ConfiguredModel[],
  second: PublishedData,
  now: Date,
): PriceDifference[] {
  return found.map((difference) => {
    const { modelId, schedule, text } = difference
    const from = models.find(({ id }) => id === modelId)?.priceFrom
    const prices = schedule?.map(({ price }) => price)
    const opinion = from && prices && opinionOn(prices, from, second, now)
    return opinion
      ? { ...difference, text: `${text}; ${opinion.text}`, isDisputed: !opinion.agrees }
      : difference
  })
}

/** The prices in force, or planned, of which the second list says something else; not those of the operator's file. */
export function findDisputes(
  models: readonly ConfiguredModel[],
  second: PublishedData,
  now: Date,
  plannedAt: (modelId: string) => Date | undefined,
): Dispute[] {
  return models.flatMap((model): Dispute[] => {
    const { id: modelId, priceFrom, hasOwnPrice } = model
    if (hasOwnPrice) return []
    const fromMs = Math.max(now.getTime(), plannedAt(modelId)?.getTime() ?? 0)
    const prices = pricesBetween(scheduleOf(model), fromMs, fromMs + DAY_MS)
    const opinion = priceFrom && opinionOn(prices, priceFrom, second, now)
    const tier = prices[0]?.tiers[0]
    if (!opinion || opinion.agrees || !tier) return []
    const text = `${amountsOf(tier)}; ${opinion.text}`
    return [{ modelId, text, kind: 'disputed' }]
  })
}

export interface Opinion {
  readonly agrees: boolean
  /** For people. */
  readonly text: string
}

/** What the second list says about all of these prices; undefined if it does not have the model. */
export function opinionOn(
  prices: readonly PriceTerms[],
  from: { readonly provider: string; readonly model: string },
  second: PublishedData,
  now: Date,
): Opinion | undefined {
  const theirs = findPrices(from, second, now.getTime())
  const [first] = theirs
  if (!first) return undefined
  const agrees = prices.every(
    ({ tiers: [tier] }) => tier && theirs.some((each) => isNear(tier, each)),
  )
  return { agrees, text: agrees ? 'second list agrees' : `second list says ${amountsOf(first)}` }
}

/** The same about an entry of the data, at every time from now on. */
export function opinionOnEntry(
  provider: string,
  { id: model, prices }: Entry,
  second: PublishedData,
  now: Date,
): Opinion | undefined {
  const schedule = read(prices, model)
  const later = schedule ? withoutPast(schedule, now.getTime()).map(({ price }) => price) : []
  return opinionOn(later, { provider, model }, second, now)
}

/** Every price of the model within a day. */
function findPrices(
  { provider, model }: { readonly provider: string; readonly model: string },
  second: PublishedData,
  nowMs: number,
): PriceTier[] {
  const models = namesIn(second.find(({ id }) => id === provider)?.models ?? [])
  const found = models.get(model) ?? models.get(plain(model))
  const schedule = found && read(found.prices, model)
  if (!schedule) return []
  return pricesBetween(schedule, nowMs, nowMs + DAY_MS).flatMap(({ tiers: [tier] }) =>
    tier && tier.input > 0n ? [tier] : [],
  )
}

/** Undefined if the prices cannot be read, which are never sold. */
function read(prices: Entry['prices'], model: string) {
  try {
    return readSchedule(prices, { provider: '', model }, Infinity)
  } catch {
    return undefined
  }
}

/** By their names, and by their plain names; of several with one name, the first. */
function namesIn(models: readonly Entry[]): ReadonlyMap<string, Entry> {
  const known = NAMES.get(models)
  if (known) return known
  const names = new Map<string, Entry>()
  for (const nameOf of [(id: string) => id, plain])
    for (const entry of models) {
      const name = nameOf(entry.id)
      if (!names.has(name)) names.set(name, entry)
    }
  NAMES.set(models, names)
  return names
}

/** A list is long, and asked about each model of another one. */
const NAMES = new WeakMap<readonly Entry[], ReadonlyMap<string, Entry>>()

/** Lists write versions as `4.5` or `4-5`. */
function plain(id: string): string {
  return id.replaceAll('.', '-')
}

function isNear(one: PriceTier, other: PriceTier): boolean {
  const isWithin = (a: bigint, b: bigint): boolean =>
    (a > b ? a - b : b - a) * 100n <= (a > b ? a : b) * TOLERANCE_PERCENT
  return isWithin(one.input, other.input) && isWithin(one.output, other.output)
}

function amountsOf({ input, output }: PriceTier): string {
  const usd = (amount: bigint): string => decimalUsd(amount * PICO_PER_MICRO)
  return `input ${usd(input)}, output ${usd(output)}`
}
