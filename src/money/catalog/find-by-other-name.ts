/**
 * Names by which clients know a model of the catalog beside its id: with its maker in front (`openai/gpt-4o`), and with
 * the date of a version (`gpt-4o-2024-11-20`, `claude-haiku-4-5-20251001`) or `-latest` behind. The model of the catalog
 * answers, at its own price; a version that the price data has at another price is not taken for it.
 */
import { calcPrice } from '@pydantic/genai-prices'
import { isNamed } from './find-priced-model.ts'
import type { Model } from './model.ts'
import type { PriceSource } from './price-from-data.ts'

type Find<Found> = (id: string) => Found | undefined

/** A maker's name in other catalogs, if it is not the one here. */
export const MAKERS: Readonly<Record<string, string>> = {
  'x-ai': 'xai',
  'meta-llama': 'meta',
  mistralai: 'mistral',
  qwen: 'alibaba',
  moonshotai: 'moonshot',
  'deepseek-ai': 'deepseek',
}
export const VERSION = /^(.+)(?:[-@]\d{8}|-\d{4}-\d{2}-\d{2}|-latest)$/
/** Longer than any name: nobody makes this node search in a long text. */
const CHARACTERS_MAX = 100

/** The names of a maker, here and in other catalogs, in small letters. */
export function namesOfMaker(vendor: string): string[] {
  const name = vendor.toLowerCase()
  return [name, ...Object.keys(MAKERS).filter((other) => MAKERS[other] === name)]
}

/** `find` finds a model by its id. */
export function findByOtherName<Found extends Pick<Model, 'vendor' | 'priceFrom'>>(
  name: string,
  find: Find<Found>,
): Found | undefined {
  if (name.length > CHARACTERS_MAX) return undefined
  const slash = name.indexOf('/')
  if (slash === -1) return findVersion(name, find)
  const rest = name.slice(slash + 1)
  const model = find(rest) ?? findVersion(rest, find)
  const maker = name.slice(0, slash).toLowerCase()
  return model?.vendor === (MAKERS[maker] ?? maker) ? model : undefined
}

function findVersion<Found extends Pick<Model, 'priceFrom'>>(
  name: string,
  find: Find<Found>,
): Found | undefined {
  const id = VERSION.exec(name)?.[1]
  const model = id === undefined ? undefined : find(id)
  return model?.priceFrom && isPricedAlike(model.priceFrom, name) ? model : undefined
}

/** What all names of a model have in common: without its maker and its version, as one maker or another writes it. */
export function plainName(name: string): string {
  const own = name.slice(name.lastIndexOf('/') + 1).toLowerCase()
  return (VERSION.exec(own)?.[1] ?? own).replaceAll('.', '-')
}

/** The search of the price data takes a fifth of a millisecond, and an agent names its model in every call. */
const pricedAlike = new Map<string, boolean>()
const REMEMBERED_MAX = 1_000

function isPricedAlike(source: PriceSource, version: string): boolean {
  if (source.match) return isNamed(source.match, version)
  const question = `${source.provider} ${source.model} ${version}`
  const known = pricedAlike.get(question)
  if (known !== undefined) return known
  if (pricedAlike.size >= REMEMBERED_MAX) pricedAlike.clear()
  const isAlike = hasOnePrice(source, version)
  pricedAlike.set(question, isAlike)
  return isAlike
}

/** Whether the price data has one price for the model and this version of it. */
function hasOnePrice(source: PriceSource, version: string): boolean {
  const priced = calcPrice({}, version, { providerId: source.provider })
  return priced?.provider.id === source.provider && priced.model.id === source.model
}
