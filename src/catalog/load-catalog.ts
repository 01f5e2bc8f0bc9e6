/** Built-in models, the operator's configuration over them, and in sandbox mode the sandbox's models. */
import { parseE4, parseUsd } from '../lib/money.ts'
import { builtInModels, type BuiltInModel } from './built-in-models.ts'
import type { CatalogConfig, ModelConfig } from './catalog-config-schema.ts'
import type { Model, Route } from './model.ts'
import { priceFromData } from './price-from-data.ts'
import type { Price, PriceTier } from './prices.ts'
import { sandboxModels } from './sandbox-catalog.ts'

export interface CatalogOptions {
  readonly config: CatalogConfig | undefined
  readonly mode: 'sandbox' | 'live'
  readonly hasUpstream: (id: string) => boolean
  /** Prices are those of this time. */
  readonly at: Date
}

const DEFAULT_MARKUP_E4 = 12_500n
/** Stands in a model of the operator's until the prices of the configuration are laid over it. */
const FREE: Price = { tiers: [] }

export function loadCatalog(options: CatalogOptions): { models: Model[]; faults: string[] } {
  const { config, mode, hasUpstream, at } = options
  const overlays = new Map((config?.models ?? []).map((model) => [model.id, model]))
  const faults: string[] = []
  const models: Model[] = []

  const built =
    mode === 'sandbox'
      ? [...builtInModels.map((entry) => fromBuiltIn(entry, at)), ...sandboxModels]
      : builtInModels.map((entry) => fromBuiltIn(entry, at))
  for (const model of built) {
    const overlay = overlays.get(model.id)
    overlays.delete(model.id)
    if (overlay?.enabled === false) continue
    models.push(overlay ? overlaid(model, overlay, faults) : model)
  }
  for (const overlay of overlays.values()) {
    const model = fromConfig(overlay, faults)
    if (model && overlay.enabled !== false) models.push(model)
  }
  const isKnown = (route: Route): boolean => hasUpstream(route.upstreamId)
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

/** In sandbox mode a chat model that no real upstream serves is served by the sandbox. */
function withRoutes(
  model: Model,
  mode: 'sandbox' | 'live',
  isKnown: (route: Route) => boolean,
): Model {
  const routes = model.routes.filter(isKnown)
  const isForSandbox = mode === 'sandbox' && routes.length === 0 && model.category === 'llm'
  return {
    ...model,
    routes: isForSandbox ? [{ upstreamId: 'sandbox', upstreamModel: model.id }] : routes,
  }
}

function fromBuiltIn(entry: BuiltInModel, at: Date): Model {
  const { priceFrom, markup, ...rest } = entry
  const { price, unitPrices } = priceFromData(priceFrom, at)
  return {
    ...rest,
    markupE4: parseE4(markup) as bigint,
    price,
    ...(Object.keys(unitPrices).length > 0 ? { unitPrices } : {}),
  }
}

function fromConfig(overlay: ModelConfig, faults: string[]): Model | undefined {
  const { id, category, prices, routes } = overlay
  const missing = Object.entries({ category, prices, routes }).filter(
    ([, value]) => value === undefined,
  )
  if (!category || !prices || !routes) {
    if (overlay.enabled !== false)
      faults.push(
        `model "${id}" is not built in, so it needs ${missing.map(([name]) => name).join(', ')}`,
      )
    return undefined
  }
  const plain: Model = {
    id,
    displayName: id,
    category,
    description: null,
    vendor: routes[0]?.upstream ?? '',
    markupE4: DEFAULT_MARKUP_E4,
    price: FREE,
    contextTokens: 128_000,
    outputTokensMax: 4_096,
    imageTokensMax: 0,
    supportsTools: category === 'llm',
    routes: [],
  }
  return overlaid(plain, overlay, faults)
}

/** A field that is given takes the place of the model's own. */
function overlaid(model: Model, overlay: ModelConfig, faults: string[]): Model {
  const read = createReader(overlay.id, faults)
  return {
    ...model,
    displayName: overlay.display_name ?? model.displayName,
    category: overlay.category ?? model.category,
    description: overlay.description === undefined ? model.description : overlay.description,
    vendor: overlay.vendor ?? model.vendor,
    markupE4:
      overlay.markup_multiplier === undefined
        ? model.markupE4
        : read.markupE4(overlay.markup_multiplier),
    price: overlay.prices
      ? priceFromConfig(overlay.prices, (usd) => read.microUsd(usd))
      : model.price,
    contextTokens: overlay.context_tokens ?? model.contextTokens,
    outputTokensMax: overlay.max_output_tokens ?? model.outputTokensMax,
    imageTokensMax: overlay.image_tokens_max ?? model.imageTokensMax,
    supportsTools: overlay.supports_tools ?? model.supportsTools,
    routes:
      overlay.routes?.map((route) => ({
        upstreamId: route.upstream,
        upstreamModel: route.model,
      })) ?? model.routes,
  }
}

type ConfigPrices = NonNullable<ModelConfig['prices']>

function priceFromConfig(prices: ConfigPrices, microUsd: ReadUsd): Price {
  const { tiers = [] } = prices
  const first = tierFromConfig(prices, 0, microUsd)
  const rest = tiers.map((tier) => tierFromConfig(tier, tier.above_prompt_tokens, microUsd))
  return { tiers: [first, ...rest.sort((a, b) => a.abovePromptTokens - b.abovePromptTokens)] }
}

function tierFromConfig(
  prices: Omit<ConfigPrices, 'tiers'>,
  abovePromptTokens: number,
  microUsd: ReadUsd,
): PriceTier {
  const { input, output } = prices
  return {
    abovePromptTokens,
    input: microUsd(input),
    cachedInput: microUsd(prices.cached_input ?? input),
    cacheWrite: microUsd(prices.cache_write ?? input),
    output: microUsd(output),
    reasoning: microUsd(prices.reasoning ?? output),
  }
}

type ReadUsd = (usd: string | number) => bigint

/** Where a number is at fault the fault is kept, and the 1 that stands for it is never used. */
function createReader(modelId: string, faults: string[]) {
  return {
    /** Pico-USD to micro-USD: six of the twelve decimals; more than six are refused. */
    microUsd(usd: string | number): bigint {
      const pico = parseUsd(String(usd))
      if (pico !== undefined && pico % 1_000_000n === 0n) return pico / 1_000_000n
      faults.push(`model "${modelId}": the price ${usd} is not in whole micro-USD`)
      return 1n
    },
    markupE4(markup: string | number): bigint {
      const value = parseE4(String(markup))
      if (value !== undefined && value > 0n) return value
      faults.push(
        `model "${modelId}": the markup ${markup} must be above 0, with at most four decimals`,
      )
      return 1n
    },
  }
}
