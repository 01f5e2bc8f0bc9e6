/**
 * Reads `provider`: what a caller asks of the routes of its call, in the fields of OpenRouter's API. `choose-routes.ts`
 * obeys it. It never reaches an upstream.
 */
import type { RouteOrder } from '../../../money/catalog/model.ts'
import { isObject } from '../../../platform/lib/is-object.ts'
import type { JsonObject } from '../../providers/contract.ts'
import { findFallbacksFault, findModelIdFault, isAbsent, takeFallbacks } from '../field-faults.ts'

export interface RouteChoice {
  /** Names of providers in small letters, as all of these lists; an empty list asks for nothing. */
  readonly order: readonly string[]
  readonly only: readonly string[]
  readonly ignore: readonly string[]
  readonly sort: RouteOrder | undefined
  readonly maxPrice: MaxPrice | undefined
  readonly allowsFallbacks: boolean
  readonly deniesCollection: boolean
}

/** The most that the caller pays, in 10^-10 USD per million tokens: a price in micro-USD times a markup times 10^4. */
export interface MaxPrice {
  readonly prompt?: bigint | undefined
  readonly completion?: bigint | undefined
}

export const ANY_ROUTE: RouteChoice = {
  order: [],
  only: [],
  ignore: [],
  sort: undefined,
  maxPrice: undefined,
  allowsFallbacks: true,
  deniesCollection: false,
}

export const NAMES_MAX = 50
const LISTS = ['order', 'only', 'ignore'] as const
const PRICES = ['prompt', 'completion'] as const
/** The throughput is measured for a model, not for its routes: the time to the first byte stands for it. */
const SORTS: Readonly<Record<string, RouteOrder>> = {
  price: 'price',
  latency: 'fastest',
  throughput: 'fastest',
}
const VARIANTS: Readonly<Record<string, RouteOrder>> = { floor: 'price', nitro: 'fastest' }
/** Promises that no route makes here. They are refused, because to ignore them would break them. */
const UNKEPT = ['zdr', 'enforce_distillable_text', 'quantizations'] as const

/** Splits `gpt-4o:floor` into the name of a model and what the variant behind it sorts by. */
export function splitVariant(name: string): { name: string; sort: RouteOrder | undefined } {
  const colon = name.lastIndexOf(':')
  const variant = colon === -1 ? '' : name.slice(colon + 1)
  return Object.hasOwn(VARIANTS, variant)
    ? { name: name.slice(0, colon), sort: VARIANTS[variant] }
    : { name, sort: undefined }
}

/** Validates the fields of a body that choose its models and routes. */
export function findRoutingFault(body: JsonObject): string | undefined {
  return findModelIdFault(body) ?? findFallbacksFault(body) ?? findProviderFault(body)
}

/** Returns these fields of a valid body, and removes those that no upstream reads. */
export function takeRouting(body: JsonObject): {
  readonly modelId: string
  readonly fallbackModelIds: readonly string[]
  readonly choice: RouteChoice | undefined
} {
  return {
    modelId: body.model as string,
    fallbackModelIds: takeFallbacks(body),
    choice: takeChoice(body),
  }
}

/** Validates `provider`. Its unknown fields are ignored, as other routers do. */
export function findProviderFault({ provider }: JsonObject): string | undefined {
  if (isAbsent(provider)) return undefined
  if (!isObject(provider)) return 'O campo "provider" deve ser um objeto.'
  const list = LISTS.find((field) => !isAbsent(provider[field]) && !isListOfNames(provider[field]))
  if (list) return `O campo "provider.${list}" deve ser uma lista de até ${NAMES_MAX} nomes.`
  const unkept = UNKEPT.find((field) => isAsked(provider[field]))
  if (unkept) return `O campo "provider.${unkept}" não está disponível.`
  const { sort, allow_fallbacks: allows, data_collection: collection } = provider
  if (!isAbsent(sort) && sortOf(sort) === undefined)
    return 'O campo "provider.sort" aceita price, latency, throughput.'
  if (!isAbsent(allows) && typeof allows !== 'boolean')
    return 'O campo "provider.allow_fallbacks" deve ser true ou false.'
  if (!isAbsent(collection) && collection !== 'allow' && collection !== 'deny')
    return 'O campo "provider.data_collection" aceita allow, deny.'
  return isAbsent(provider.max_price) || isMaxPrice(provider.max_price)
    ? undefined
    : 'O campo "provider.max_price" deve ser um objeto com "prompt" e "completion", em USD por milhão de tokens; outros preços não têm limite aqui.'
}

/** Removes `provider` from a valid request and returns what it asks for. */
export function takeChoice(body: JsonObject): RouteChoice | undefined {
  const { provider } = body
  if (provider === undefined) return undefined
  delete body.provider
  if (!isObject(provider)) return undefined
  const { order, only, ignore, sort, max_price: max } = provider
  return {
    order: namesOf(order),
    only: namesOf(only),
    ignore: namesOf(ignore),
    sort: sortOf(sort),
    maxPrice: isObject(max)
      ? { prompt: usdOf(max.prompt), completion: usdOf(max.completion) }
      : undefined,
    allowsFallbacks: provider.allow_fallbacks !== false,
    deniesCollection: provider.data_collection === 'deny',
  }
}

function isListOfNames(value: unknown): boolean {
  const isShort = Array.isArray(value) && value.length <= NAMES_MAX
  return isShort && value.every((name) => typeof name === 'string')
}

/** Client libraries also send empty values of fields that were never set. */
function isAsked(value: unknown): boolean {
  return !isAbsent(value) && value !== false && !(Array.isArray(value) && value.length === 0)
}

function namesOf(list: unknown): string[] {
  return ((list as string[] | null | undefined) ?? []).map((name) => name.trim().toLowerCase())
}

/** A word, or an object with the word in `by`. */
function sortOf(sort: unknown): RouteOrder | undefined {
  const by = isObject(sort) ? sort.by : sort
  return typeof by === 'string' && Object.hasOwn(SORTS, by) ? SORTS[by] : undefined
}

/** A limit of a price that is not compared would be a broken promise. */
function isMaxPrice(value: unknown): boolean {
  if (!isObject(value)) return false
  return Object.entries(value).every(([field, usd]) => {
    if (isAbsent(usd)) return true
    return PRICES.some((known) => known === field) && usdOf(usd) !== undefined
  })
}

/** Further digits are cut: a lower limit breaks no promise. */
function usdOf(value: unknown): bigint | undefined {
  const text = typeof value === 'number' && value < 1e-6 ? value.toFixed(20) : value
  if (typeof text !== 'string' && typeof text !== 'number') return undefined
  const match = /^(\d{1,15})(?:\.(\d{1,40}))?$/.exec(String(text))
  return match ? BigInt(match[1] + (match[2] ?? '').slice(0, 10).padEnd(10, '0')) : undefined
}
