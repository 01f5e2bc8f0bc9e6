/**
 * The models that nobody wrote down: those that an upstream's own list has now, and whose price the price data knows.
 * Pure. A model that cannot be priced or bounded is never sold; it is only reported.
 */
import type { ModelInfo } from '@pydantic/genai-prices'
import { parseE4 } from '../../platform/lib/money.ts'
import { builtInModels, MARKUP } from './built-in-models.ts'
import type { ModelConfig } from './catalog-config-schema.ts'
import { findByOtherName, MAKERS, plainName, VERSION } from './find-by-other-name.ts'
import { findPricedModel, isChatModel } from './find-priced-model.ts'
import { DEFAULT_VENDOR, overlaid, pricesOf } from './load-catalog.ts'
import type { ConfiguredModel, Model } from './model.ts'
import { readSchedule, TEXT_KEYS, type PriceSource } from './price-from-data.ts'
import type { PriceTerms } from './prices.ts'
import type { PublishedData } from './published-prices.ts'
import { plainRoute } from './sandbox-catalog.ts'
import type { PricedBy } from './upstream-presets.ts'
import type { ListedModel, UpstreamLists } from './upstream-lists.ts'

/** What may be discovered: of the configuration, and the same while the process runs. */
export interface Discovery {
  readonly upstreams: readonly { readonly id: string; readonly pricedBy: PricedBy }[]
  /** Names with `*` for any characters. */
  readonly patterns: readonly string[]
  /** The models of the operator's file: an entry changes a discovered model as a built-in one. */
  readonly overlays: readonly ModelConfig[]
}

export interface Discovered {
  readonly models: readonly ConfiguredModel[]
  /** Chat models of the lists that cannot be sold, because nobody knows their price or their limits. */
  readonly unpriced: readonly { readonly upstreamId: string; readonly name: string }[]
  /** Models of the configuration whose upstream does not list them any more. */
  readonly missing: readonly { readonly upstreamId: string; readonly modelId: string }[]
}

type Upstream = Discovery['upstreams'][number]

/** The other keys are of what the gateway cannot bill; searches are refused unless they have a price here. */
const BILLED_KEYS = new Set([...TEXT_KEYS, 'web_searches_kcount', 'storage_searches_kcount'])
const ID = /^[A-Za-z0-9][A-Za-z0-9._:/-]{0,99}$/
/** Names at Fireworks begin with the account of their owner. */
const OWNER = /^accounts\/[^/]+\/(?:models|routers)\//
/** The data rounds contexts down; the true one bounds the hold. */
const CONTEXT_MARGIN = 1.05
/** No model has a larger one. */
const CONTEXT_MAX = 4_000_000
/** Of makers that are not built in: the most of the others, and an output that any of their models accepts. */
const UNKNOWN_LIMITS = { hiddenPromptTokensMax: 2_048, imageTokensMax: 0 }
const UNKNOWN_OUTPUT_MAX = 16_384
const UNKNOWN_OUTPUT_SHARE = 8
/** The small models from before caches had a price wrote no longer answers. */
const OLD_CONTEXT_MAX = 140_000
const OLD_OUTPUT_MAX = 4_096

/**
 * `known` are the models of the configuration. Those without a route may be replaced by a discovered one. `added` are the
 * models of newer price data that the package lacks.
 */
export function discoverModels(
  { upstreams, patterns, overlays }: Discovery,
  known: readonly ConfiguredModel[],
  lists: UpstreamLists,
  at: Date,
  added: PublishedData = [],
): Discovered {
  const models = new Map<string, ConfiguredModel>()
  const served = new Map(
    known.filter(({ routes }) => routes.length > 0).map((own) => [own.id, own]),
  )
  const isServed = (name: string): boolean =>
    Boolean(served.get(name) ?? findByOtherName(name, (id) => served.get(id)))
  const changes = new Map(overlays.map((overlay) => [overlay.id, overlay]))
  const isChosen = matcherOf(patterns)
  // A model that the operator took away does not come back under another name.
  const hidden = new Set(
    overlays.filter(({ enabled }) => enabled === false).map(({ id }) => plainName(id)),
  )
  const unpriced: { upstreamId: string; name: string }[] = []
  const missing: { upstreamId: string; modelId: string }[] = []

  /** The first version that is listed is the model, unless the model itself is served or has another price. */
  function idOf({ pricedBy: { provider } }: Upstream, name: string): string {
    const model = VERSION.exec(name)?.[1]
    if (model === undefined || served.has(model)) return name
    const priced = findPricedModel(provider, model, added)
    return !priced || priced === findPricedModel(provider, name, added) ? model : name
  }

  function add(upstream: Upstream, listed: ListedModel): void {
    const { name } = listed
    const whole = name.replace(OWNER, '')
    if (!isChatModel(name) || !ID.test(whole) || isServed(whole)) return
    const id = idOf(upstream, whole)
    const change = changes.get(id)
    if (change?.enabled === false || !isChosen(id)) return
    if (!change && hidden.has(plainName(whole))) return
    const entry = findPricedModel(upstream.pricedBy.provider, name, added)
    const model = entry && modelOf(upstream, id, listed, entry, at)
    if (!model) return void unpriced.push({ upstreamId: upstream.id, name })
    const faults: string[] = []
    const changed = change ? overlaid(model, change, at, faults) : model
    if (faults.length > 0) return
    models.set(id, changed)
    served.set(id, changed)
  }

  // A maker's own upstream comes before those that resell it.
  const ordered = [...upstreams].sort(
    (a, b) => Number(!a.pricedBy.maker) - Number(!b.pricedBy.maker),
  )
  for (const upstream of ordered) {
    const list = lists.get(upstream.id)
    if (!list) continue
    const names = new Set(list.map(({ name }) => name))
    for (const { id, routes } of known) {
      const own = routes.filter(({ upstreamId }) => upstreamId === upstream.id)
      const isGone = own.some(({ upstreamModel }) => !isListed(names, upstreamModel))
      if (isGone) missing.push({ upstreamId: upstream.id, modelId: id })
    }
    const routed = new Set(
      known.flatMap(({ routes }) =>
        routes.map((route) => `${route.upstreamId} ${route.upstreamModel}`),
      ),
    )
    // A version is another name of the model itself, so the model comes first.
    const sorted = [...list].sort(
      (a, b) => Number(VERSION.test(a.name)) - Number(VERSION.test(b.name)),
    )
    for (const listed of sorted)
      if (!routed.has(`${upstream.id} ${listed.name}`)) add(upstream, listed)
  }
  return { models: [...models.values()], unpriced, missing }
}

/** A discovered model takes the place of a configured one with its id, which has no route. */
export function withDiscovered<P extends PriceTerms>(
  configured: readonly Model<P>[],
  discovered: readonly Model<P>[],
): Model<P>[] {
  const replaced = new Set(discovered.map(({ id }) => id))
  return [...configured.filter(({ id }) => !replaced.has(id)), ...discovered]
}

/** Some lists name versions only. */
function isListed(names: ReadonlySet<string>, wanted: string): boolean {
  return names.has(wanted) || [...names].some((name) => VERSION.exec(name)?.[1] === wanted)
}

function matcherOf(patterns: readonly string[]): (id: string) => boolean {
  const parts = patterns.map((each) => each.replace(/[^\w*]/g, '\\$&').replaceAll('*', '.*'))
  const pattern = new RegExp(`^(?:${parts.join('|')})$`)
  return (id) => pattern.test(id)
}

/** Undefined if it cannot be priced, or its prompt cannot be bounded. */
function modelOf(
  { id: upstreamId, pricedBy: { provider, maker } }: Upstream,
  id: string,
  { name, contextTokens: listedContext, outputTokensMax }: ListedModel,
  entry: ModelInfo,
  at: Date,
): ConfiguredModel | undefined {
  const ofData = entry.context_window ?? 0
  // The larger one, because it bounds the hold; within reason, because it also bounds what a report may charge.
  const contextTokens = listedContext
    ? Math.max(ofData, Math.min(listedContext, ofData > 0 ? 2 * ofData : CONTEXT_MAX))
    : Math.ceil(ofData * CONTEXT_MARGIN)
  if (!contextTokens || !isBilledByTokens(entry)) return undefined
  const vendor = maker ?? makerOf(id)
  const isPackaged = findPricedModel(provider, name) !== undefined
  const priceFrom = { provider, model: entry.id, ...(!isPackaged && { match: entry.match }) }
  const prices = readPrices(entry, priceFrom, contextTokens, at)
  if (!prices) return undefined
  const limits = limitsOf(provider, vendor, contextTokens, hasCachePrice(entry))
  return {
    id,
    displayName: (entry.id === id && entry.name) || id,
    category: 'llm',
    description: null,
    vendor,
    priceFrom,
    isDiscovered: true,
    markupE4: parseE4(MARKUP) as bigint,
    ...prices,
    contextTokens,
    ...limits,
    outputTokensMax: Math.min(outputTokensMax ?? limits.outputTokensMax, contextTokens),
    supportsTools: true,
    strategy: 'priority',
    routes: [{ ...plainRoute(upstreamId, name, prices.price), ...prices }],
  }
}

/** A form of prices that this release does not know takes no other model away. */
function readPrices({ prices }: ModelInfo, from: PriceSource, contextTokens: number, at: Date) {
  try {
    return pricesOf(readSchedule(prices, from, contextTokens), at)
  } catch {
    return undefined
  }
}

/** Any other prefix may show an upstream. */
const NAMED_MAKERS = new Set([
  ...Object.values(MAKERS),
  ...builtInModels.map(({ vendor }) => vendor),
])

function makerOf(id: string): string {
  const prefix = id.includes('/') ? id.slice(0, id.indexOf('/')).toLowerCase() : ''
  const maker = MAKERS[prefix] ?? prefix
  return NAMED_MAKERS.has(maker) ? maker : DEFAULT_VENDOR
}

/**
 * What neither the list nor the data says. What bounds a hold is the highest of the built-in chat models of the upstream,
 * or else of the maker; the output is the lowest of those with the nearest context, which the upstream surely accepts.
 */
function limitsOf(
  provider: string,
  vendor: string,
  contextTokens: number,
  cachesHaveAPrice: boolean,
) {
  const chats = builtInModels.filter(({ category }) => category === 'llm')
  const own = chats.filter(({ priceFrom }) => priceFrom?.provider === provider)
  const siblings = own.length > 0 ? own : chats.filter((model) => model.vendor === vendor)
  if (siblings.length === 0) {
    const share = Math.ceil(contextTokens / UNKNOWN_OUTPUT_SHARE)
    return { ...UNKNOWN_LIMITS, outputTokensMax: Math.min(UNKNOWN_OUTPUT_MAX, share) }
  }
  const nearest = Math.max(
    ...siblings.map((model) => (model.contextTokens <= contextTokens ? model.contextTokens : 0)),
  )
  const peers = siblings.filter((model) => nearest === 0 || model.contextTokens === nearest)
  const isOld = !cachesHaveAPrice && contextTokens <= OLD_CONTEXT_MAX
  return {
    imageTokensMax: Math.max(...siblings.map((model) => model.imageTokensMax)),
    hiddenPromptTokensMax: Math.max(...siblings.map((model) => model.hiddenPromptTokensMax ?? 0)),
    outputTokensMax: Math.min(
      ...peers.map((model) => model.outputTokensMax),
      isOld ? OLD_OUTPUT_MAX : Infinity,
    ),
  }
}

function amountsOf({ prices }: ModelInfo) {
  return Array.isArray(prices) ? prices.map((each) => each.prices) : [prices]
}

function hasCachePrice(entry: ModelInfo): boolean {
  return amountsOf(entry).some((amounts) => amounts.cache_read_mtok !== undefined)
}

/** A model that costs nothing is none that is sold: its limits are for trials, and its prompts are often kept. */
function isBilledByTokens(entry: ModelInfo): boolean {
  return (
    !entry.deprecated &&
    amountsOf(entry).every(
      (amounts) =>
        Boolean(amounts.input_mtok && amounts.output_mtok) &&
        Object.keys(amounts).every((key) => BILLED_KEYS.has(key)),
    )
  )
}
