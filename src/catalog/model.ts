import type { Price, PriceTerms } from './prices.ts'

export const MODEL_CATEGORIES = ['llm', 'image', 'video', 'embedding', 'audio'] as const
export type ModelCategory = (typeof MODEL_CATEGORIES)[number]

/** Public tokenizers that are at hand. */
export type Tokenizer = 'o200k_base' | 'cl100k_base'

/** In which order a model's routes are tried: see `gateway/routing/order-routes.ts`. */
export const ROUTING_STRATEGIES = ['priority', 'latency', 'price'] as const
export type RoutingStrategy = (typeof ROUTING_STRATEGIES)[number]

/** One way to reach a model: the upstream's id in the configuration and the model's name there. */
export interface Route<P extends PriceTerms = Price> {
  readonly upstreamId: string
  readonly upstreamModel: string
  /** What this way costs: the model's own price, unless it is dearer or cheaper here. */
  readonly price: P
  /** Smaller is tried first. */
  readonly priority: number
  /** The share of the calls among routes of one priority. */
  readonly weight: number
  /** Calls of one node at once; `Infinity` where there is no limit. */
  readonly concurrencyMax: number
}

export interface EmbeddingTraits {
  /** Numbers in a vector. */
  readonly dimensions: number
  /** Whether `dimensions` may ask for fewer. */
  readonly canShorten: boolean
}

export interface ImageTraits {
  /** `<width>x<height>`; the first is the default. Empty: any size. */
  readonly sizes: readonly string[]
  /** The most tokens of one image by quality, for models that are billed by the token. */
  readonly tokensMax?: Readonly<Record<string, number>>
}

export interface AudioTraits {
  /** A shorter file is billed as one of this length. */
  readonly secondsMin: number
  /** The longest file that the model takes. */
  readonly secondsMax: number
  /** For models that are billed by the token. */
  readonly tokensPerSecondMax?: number
  /** Whether it tells when what was said; needed for subtitles. */
  readonly hasTimestamps: boolean
}

/** A catalog entry, complete: an entry without a price cannot be built. */
export interface Model<P extends PriceTerms = Price> {
  readonly id: string
  readonly displayName: string
  readonly category: ModelCategory
  readonly description: string | null
  /** The maker of the model, as shown in the catalog's `upstream` field. */
  readonly vendor: string
  /** Times 10^4. */
  readonly markupE4: bigint
  readonly price: P
  /** Prompt and output together, in tokens. */
  readonly contextTokens: number
  readonly outputTokensMax: number
  /** The most that one image in the prompt can count as, in tokens; 0 where the model takes none. */
  readonly imageTokensMax: number
  /** Set only where the model is known to use exactly this one, so that a hold may be counted and not bounded. */
  readonly tokenizer?: Tokenizer
  readonly supportsTools: boolean
  /**
   * False where the model is known to put out nothing but what it shows. Unset, it may think unseen: a stream that its
   * client left is read to its usage (docs/specification.md, "What an interrupted call costs").
   */
  readonly canReason?: boolean
  readonly embedding?: EmbeddingTraits
  readonly image?: ImageTraits
  readonly audio?: AudioTraits
  readonly strategy: RoutingStrategy
  /** Empty: the model is listed but temporarily unavailable. */
  readonly routes: readonly Route<P>[]
}

/** Of the configuration, whose prices are not stored yet: `registerPrices` makes models of them. */
export type ConfiguredModel = Model<PriceTerms>
export type ConfiguredRoute = Route<PriceTerms>
