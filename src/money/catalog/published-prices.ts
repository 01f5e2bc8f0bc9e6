/**
 * Reads the price data as its makers publish it. It comes from the internet and decides about money, so its form is pinned:
 * data with anything unknown in it is refused as a whole, and so is data that moves too far from what is known. Pure.
 */
import { isDeepStrictEqual } from 'node:util'
import { findProvider, type MatchLogic, type ModelInfo } from '@pydantic/genai-prices'
import Type, { type Static } from 'typebox'
import { Value } from 'typebox/value'
import type { StoredModelPrices } from '../../platform/db/tables.ts'
import { isObject } from '../../platform/lib/is-object.ts'
import { builtInModels } from './built-in-models.ts'
import { KINDS, movesMoreThan } from './compare-amounts.ts'
import { packagedPriceData, readSchedule } from './price-from-data.ts'
import type { PriceTerms, PriceTier } from './prices.ts'
import { pricedBy } from './upstream-presets.ts'

/** The models of each provider that this program sells at the prices of the data. */
export type PublishedData = StoredModelPrices

/** The published data is not taken; the message says why. */
export class PublishedDataFault extends Error {}

/** The data has some 1,500 models. */
const MODELS_MAX = 4_000
const NAMES_MAX = 200
/** In either direction. A currency or a unit that was taken for another one moves prices so far. */
const FACTOR_MAX = 10n
/** No release of the data changes so many models at once. */
const CHANGED_SHARE_MAX = 1 / 3
/** Of fewer known models, all may change. */
const CHANGED_MIN = 5
/** In micro-USD per million tokens, and in tokens: nobody sells a chat model below. */
const TOKEN_PRICE_MIN = 5_000n
const CONTEXT_MIN = 8_192

const strict = { additionalProperties: false }
const amount = Type.Number({ minimum: 0, maximum: 100_000 })
const tiered = Type.Object(
  {
    base: amount,
    tiers: Type.Array(
      Type.Object(
        { start: Type.Integer({ minimum: 0, maximum: 100_000_000 }), price: amount },
        strict,
      ),
      { maxItems: 10 },
    ),
  },
  strict,
)
const amounts = Type.Record(
  Type.String({ pattern: '^[a-z][a-z0-9_]{0,49}$' }),
  Type.Union([amount, tiered]),
  strict,
)
const day = Type.String({ pattern: '^20\\d\\d-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\\d|3[01])$' })
const timeOfDay = Type.String({ pattern: '^(?:[01]\\d|2[0-3]):[0-5]\\d:[0-5]\\dZ$' })
const constraint = Type.Union([
  Type.Object({ type: Type.Optional(Type.Literal('start_date')), start_date: day }, strict),
  Type.Object(
    {
      type: Type.Optional(Type.Literal('time_of_date')),
      start_time: timeOfDay,
      end_time: timeOfDay,
    },
    strict,
  ),
])
const conditional = Type.Object({ constraint: Type.Optional(constraint), prices: amounts }, strict)
const text = Type.Optional(Type.String({ maxLength: 4_000 }))
const model = Type.Object(
  {
    id: Type.String({ pattern: '^[\\x21-\\x7e]{1,100}$' }),
    name: Type.Optional(Type.String({ maxLength: 100 })),
    description: text,
    match: Type.Unknown(),
    context_window: Type.Optional(Type.Integer({ minimum: 1, maximum: 10_000_000 })),
    price_comments: text,
    prices: Type.Union([amounts, Type.Array(conditional, { minItems: 1, maxItems: 8 })]),
    deprecated: Type.Optional(Type.Boolean()),
  },
  strict,
)
const provider = Type.Object(
  {
    id: Type.String({ pattern: '^[\\x21-\\x7e]{1,100}$' }),
    models: Type.Array(model, { maxItems: MODELS_MAX }),
    name: text,
    description: text,
    price_comments: text,
    api_pattern: text,
    // Only for those who read answers by this data.
    pricing_urls: Type.Optional(Type.Unknown()),
    model_match: Type.Optional(Type.Unknown()),
    provider_match: Type.Optional(Type.Unknown()),
    extractors: Type.Optional(Type.Unknown()),
    fallback_model_providers: Type.Optional(Type.Unknown()),
  },
  strict,
)
const published = Type.Array(provider, { minItems: 1, maxItems: 1_000 })

/** Only these are kept and compared. */
const PROVIDERS: ReadonlySet<string> = new Set([
  ...Object.values(pricedBy).map((each) => each.provider),
  ...builtInModels.flatMap(({ priceFrom }) => priceFrom?.provider ?? []),
])

/** Throws a `PublishedDataFault`. */
export function readPublishedData(json: string): PublishedData {
  const data = parse(json)
  const known = data.filter(({ id }) => PROVIDERS.has(id))
  for (const list of [known, ...known.map(({ models }) => models)])
    if (new Set(list.map(({ id }) => id)).size < list.length)
      throw new PublishedDataFault('it has an id twice')
  return known.map(({ id, models }) => ({ id, models: models.map(keptOf) }))
}

function keptOf({ id, match, prices, name, context_window, deprecated }: Static<typeof model>) {
  return {
    id,
    match: { or: matchesOf(match) },
    prices,
    ...(name !== undefined && { name: name.replace(/\p{C}/gu, '') }),
    ...(context_window !== undefined && { context_window }),
    ...(deprecated !== undefined && { deprecated }),
  }
}

function parse(json: string): Static<typeof published> {
  let value: unknown
  try {
    value = JSON.parse(json)
  } catch {
    throw new PublishedDataFault('it is no JSON')
  }
  // Before anything else looks at each of them.
  if (Array.isArray(value) && value.reduce((sum, each) => sum + countOf(each), 0) > MODELS_MAX)
    throw new PublishedDataFault(`it has more than ${MODELS_MAX} models`)
  if (Value.Check(published, value)) return value
  const [first] = Value.Errors(published, value)
  throw new PublishedDataFault(`its form is unknown: ${first?.instancePath.slice(0, 200)}`)
}

function countOf(provider: unknown): number {
  const models = isObject(provider) ? provider['models'] : undefined
  return Array.isArray(models) ? models.length : 1
}

const NAME = /^[\x21-\x7e]{1,150}$/
/** A pattern of versions, such as `^grok-4\.3-\d{8}$`. No other pattern of a stranger is run. */
const VERSIONS = /^\^((?:[\w/:-]|\\\.)+?)-\\d\{(?:8\}|4\}-\\d\{2\}-\\d\{2\})\$$/

/** The whole names and the beginnings of names with versions; the data's other ways to match would be guesses here. */
function matchesOf(match: unknown): MatchLogic[] {
  const found: MatchLogic[] = []
  const open = [match]
  while (open.length > 0 && found.length < NAMES_MAX) {
    const { or, equals, starts_with, regex } = (open.pop() ?? {}) as Record<string, unknown>
    if (Array.isArray(or)) open.push(...or.slice(0, NAMES_MAX).toReversed())
    if (isName(equals)) found.push({ equals })
    const begin = typeof regex === 'string' ? VERSIONS.exec(regex)?.[1] : starts_with
    if (isName(begin)) found.push({ starts_with: begin.replaceAll('\\.', '.') })
  }
  return found
}

function isName(value: unknown): value is string {
  return typeof value === 'string' && NAME.test(value)
}

/** The models of the package, to compare the first published data with. */
export function packagedData(): PublishedData {
  return [...PROVIDERS].flatMap((providerId) => {
    const found = findProvider({ providerId })
    return found ? [{ id: providerId, models: JSON.parse(JSON.stringify(found.models)) }] : []
  })
}

/** Whether a model that nothing else is known about may be sold: its price and its context are none of a slip. */
export function isBelievable({ id, prices, context_window: context = CONTEXT_MIN }: ModelInfo) {
  const tiers = tiersOf(prices, id)
  return (
    context >= CONTEXT_MIN &&
    tiers.length > 0 &&
    tiers.every(({ input, output }) => input >= TOKEN_PRICE_MIN && output >= TOKEN_PRICE_MIN)
  )
}

/** By provider. */
const packagedTiers = new Map<string, readonly PriceTier[]>()

/**
 * Whether a new model costs at least as much as the cheapest one that the package has of the provider, in each kind of
 * token: an invented one could cost next to nothing. No model of a provider that the package lacks does.
 */
export function isUsuallyPriced(provider: string, { id, prices }: ModelInfo): boolean {
  let known = packagedTiers.get(provider)
  if (!known) {
    const { models = [] } = findProvider({ providerId: provider }) ?? {}
    known = models.filter(isBelievable).flatMap((each) => tiersOf(each.prices, each.id))
    packagedTiers.set(provider, known)
  }
  const packaged = known
  return tiersOf(prices, id).every((tier) =>
    KINDS.every((kind) => packaged.some((each) => each[kind] <= tier[kind])),
  )
}

function tiersOf(prices: unknown, id: string): PriceTier[] {
  return allTerms(prices, id).flatMap(({ tiers }) => tiers)
}

/**
 * Throws a `PublishedDataFault` if a model's price is more than ten times what each of the known data says, or less than a
 * tenth of it, or if too many models of the data before changed or vanished. No true release of the data does that.
 */
export function assertPlausible(data: PublishedData, before: PublishedData): void {
  let known = 0
  let changed = 0
  for (const { id: from, models } of before) {
    const now = new Map(data.find(({ id }) => id === from)?.models.map((each) => [each.id, each]))
    for (const { id, prices } of models) {
      known++
      const priced = now.get(id)?.prices
      if (isDeepStrictEqual(priced, prices)) continue
      changed++
      const others = [prices, packagedPriceData.findPrices(from, id)]
      if (
        isFar(
          allTerms(priced, id),
          others.flatMap((each) => allTerms(each, id)),
        )
      )
        throw new PublishedDataFault(`a price of "${id}" moves more than ${FACTOR_MAX} times`)
    }
  }
  if (changed > Math.max(CHANGED_MIN, known * CHANGED_SHARE_MAX))
    throw new PublishedDataFault(`${changed} of ${known} models change or vanish at once`)
}

function isFar(prices: readonly PriceTerms[], known: readonly PriceTerms[]): boolean {
  if (known.length === 0) return false
  return prices.some((price) => known.every((other) => movesMoreThan(FACTOR_MAX, other, price)))
}

/** Every price at any time; none if the prices cannot be read, which are never sold. */
function allTerms(prices: unknown, id: string): PriceTerms[] {
  if (!prices) return []
  try {
    const from = { provider: '', model: id }
    return readSchedule(prices as never, from, Infinity).map(({ price }) => price)
  } catch {
    return []
  }
}
