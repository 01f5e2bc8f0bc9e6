import type { Price } from './prices.ts'

export const MODEL_CATEGORIES = ['llm', 'image', 'video', 'embedding', 'audio'] as const
export type ModelCategory = (typeof MODEL_CATEGORIES)[number]

/** One way to reach a model: the upstream's id in the configuration and the model's name there. */
export interface Route {
  readonly upstreamId: string
  readonly upstreamModel: string
}

/** A catalog entry, complete: an entry without a price cannot be built. */
export interface Model {
  readonly id: string
  readonly displayName: string
  readonly category: ModelCategory
  readonly description: string | null
  /** The maker of the model, as shown in the catalog's `upstream` field. */
  readonly vendor: string
  /** Times 10^4. */
  readonly markupE4: bigint
  /** Token prices. Models billed in other units (seconds of audio, images) carry those in `unitPrices`. */
  readonly price: Price
  /** Micro-USD per unit, for models that are not billed by the token alone. */
  readonly unitPrices?: Readonly<Record<string, bigint>>
  /** Prompt and output together, in tokens. */
  readonly contextTokens: number
  readonly outputTokensMax: number
  /** The most that one image in the prompt can count as, in tokens; 0 where the model takes none. */
  readonly imageTokensMax: number
  /** Set where the public tokenizer of the model is known, so that a hold may be counted and not bounded. */
  readonly tokenizer?: 'o200k_base'
  readonly supportsTools: boolean
  /** In the order they are tried. Empty: the model is listed but temporarily unavailable. */
  readonly routes: readonly Route[]
}
