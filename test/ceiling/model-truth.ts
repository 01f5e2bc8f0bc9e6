/**
 * The models of the ceiling test as their providers know them: token prices, the longest answer without a
 * limit, the tokens of an image. The gateway is configured from the same table, except for facts that a
 * catalog may lack: the provider's own output limit and the price of a one-hour cache.
 */
export type Format =
  | 'openai'
  | 'anthropic'
  | 'google'
  | 'google-vertex'
  | 'amazon-bedrock'
  | 'cohere'
export type Kind =
  | 'chat'
  | 'embeddings'
  | 'rerank'
  | 'moderations'
  | 'images'
  | 'transcriptions'
  | 'speech'
/** A model may serve several. */
export type RequestKind = Kind | 'edits' | 'translations'

/** Micro-USD per million tokens, which is pico-USD per token. */
export interface TruePrices {
  readonly input: number
  readonly cachedInput?: number
  readonly cacheWrite5m?: number
  readonly cacheWrite1h?: number
  readonly output: number
  readonly reasoning?: number
}

export interface TrueTier extends TruePrices {
  readonly above: number
}

export interface ModelTruth {
  readonly id: string
  readonly kind: Kind
  readonly format: Format
  readonly upstreamId: string
  readonly upstreamModel: string
  readonly isBuiltIn?: true
  readonly hasDeadRoute?: true
  /** In ascending order; the first is above 0. */
  readonly tiers: readonly [TrueTier, ...TrueTier[]]
  /** Micro-USD per million tokens. */
  readonly audioInput?: number
  readonly imageInput?: number
  readonly imageOutput?: number
  /** Pico-USD per image of one megapixel, for models that are billed by the image. */
  readonly megapixel?: number
  /** Pico-USD for a search of the web; none: the provider must get no request with searches. */
  readonly search?: number
  /** Pico-USD for a query with up to 100 documents, or for a character that is spoken. */
  readonly searchUnit?: number
  readonly character?: number
  /** Micro-USD per hour. */
  readonly audioHour?: number
  readonly context: number
  /** The longest answer by the catalog, and the provider's own limit when a request brings none. */
  readonly outputMax: number
  readonly ownOutputMax: number
  readonly imageTokens: number
  readonly tokenizer?: 'o200k_base' | 'cl100k_base'
  /** The field that limits the output of this model; others are ignored. */
  readonly limitField?: 'max_tokens' | 'max_completion_tokens'
  readonly audio?: { secondsMax: number; tokensPerSecond?: number; audioTokensOnly?: true }
  readonly imageTokensByQuality?: Readonly<Record<string, number>>
}

const usd = (amount: number): number => Math.round(amount * 1_000_000)

function prices(
  input: number,
  output: number,
  more: { cached?: number; write5m?: number; write1h?: number; reasoning?: number } = {},
): TruePrices {
  return {
    input: usd(input),
    output: usd(output),
    ...(more.cached === undefined ? {} : { cachedInput: usd(more.cached) }),
    ...(more.write5m === undefined ? {} : { cacheWrite5m: usd(more.write5m) }),
    ...(more.write1h === undefined ? {} : { cacheWrite1h: usd(more.write1h) }),
    ...(more.reasoning === undefined ? {} : { reasoning: usd(more.reasoning) }),
  }
}

/** Anthropic's multiples of the input price. */
const claude = (input: number, output: number): TruePrices =>
  prices(input, output, { cached: input / 10, write5m: input * 1.25, write1h: input * 2 })

const chat = { kind: 'chat', imageTokens: 1_000 } as const
const compat = {
  ...chat,
  format: 'openai',
  upstreamId: 'compat',
  limitField: 'max_tokens',
} as const
const openai = {
  ...chat,
  format: 'openai',
  upstreamId: 'openai',
  limitField: 'max_completion_tokens',
} as const

export const MODELS: readonly ModelTruth[] = [
  {
    ...compat,
    id: 'compat-plain',
    upstreamModel: 'vendor/a-name-that-is-longer-than-the-public-one',
    tiers: [
      { above: 0, ...prices(2, 9, { cached: 0.2, write5m: 2.5, write1h: 4, reasoning: 11 }) },
    ],
    context: 20_000,
    outputMax: 500,
    ownOutputMax: 4_000,
  },
  {
    // The middle tier is the cheapest: the most expensive tier need not be that of the longest prompt.
    ...compat,
    id: 'compat-tiers',
    upstreamModel: 'tiers',
    tiers: [
      { above: 0, ...prices(1, 3) },
      { above: 300, ...prices(8, 20) },
      { above: 900, ...prices(2, 5) },
    ],
    context: 100_000,
    outputMax: 1_000,
    ownOutputMax: 1_000,
  },
  {
    ...openai,
    id: 'openai-own',
    upstreamModel: 'o9',
    tiers: [{ above: 0, ...prices(3, 12, { cached: 0.3 }) }],
    context: 50_000,
    outputMax: 2_000,
    ownOutputMax: 30_000,
  },
  {
    ...openai,
    id: 'gpt-5.2',
    upstreamModel: 'gpt-5.2',
    isBuiltIn: true,
    tiers: [{ above: 0, ...prices(1.75, 14, { cached: 0.175 }) }],
    context: 400_000,
    outputMax: 128_000,
    ownOutputMax: 128_000,
    imageTokens: 20_000,
    tokenizer: 'o200k_base',
  },
  {
    ...openai,
    id: 'gpt-4o-mini',
    upstreamModel: 'gpt-4o-mini',
    isBuiltIn: true,
    tiers: [{ above: 0, ...prices(0.15, 0.6, { cached: 0.075 }) }],
    context: 128_000,
    outputMax: 16_384,
    ownOutputMax: 16_384,
    imageTokens: 100_000,
    tokenizer: 'o200k_base',
  },
  {
    ...chat,
    id: 'claude-haiku-4-5',
    format: 'anthropic',
    upstreamId: 'anthropic',
    upstreamModel: 'claude-haiku-4-5',
    isBuiltIn: true,
    tiers: [{ above: 0, ...claude(1, 5) }],
    context: 200_000,
    outputMax: 64_000,
    ownOutputMax: 64_000,
    imageTokens: 6_000,
  },
  {
    ...chat,
    id: 'claude-own',
    format: 'anthropic',
    upstreamId: 'anthropic',
    upstreamModel: 'claude-sonnet-4-5',
    tiers: [
      { above: 0, ...claude(3, 15) },
      { above: 1_000, ...claude(6, 22.5) },
    ],
    context: 200_000,
    outputMax: 4_096,
    ownOutputMax: 64_000,
  },
  {
    ...openai,
    id: 'openai-search',
    upstreamModel: 'o9-search',
    tiers: [{ above: 0, ...prices(3, 12, { cached: 0.3 }) }],
    search: 10_000_000_000,
    context: 40_000,
    outputMax: 2_000,
    ownOutputMax: 30_000,
  },
  {
    ...chat,
    id: 'claude-search',
    format: 'anthropic',
    upstreamId: 'anthropic',
    upstreamModel: 'claude-opus-4-5',
    tiers: [{ above: 0, ...claude(5, 25) }],
    search: 10_000_000_000,
    context: 200_000,
    outputMax: 4_096,
    ownOutputMax: 64_000,
  },
  {
    ...chat,
    id: 'gemini-2.5-flash',
    format: 'google',
    upstreamId: 'google',
    upstreamModel: 'gemini-2.5-flash',
    isBuiltIn: true,
    tiers: [{ above: 0, ...prices(0.3, 2.5, { cached: 0.03 }) }],
    audioInput: usd(1),
    context: 1_048_576,
    outputMax: 65_536,
    ownOutputMax: 65_536,
    imageTokens: 20_000,
  },
  {
    ...chat,
    id: 'gemini-own',
    format: 'google',
    upstreamId: 'google',
    upstreamModel: 'gemini-3.1-pro-preview',
    tiers: [
      { above: 0, ...prices(2, 12) },
      { above: 600, ...prices(4, 18) },
    ],
    context: 200_000,
    outputMax: 2_048,
    ownOutputMax: 65_536,
  },
  {
    // Its first route, in another format and cheaper, never answers.
    ...chat,
    id: 'two-routes',
    format: 'google',
    upstreamId: 'google',
    upstreamModel: 'gemini-3-flash-preview',
    hasDeadRoute: true,
    tiers: [{ above: 0, ...prices(5, 30) }],
    context: 100_000,
    outputMax: 1_000,
    ownOutputMax: 8_000,
  },
  {
    ...chat,
    id: 'vertex-own',
    format: 'google-vertex',
    upstreamId: 'vertex',
    upstreamModel: 'gemini-2.5-pro',
    tiers: [{ above: 0, ...prices(1.25, 10) }],
    context: 200_000,
    outputMax: 2_048,
    ownOutputMax: 65_536,
  },
  {
    ...chat,
    id: 'bedrock-claude',
    format: 'amazon-bedrock',
    upstreamId: 'bedrock',
    upstreamModel: 'us.anthropic.claude-sonnet-4-5-20250929-v1:0',
    tiers: [{ above: 0, ...claude(3, 15) }],
    context: 200_000,
    outputMax: 4_096,
    ownOutputMax: 64_000,
  },
  {
    ...chat,
    id: 'bedrock-nova',
    format: 'amazon-bedrock',
    upstreamId: 'bedrock',
    upstreamModel: 'us.amazon.nova-2-lite-v1:0',
    tiers: [{ above: 0, ...prices(0.3, 2.5, { cached: 0.075 }) }],
    context: 300_000,
    outputMax: 3_000,
    ownOutputMax: 10_000,
  },
  {
    ...chat,
    id: 'cohere-own',
    format: 'cohere',
    upstreamId: 'cohere',
    upstreamModel: 'command-a-reasoning-08-2025',
    tiers: [{ above: 0, ...prices(2.5, 10) }],
    context: 256_000,
    outputMax: 4_000,
    ownOutputMax: 32_000,
  },
]

const embeddings = { kind: 'embeddings', outputMax: 1, ownOutputMax: 0, imageTokens: 0 } as const

export const EMBEDDING_MODELS: readonly ModelTruth[] = [
  {
    ...embeddings,
    id: 'compat-embed',
    format: 'openai',
    upstreamId: 'compat',
    upstreamModel: 'vendor/embed',
    tiers: [{ above: 0, ...prices(0.2, 0) }],
    context: 4_000,
  },
  {
    ...embeddings,
    id: 'text-embedding-3-small',
    format: 'openai',
    upstreamId: 'openai',
    upstreamModel: 'text-embedding-3-small',
    isBuiltIn: true,
    tiers: [{ above: 0, ...prices(0.02, 0) }],
    context: 8_192,
    tokenizer: 'cl100k_base',
  },
  {
    ...embeddings,
    id: 'gemini-embedding-001',
    format: 'google',
    upstreamId: 'google',
    upstreamModel: 'gemini-embedding-001',
    isBuiltIn: true,
    tiers: [{ above: 0, ...prices(0.15, 0) }],
    context: 2_048,
  },
  {
    ...embeddings,
    id: 'cohere-embed',
    format: 'cohere',
    upstreamId: 'cohere',
    upstreamModel: 'embed-v4.0',
    tiers: [{ above: 0, ...prices(0.12, 0) }],
    context: 4_000,
  },
  {
    ...embeddings,
    id: 'titan-embed',
    format: 'amazon-bedrock',
    upstreamId: 'bedrock',
    upstreamModel: 'amazon.titan-embed-text-v2:0',
    tiers: [{ above: 0, ...prices(0.02, 0) }],
    context: 4_000,
  },
]

const rerank = {
  ...embeddings,
  kind: 'rerank',
  format: 'openai',
  upstreamId: 'compat',
  context: 4_000,
} as const

export const RERANK_MODELS: readonly ModelTruth[] = [
  {
    ...rerank,
    id: 'rerank-searches',
    upstreamModel: 'vendor/rerank-searches',
    tiers: [{ above: 0, ...prices(0, 0) }],
    searchUnit: 2_000_000_000,
  },
  {
    ...rerank,
    id: 'rerank-tokens',
    upstreamModel: 'vendor/rerank-tokens',
    tiers: [{ above: 0, ...prices(0.05, 0) }],
  },
]

export const MODERATION_MODELS: readonly ModelTruth[] = [
  {
    ...embeddings,
    kind: 'moderations',
    format: 'openai',
    id: 'judge',
    upstreamId: 'compat',
    upstreamModel: 'vendor/judge',
    tiers: [{ above: 0, ...prices(0.1, 0) }],
    context: 4_000,
    imageTokens: 1_000,
  },
]

const images = { kind: 'images', imageTokens: 0, outputMax: 1 } as const

export const IMAGE_MODELS: readonly ModelTruth[] = [
  {
    ...images,
    id: 'gpt-image-1',
    format: 'openai',
    upstreamId: 'openai',
    upstreamModel: 'gpt-image-1',
    isBuiltIn: true,
    tiers: [{ above: 0, ...prices(5, 0, { cached: 1.25 }) }],
    imageInput: usd(10),
    imageOutput: usd(40),
    imageTokens: 10_000,
    context: 32_000,
    ownOutputMax: 6_240,
    imageTokensByQuality: { low: 408, medium: 1_584, high: 6_240 },
  },
  {
    // As at Together: billed by the pixel, whichever fields give their number.
    ...images,
    id: 'compat-image',
    format: 'openai',
    upstreamId: 'compat',
    upstreamModel: 'vendor/image',
    tiers: [{ above: 0, ...prices(0, 0) }],
    megapixel: 20_000_000_000,
    context: 4_000,
    ownOutputMax: 0,
  },
  {
    ...images,
    id: 'gemini-2.5-flash-image',
    format: 'google',
    upstreamId: 'google',
    upstreamModel: 'gemini-2.5-flash-image',
    isBuiltIn: true,
    tiers: [{ above: 0, ...prices(0.3, 2.5) }],
    imageOutput: usd(30),
    context: 32_768,
    ownOutputMax: 32_768,
    imageTokensByQuality: { high: 1_290 },
  },
]

const audio = { kind: 'transcriptions', imageTokens: 0, format: 'openai' } as const

export const AUDIO_MODELS: readonly ModelTruth[] = [
  {
    ...audio,
    id: 'whisper-1',
    upstreamId: 'openai',
    upstreamModel: 'whisper-1',
    isBuiltIn: true,
    tiers: [{ above: 0, ...prices(0, 0) }],
    audioHour: usd(0.36),
    context: 448,
    outputMax: 1,
    ownOutputMax: 1,
    audio: { secondsMax: 14_400 },
  },
  {
    ...audio,
    id: 'gpt-4o-transcribe',
    upstreamId: 'openai',
    upstreamModel: 'gpt-4o-transcribe',
    isBuiltIn: true,
    tiers: [{ above: 0, ...prices(2.5, 10) }],
    audioInput: usd(6),
    context: 16_000,
    outputMax: 2_000,
    ownOutputMax: 2_000,
    audio: { secondsMax: 1_500, tokensPerSecond: 20 },
  },
]

const speech = { kind: 'speech', format: 'openai', imageTokens: 0, context: 2_000 } as const

export const SPEECH_MODELS: readonly ModelTruth[] = [
  {
    ...speech,
    id: 'speech-characters',
    upstreamId: 'compat',
    upstreamModel: 'vendor/speech',
    tiers: [{ above: 0, ...prices(0, 0) }],
    character: usd(15),
    outputMax: 1,
    ownOutputMax: 0,
  },
  {
    ...speech,
    id: 'gpt-4o-mini-tts',
    upstreamId: 'openai',
    upstreamModel: 'gpt-4o-mini-tts',
    isBuiltIn: true,
    tiers: [{ above: 0, ...prices(0.6, 12) }],
    outputMax: 60_000,
    ownOutputMax: 60_000,
  },
]

/** Pretends that every provider stops at the catalog's limit, to look for other causes. */
export const keepsLimits = process.env.CEILING_LIMITS === 'kept'

export const ALL_MODELS: readonly ModelTruth[] = [
  ...MODELS,
  ...EMBEDDING_MODELS,
  ...RERANK_MODELS,
  ...MODERATION_MODELS,
  ...IMAGE_MODELS,
  ...AUDIO_MODELS,
  ...SPEECH_MODELS,
].map((model) =>
  keepsLimits && model.kind === 'chat' ? { ...model, ownOutputMax: model.outputMax } : model,
)

export function truthOf(upstreamModel: string): ModelTruth | undefined {
  return ALL_MODELS.find((model) => model.upstreamModel === upstreamModel)
}

export const FX_RATE = '5.4321'
export const FX_RATE_E4 = 54_321n
export const MARKUP = '1.3579'
export const markupE4Of = ({ isBuiltIn }: ModelTruth): bigint => (isBuiltIn ? 12_500n : 13_579n)

/** A model that no provider serves. */
export const DEAD = 'dead'

export const SIZES = ['1024x1024', '1536x1024', '1024x1536']
/** Numbers of pixels whose price is a whole number of micro-USD. */
export const PIXEL_SIZES = ['1000x1000', '500x500', '2000x2000']

export function pixelsOf(size: string): number {
  const [width = 0, height = 0] = size.split('x').map(Number)
  return width * height
}
