import type { PriceSource } from './price-from-data.ts'
import type { PriceSchedule } from './price-schedule.ts'
import type { Price, PriceTerms } from './prices.ts'

export const MODEL_CATEGORIES = ['llm', 'image', 'video', 'embedding', 'audio'] as const
export type ModelCategory = (typeof MODEL_CATEGORIES)[number]

/** What a model does, named as the calls to it are; each model does one of these. */
export const MODEL_OPERATIONS = [
  'chat',
  'embeddings',
  'rerank',
  'moderations',
  'images',
  'speech',
  'transcriptions',
  'videos',
] as const
export type ModelOperation = (typeof MODEL_OPERATIONS)[number]

/** The public tokenizers that `countTokens` can load. */
export type Tokenizer = 'o200k_base' | 'cl100k_base'

/** How the routes of a model are ordered; see `gateway/routing/order-routes.ts`. */
export const ROUTING_STRATEGIES = ['priority', 'latency', 'price'] as const
export type RoutingStrategy = (typeof ROUTING_STRATEGIES)[number]
/** `fastest` is what a caller asks for: `latency` without exception, also for a conversation. */
export type RouteOrder = RoutingStrategy | 'fastest'

/** A way to reach a model: the upstream's id in the configuration and the model's name there. */
export interface Route<P extends PriceTerms = Price> {
  readonly upstreamId: string
  readonly upstreamModel: string
  /** The current price of this route: the model's price, unless the route has its own. */
  readonly price: P
  /** Absent if the price does not depend on the time. A call is held for and charged by it; see `route-prices.ts`. */
  readonly priceSchedule?: PriceSchedule<P>
  /** Set if the configuration gives this route prices of its own, which a change of the model's prices leaves. */
  readonly hasOwnPrice?: true
  /** Smaller numbers are tried first. */
  readonly priority: number
  /** The share of calls among routes of the same priority. */
  readonly weight: number
  /** Concurrent calls per node; `Infinity` for no limit. */
  readonly concurrencyMax: number
}

export interface EmbeddingTraits {
  /** The length of a vector. */
  readonly dimensions: number
  /** Whether requests may ask for fewer with `dimensions`. */
  readonly canShorten: boolean
}

export interface ImageTraits {
  /** `<width>x<height>`; the first is the default. Empty if any size is allowed. */
  readonly sizes: readonly string[]
  /** The most tokens of one image by quality, for models that are billed by the token. */
  readonly tokensMax?: Readonly<Record<string, number>>
}

export interface VideoTraits {
  /** The lengths that may be asked for; the first is the default. */
  readonly seconds: readonly number[]
  /** `<width>x<height>`; the first is the default. */
  readonly sizes: readonly string[]
}

export interface AudioTraits {
  /** A shorter file is billed as one of this length. */
  readonly secondsMin: number
  /** The longest file that the model accepts. */
  readonly secondsMax: number
  /** For models that are billed by the token. */
  readonly tokensPerSecondMax?: number
  /** Whether transcripts have timestamps, which subtitles need. */
  readonly hasTimestamps: boolean
}

/** A complete catalog entry. The type makes an entry without a price impossible. */
export interface Model<P extends PriceTerms = Price> {
  readonly id: string
  readonly displayName: string
  readonly category: ModelCategory
  readonly description: string | null
  /** The maker of the model, as shown in the catalog's `upstream` field. */
  readonly vendor: string
  /** The multiplier times 10^4. */
  readonly markupE4: bigint
  /** The current price: the catalog replaces it when another one begins to apply. */
  readonly price: P
  /** Absent if the price does not depend on the time. */
  readonly priceSchedule?: PriceSchedule<P>
  /** The limit for prompt and output together. */
  readonly contextTokens: number
  readonly outputTokensMax: number
  /** The most tokens that one image in the prompt can count as; 0 if the model accepts no images. */
  readonly imageTokensMax: number
  /** The most tokens that the model's upstreams add to every prompt and bill; none if unset. */
  readonly hiddenPromptTokensMax?: number
  /** Set only if the model is known to use exactly this tokenizer; then its count may replace the bound by bytes. */
  readonly tokenizer?: Tokenizer
  readonly supportsTools: boolean
  /**
   * False if the model is known to generate no hidden reasoning. If unset, it may: then a stream whose client hung up is
   * read to its usage (docs/http.md, "What an interrupted call costs").
   */
  readonly canReason?: boolean
  /** Where its price is in the data. Absent if an operator wrote the model. */
  readonly priceFrom?: PriceSource
  /**
   * The day, in UTC, on which its maker ends it, `YYYY-MM-DD`: an announcement. Calls go on while an upstream answers.
   */
  readonly endsOn?: string
  /** The id of the model that the maker names in its place. */
  readonly replacedBy?: string
  /** Set if the configuration says when it ends, or that it does not; then no list says otherwise. */
  readonly hasOwnEnd?: true
  /** Set if the configuration gives it prices, which another price of the data never replaces by itself. */
  readonly hasOwnPrice?: true
  /** An upstream's own list has it, and nobody looked at what it can do. */
  readonly isDiscovered?: true
  readonly embedding?: EmbeddingTraits
  /** True for a model of the category `embedding` that ranks documents, and makes no vectors. */
  readonly rerank?: boolean
  /** True for a model of the category `embedding` that judges content, and makes no vectors. */
  readonly moderation?: boolean
  /** True for a model of the category `audio` that speaks, and hears nothing. */
  readonly speech?: boolean
  readonly image?: ImageTraits
  readonly audio?: AudioTraits
  readonly video?: VideoTraits
  readonly strategy: RouteOrder
  /** If empty, the model is listed but temporarily unavailable. */
  readonly routes: readonly Route<P>[]
}

/** A model of the configuration, whose prices have no ids yet; `registerPrices` turns it into a `Model`. */
export type ConfiguredModel = Model<PriceTerms>
export type ConfiguredRoute = Route<PriceTerms>

/** The category alone does not say it: rerankers and moderators are `embedding`, voices and transcribers `audio`. */
export function operationOf({
  category,
  rerank,
  moderation,
  speech,
}: Pick<ConfiguredModel, 'category' | 'rerank' | 'moderation' | 'speech'>): ModelOperation {
  if (category === 'llm') return 'chat'
  if (category === 'image') return 'images'
  if (category === 'video') return 'videos'
  if (category === 'audio') return speech ? 'speech' : 'transcriptions'
  if (rerank) return 'rerank'
  return moderation ? 'moderations' : 'embeddings'
}

/** Whether every price of the model's routes has this unit, because any of them may be charged. */
export function hasUnitPrice({ routes }: Model, unit: string): boolean {
  const isPriced = ({ units }: PriceTerms): boolean => units?.[unit] !== undefined
  return (
    routes.length > 0 &&
    routes.every(
      ({ price, priceSchedule = [] }) =>
        isPriced(price) && priceSchedule.every((scheduled) => isPriced(scheduled.price)),
    )
  )
}

/**
 * Returns the unit that bills an image of this size and quality, in prices per image: the most specific one that the
 * price has. Undefined if the price has none; such an image cannot be sold.
 */
export function imageUnit(price: PriceTerms, size: string, quality: string): string | undefined {
  return [`images:${quality}:${size}`, `images:${size}`, `images:${quality}`, 'images'].find(
    (unit) => price.units?.[unit] !== undefined,
  )
}

/** Returns the unit that bills a second of a video of this size; undefined if it has no price. */
export function videoUnit(price: PriceTerms, size: string): string | undefined {
  return [`video_seconds:${size}`, 'video_seconds'].find(
    (unit) => price.units?.[unit] !== undefined,
  )
}

/** Returns the distinct vendors of these models, sorted by name. */
export function vendorsOf(
  models: readonly ConfiguredModel[],
  modelIds: readonly string[],
): string[] {
  const concerned = models.filter((model) => modelIds.includes(model.id))
  return [...new Set(concerned.map((model) => model.vendor))].sort()
}
