/**
 * The gateway's configuration: the models of `model-truth.ts`, with all of their providers at one address.
 */
import type { CatalogConfig } from '../../src/money/catalog/catalog-config-schema.ts'
import {
  ALL_MODELS,
  DEAD,
  FX_RATE,
  MARKUP,
  PIXEL_SIZES,
  pixelsOf,
  type ModelTruth,
  type TruePrices,
} from './model-truth.ts'

const KEY = 'TEST_CEILING_KEY'
export const CEILING_ENV = { SANDBOX_FX_RATE: FX_RATE, [KEY]: 'a-key' }

/** A gateway configuration that serves these models from the address of the mock. */
export function configFor(url: string): CatalogConfig {
  const upstream = (id: string, kind: string, path: string, more: object = {}) => ({
    id,
    kind,
    base_url: url + path,
    api_key_env: KEY,
    retries: 0,
    breaker: { failures: 0 },
    connections_max: 64,
    ...more,
  })
  return {
    upstreams: [
      upstream('compat', 'openai-compatible', '/compat/v1'),
      upstream('openai', 'openai', '/openai/v1', { speaks_responses: true }),
      upstream('anthropic', 'anthropic', '/anthropic/v1'),
      upstream('google', 'google', '/google/v1beta'),
      upstream('vertex', 'google-vertex', '/vertex/v1/projects/p/locations/l/publishers/google', {
        project: 'p',
        location: 'l',
      }),
      upstream('bedrock', 'amazon-bedrock', '/bedrock', { region: 'us-east-1' }),
      upstream('cohere', 'cohere', '/cohere/v2'),
    ],
    models: ALL_MODELS.filter(({ isBuiltIn }) => !isBuiltIn).map(toConfig),
  }
}

function toConfig(model: ModelTruth): NonNullable<CatalogConfig['models']>[number] {
  const [first, ...tiers] = model.tiers
  const categories = {
    chat: 'llm',
    embeddings: 'embedding',
    rerank: 'embedding',
    moderations: 'embedding',
    images: 'image',
    transcriptions: 'audio',
    speech: 'audio',
  }
  return {
    id: model.id,
    category: categories[model.kind] as 'llm',
    vendor: 'tester',
    prices: {
      ...(unitPrices(model) ?? toPrices(first)),
      ...(model.search === undefined ? {} : { web_search: String(model.search / 1e12) }),
      ...(tiers.length === 0
        ? {}
        : { tiers: tiers.map((tier) => ({ above_prompt_tokens: tier.above, ...toPrices(tier) })) }),
    },
    markup_multiplier: MARKUP,
    context_tokens: model.context,
    max_output_tokens: model.outputMax,
    image_tokens_max: model.imageTokens,
    supports_tools: model.kind === 'chat',
    routes: [
      ...(model.hasDeadRoute
        ? [{ upstream: 'compat', model: DEAD, prices: { input: '0.000001', output: '0.000001' } }]
        : []),
      { upstream: model.upstreamId, model: model.upstreamModel },
    ],
    ...(model.kind === 'embeddings' ? { embedding: { dimensions: 4, can_shorten: true } } : {}),
    ...(model.kind === 'images' ? { image: { sizes: PIXEL_SIZES } } : {}),
    ...(model.kind === 'rerank' ? { rerank: true } : {}),
    ...(model.kind === 'moderations' ? { moderation: true } : {}),
    ...(model.kind === 'speech' ? { speech: true } : {}),
  }
}

/** Undefined for a model that is billed by its tokens. */
function unitPrices({ megapixel, searchUnit, character }: ModelTruth): object | undefined {
  if (megapixel !== undefined) return { images: imagePrices(megapixel) }
  if (searchUnit !== undefined) return { search_unit: String(searchUnit / 1e12) }
  if (character !== undefined) return { characters: String(character / 1e6) }
  return undefined
}

function imagePrices(megapixel: number): Record<string, string> {
  return Object.fromEntries(
    PIXEL_SIZES.map((size) => [size, ((pixelsOf(size) / 1e6) * (megapixel / 1e12)).toFixed(6)]),
  )
}

function toPrices(tier: TruePrices): Record<string, string> {
  const text = (micro: number | undefined) => ((micro ?? 0) / 1_000_000).toFixed(6)
  return {
    input: text(tier.input),
    output: text(tier.output),
    ...(tier.cachedInput === undefined ? {} : { cached_input: text(tier.cachedInput) }),
    ...(tier.cacheWrite5m === undefined ? {} : { cache_write: text(tier.cacheWrite5m) }),
    ...(tier.cacheWrite1h === undefined ? {} : { cache_write_1h: text(tier.cacheWrite1h) }),
    ...(tier.reasoning === undefined ? {} : { reasoning: text(tier.reasoning) }),
  }
}
