/** Loads the catalog: the built-in models, overridden by the operator's configuration; in sandbox mode also its models. */
import { isDay } from '../../platform/lib/days.ts'
import { parseE4 } from '../../platform/lib/money.ts'
import { builtInModels, type BuiltInModel } from './built-in-models.ts'
import type {
  CatalogConfig,
  ModelConfig,
  PricesConfig,
  RouteConfig,
} from './catalog-config-schema.ts'
import { mayBeDiscovered } from './find-priced-model.ts'
import type { ConfiguredModel, ModelCategory, ConfiguredRoute } from './model.ts'
import { plainRoute, sandboxModels } from './sandbox-catalog.ts'
import { scheduleFromData } from './price-from-data.ts'
import { priceAt, withoutPast, type PriceSchedule } from './price-schedule.ts'
import type { PriceTerms } from './prices.ts'
import { readPriceSchedule, unitNames } from './read-price-schedule.ts'
import { readPrices } from './read-prices.ts'

export interface CatalogOptions {
  readonly config: CatalogConfig | undefined
  readonly mode: 'sandbox' | 'live'
  readonly hasUpstream: (id: string) => boolean
  /** Prices are taken as of this time. */
  readonly at: Date
}

/** Shown to everybody, so it is never the name of an upstream. */
export const DEFAULT_VENDOR = 'other'
const DEFAULT_MARKUP_E4 = 12_500n
/** The traits of an operator's model whose configuration sets none. */
const DEFAULT_TRAITS: Record<ModelCategory, Partial<ConfiguredModel>> = {
  llm: {},
  embedding: { embedding: { dimensions: 1_536, canShorten: false } },
  image: { image: { sizes: [] } },
  audio: { audio: { secondsMin: 0, secondsMax: 4 * 3_600, hasTimestamps: true } },
  video: { video: { seconds: [8, 4, 6], sizes: ['1280x720', '720x1280'] } },
}
/** The initial price of an operator's model, which the prices of its configuration replace. */
const FREE: PriceTerms = { tiers: [] }

export function loadCatalog(options: CatalogOptions): {
  models: ConfiguredModel[]
  faults: string[]
} {
  const { config, mode, hasUpstream, at } = options
  const overlays = new Map((config?.models ?? []).map((model) => [model.id, model]))
  const faults: string[] = []
  const models: ConfiguredModel[] = []

  const priced = builtInModels.map((entry) =>
    fromBuiltIn(entry, overlays.get(entry.id)?.context_tokens ?? entry.contextTokens, at),
  )
  const built = mode === 'sandbox' ? [...priced, ...sandboxModels] : priced
  for (const model of built) {
    const overlay = overlays.get(model.id)
    overlays.delete(model.id)
    if (overlay?.enabled === false) continue
    models.push(overlay ? overlaid(model, overlay, at, faults) : model)
  }
  for (const overlay of overlays.values()) {
    const model = fromConfig(overlay, config?.discover !== false, at, faults)
    if (model && overlay.enabled !== false) models.push(model)
  }
  const isKnown = (route: ConfiguredRoute): boolean => hasUpstream(route.upstreamId)
  for (const { id, routes } of config?.models ?? []) {
    for (const route of routes ?? []) {
      if (!hasUpstream(route.upstream))
        faults.push(
          `model "${id}": there is no upstream "${route.upstream}", or its key is not set`,
        )
    }
  }
  return {
    models: models.map((model) => withRoutes(model, mode, isKnown)),
    faults: [...new Set(faults)],
  }
}

/** A single entry of the form of the file, which must have routes; undefined where it has a fault. */
export function loadModel(
  entry: ModelConfig,
  { mode, hasUpstream, at }: Omit<CatalogOptions, 'config'>,
  faults: string[],
): ConfiguredModel | undefined {
  const own: string[] = []
  const builtIn = builtInModels.find(({ id }) => id === entry.id)
  const model = builtIn
    ? overlaid(
        fromBuiltIn(builtIn, entry.context_tokens ?? builtIn.contextTokens, at),
        entry,
        at,
        own,
      )
    : fromConfig(entry, false, at, own)
  faults.push(...own)
  if (!model || own.length > 0) return undefined
  return withRoutes(model, mode, ({ upstreamId }) => hasUpstream(upstreamId))
}

/** The categories that the sandbox upstream can serve. */
const SANDBOX_CATEGORIES: ReadonlySet<ModelCategory> = new Set([
  'llm',
  'embedding',
  'image',
  'audio',
  'video',
])

/**
 * Returns the model with its routes. In sandbox mode, the sandbox upstream serves a model that has no real upstream.
 */
function withRoutes(
  model: ConfiguredModel,
  mode: 'sandbox' | 'live',
  isKnown: (route: ConfiguredRoute) => boolean,
): ConfiguredModel {
  const routes = model.routes.filter(isKnown)
  const isForSandbox =
    mode === 'sandbox' && routes.length === 0 && SANDBOX_CATEGORIES.has(model.category)
  if (!isForSandbox) return { ...model, routes }
  // The sandbox upstream answers by model name, so a model billed by audio tokens uses the matching sandbox model.
  const upstreamModel = model.audio?.tokensPerSecondMax ? 'sandbox-transcribe-tokens' : model.id
  const { price, priceSchedule } = model
  const route = plainRoute('sandbox', upstreamModel, price)
  return { ...model, routes: [{ ...route, ...(priceSchedule && { priceSchedule }) }] }
}

function fromBuiltIn(entry: BuiltInModel, contextTokens: number, at: Date): ConfiguredModel {
  const { markup, routes, prices: own, ...rest } = entry
  const schedule: PriceSchedule<PriceTerms> = entry.priceFrom
    ? scheduleFromData(entry.priceFrom, contextTokens)
    : [{ price: ownPrice(entry, own) }]
  const prices = pricesOf(schedule, at)
  return {
    ...rest,
    ...prices,
    markupE4: parseE4(markup) as bigint,
    strategy: 'priority',
    routes: routes.map(({ upstreamId, upstreamModel }, index) => ({
      ...plainRoute(upstreamId, upstreamModel, prices.price, index),
      ...prices,
    })),
  }
}

/** Throws if a built-in model has neither an entry of the price data nor sound prices. */
function ownPrice({ id, category }: BuiltInModel, prices: PricesConfig = {}): PriceTerms {
  const faults: string[] = []
  const price = readPrices(id, category, prices, faults)
  if (faults.length > 0) throw new Error(faults.join('\n'))
  return price
}

export function pricesOf(
  prices: PriceSchedule<PriceTerms>,
  at: Date,
): Pick<ConfiguredModel, 'price' | 'priceSchedule'> {
  const schedule = withoutPast(prices, at.getTime())
  const price = priceAt(schedule, at.getTime())
  return schedule.length === 1 ? { price } : { price, priceSchedule: schedule }
}

/** Undefined for an entry that only changes a model, which an upstream's list may have (`discover-models.ts`). */
function fromConfig(
  overlay: ModelConfig,
  discovers: boolean,
  at: Date,
  faults: string[],
): ConfiguredModel | undefined {
  const { id, category = 'llm', prices, routes } = overlay
  const missing = Object.entries({ category: overlay.category, prices, routes }).filter(
    ([, value]) => value === undefined,
  )
  const isWhole = missing.length === 0
  if (!isWhole && (routes || !discovers || !mayBeDiscovered(id))) {
    if (overlay.enabled !== false)
      faults.push(
        `model "${id}" is not built in, so it needs ${missing.map(([name]) => name).join(', ')}`,
      )
    return undefined
  }
  const plain: ConfiguredModel = {
    id,
    displayName: id,
    category,
    description: null,
    vendor: DEFAULT_VENDOR,
    markupE4: DEFAULT_MARKUP_E4,
    price: FREE,
    contextTokens: 128_000,
    outputTokensMax: 4_096,
    imageTokensMax: 0,
    supportsTools: category === 'llm',
    strategy: 'priority',
    routes: [],
    ...DEFAULT_TRAITS[category],
  }
  const model = overlaid(plain, overlay, at, faults)
  return isWhole ? model : undefined
}

/** The model, overridden by each field that the configuration sets. */
export function overlaid(
  model: ConfiguredModel,
  overlay: ModelConfig,
  at: Date,
  faults: string[],
): ConfiguredModel {
  const category = overlay.category ?? model.category
  const { tokenizer, priceSchedule, endsOn: _endsOn, replacedBy: _replacedBy, ...others } = model
  const base: PriceSchedule<PriceTerms> = overlay.prices
    ? [{ price: readPrices(model.id, category, overlay.prices, faults) }]
    : (priceSchedule ?? [{ price: model.price }])
  const added = overlay.price_schedule
  const schedule = readPriceSchedule(model.id, category, base, added, faults)
  const prices = pricesOf(schedule, at)
  const whole: ConfiguredModel = {
    ...others,
    // The tokenizer is only known for the upstream models of the built-in routes.
    ...(tokenizer && !overlay.routes ? { tokenizer } : {}),
    displayName: overlay.display_name ?? model.displayName,
    category,
    description: overlay.description === undefined ? model.description : overlay.description,
    vendor: overlay.vendor ?? model.vendor,
    markupE4:
      overlay.markup_multiplier === undefined
        ? model.markupE4
        : readMarkup(model.id, overlay.markup_multiplier, faults),
    ...prices,
    ...((overlay.prices ?? added) && { hasOwnPrice: true }),
    contextTokens: overlay.context_tokens ?? model.contextTokens,
    outputTokensMax: overlay.max_output_tokens ?? model.outputTokensMax,
    imageTokensMax: overlay.image_tokens_max ?? model.imageTokensMax,
    ...(overlay.hidden_prompt_tokens_max === undefined
      ? {}
      : { hiddenPromptTokensMax: overlay.hidden_prompt_tokens_max }),
    supportsTools: overlay.supports_tools ?? model.supportsTools,
    ...(overlay.can_reason === undefined ? {} : { canReason: overlay.can_reason }),
    ...(overlay.speech === undefined ? {} : { speech: overlay.speech }),
    ...(overlay.rerank === undefined ? {} : { rerank: overlay.rerank }),
    ...(overlay.moderation === undefined ? {} : { moderation: overlay.moderation }),
    ...endOf(model, overlay, faults),
    ...traitsOf(model, overlay),
    strategy: overlay.routing ?? model.strategy,
    routes:
      overlay.routes?.map((route, index) =>
        routeOf(model.id, category, route, index, schedule, at, faults),
      ) ?? model.routes.map(({ priceSchedule: _schedule, ...route }) => ({ ...route, ...prices })),
  }
  const fault = findUseFault(whole)
  if (fault !== undefined) faults.push(`model "${model.id}": ${fault}`)
  return whole
}

type End = Pick<ConfiguredModel, 'endsOn' | 'replacedBy' | 'hasOwnEnd'>

function endOf(model: ConfiguredModel, { ends_on: own }: ModelConfig, faults: string[]): End {
  const { endsOn, replacedBy } = model
  if (own === null) return { hasOwnEnd: true }
  if (own !== undefined && !isDay(own))
    faults.push(`model "${model.id}": ends_on: there is no such day`)
  const day = own ?? endsOn
  return {
    ...(day && { endsOn: day }),
    ...(replacedBy && { replacedBy }),
    ...(own && { hasOwnEnd: true }),
  }
}

function routeOf(
  modelId: string,
  category: ModelCategory,
  route: RouteConfig,
  index: number,
  schedule: PriceSchedule<PriceTerms>,
  at: Date,
  faults: string[],
): ConfiguredRoute {
  const own = route.prices && readPrices(modelId, category, route.prices, faults)
  const [{ price }] = schedule
  const base: PriceSchedule<PriceTerms> = own ? [{ price: own }] : schedule
  // Any route may answer after the hold, so all of them must bill the call by the same units.
  if (own && unitNames(own) !== unitNames(price))
    faults.push(
      `model "${modelId}": the prices of its route over "${route.upstream}" must be of the same units as its own (${unitNames(price) || 'tokens'})`,
    )
  return {
    upstreamId: route.upstream,
    upstreamModel: route.model,
    ...pricesOf(readPriceSchedule(modelId, category, base, route.price_schedule, faults), at),
    ...((route.prices ?? route.price_schedule) && { hasOwnPrice: true }),
    priority: route.priority ?? index,
    weight: route.weight ?? 1,
    concurrencyMax: route.concurrency_max ?? Infinity,
  }
}

type Traits = Pick<ConfiguredModel, 'embedding' | 'image' | 'audio' | 'video'>

function traitsOf(model: ConfiguredModel, { embedding, image, audio, video }: ModelConfig): Traits {
  const defaults = Object.assign({}, ...Object.values(DEFAULT_TRAITS)) as Traits
  const was = { ...defaults, ...model } as Required<Traits>
  return {
    ...(embedding && {
      embedding: {
        dimensions: embedding.dimensions,
        canShorten: embedding.can_shorten ?? was.embedding.canShorten,
      },
    }),
    ...(image && {
      image: {
        ...was.image,
        ...(image.sizes && { sizes: image.sizes }),
        ...(image.tokens_max && { tokensMax: image.tokens_max }),
      },
    }),
    ...(audio && {
      audio: {
        ...was.audio,
        ...(audio.seconds_min !== undefined && { secondsMin: audio.seconds_min }),
        ...(audio.seconds_max !== undefined && { secondsMax: audio.seconds_max }),
        ...(audio.has_timestamps !== undefined && { hasTimestamps: audio.has_timestamps }),
        ...(audio.tokens_per_second_max !== undefined && {
          tokensPerSecondMax: audio.tokens_per_second_max,
        }),
      },
    }),
    ...(video && {
      video: { seconds: video.seconds ?? was.video.seconds, sizes: video.sizes ?? was.video.sizes },
    }),
  }
}

/** A reranker and a voice have units of their own, without which a call would cost nothing. */
function findUseFault({
  category,
  rerank,
  moderation,
  speech,
  price: { units = {}, tiers },
}: ConfiguredModel): string | undefined {
  const speaks = units.characters !== undefined || units.output_audio_tokens !== undefined
  const hears = units.audio_seconds !== undefined || units.input_audio_tokens !== undefined
  if (rerank && category !== 'embedding') return '"rerank" needs the category embedding'
  if (moderation && (category !== 'embedding' || rerank))
    return '"moderation" needs the category embedding, without "rerank"'
  if (speech && category !== 'audio') return '"speech" needs the category audio'
  if (!rerank && units.search_units !== undefined) return '"search_unit" needs "rerank": true'
  if (speech && !speaks && tiers.every(({ output }) => output === 0n))
    return '"speech" needs "characters" or "output_audio"'
  if (category === 'audio' && !speech && speaks && !hears) return 'a voice needs "speech": true'
  return undefined
}

function readMarkup(modelId: string, markup: string | number, faults: string[]): bigint {
  const value = parseE4(String(markup))
  if (value !== undefined && value > 0n) return value
  faults.push(
    `model "${modelId}": the markup ${markup} must be above 0, with at most four decimals`,
  )
  return 1n
}
