/**
 * Presets of well-known upstreams: their format, address and field names. An upstream exists as soon as its environment
 * variables are set. A configuration may name a preset as `kind` and override any of its fields.
 *
 * `cancelStopsBilling`: whether closing the connection stops the billing, according to the provider's publications;
 * false if nothing is published.
 *
 * `opensOnlyImages`: the upstream opens the address of an image as an image or refuses it, and never reads it as a
 * document or video. Unset if the upstream passes addresses on to others, or if nothing is known.
 */
export type Adapter =
  | 'openai-compatible'
  | 'anthropic'
  | 'google'
  | 'google-vertex'
  | 'amazon-bedrock'
  | 'cohere'

export interface UpstreamPreset {
  readonly adapter: Adapter
  /** Including the version segment. Undefined if the adapter knows the address, or the operator configures it. */
  readonly baseUrl?: string
  /** The environment variable with the address, for upstreams without a fixed address. */
  readonly baseUrlEnv?: string
  /** Appended to the address in `baseUrlEnv`, unless the value already ends with it. */
  readonly baseUrlPath?: string
  readonly apiKeyEnv?: string
  /** The upstream exists if all variables of at least one of these lists are set. */
  readonly whenSet: readonly (readonly string[])[]
  readonly cancelStopsBilling: boolean
  readonly opensOnlyImages?: boolean
  /** Default: `max_tokens`, which every preset without this field obeys. */
  readonly maxTokensField?: 'max_tokens' | 'max_completion_tokens'
  /** It takes ids of tool calls of nine letters and digits only. */
  readonly hasShortCallIds?: boolean
  readonly authentication?: 'bearer' | 'api-key'
}

function compatible(
  baseUrl: string,
  apiKeyEnv: string,
  cancelStopsBilling: boolean,
): UpstreamPreset {
  const whenSet = [[apiKeyEnv]]
  return { adapter: 'openai-compatible', baseUrl, apiKeyEnv, whenSet, cancelStopsBilling }
}

/** A server that the operator runs: an aborted call costs nothing. */
function own(baseUrlEnv: string, apiKeyEnv: string): UpstreamPreset {
  const whenSet = [[baseUrlEnv]]
  return { adapter: 'openai-compatible', baseUrlEnv, apiKeyEnv, whenSet, cancelStopsBilling: true }
}

function ownFormat(
  adapter: Adapter,
  apiKeyEnv: string,
  cancelStopsBilling: boolean,
): UpstreamPreset {
  return { adapter, apiKeyEnv, whenSet: [[apiKeyEnv]], cancelStopsBilling }
}

const VERTEX = ['GOOGLE_VERTEX_PROJECT', 'GOOGLE_VERTEX_LOCATION']

export const upstreamPresets: Readonly<Record<string, UpstreamPreset>> = {
  openai: {
    ...compatible('https://api.openai.com/v1', 'OPENAI_API_KEY', true),
    opensOnlyImages: true,
    maxTokensField: 'max_completion_tokens',
  },
  'azure-openai': {
    adapter: 'openai-compatible',
    baseUrlEnv: 'AZURE_OPENAI_ENDPOINT',
    baseUrlPath: '/openai/v1',
    apiKeyEnv: 'AZURE_OPENAI_API_KEY',
    whenSet: [['AZURE_OPENAI_ENDPOINT', 'AZURE_OPENAI_API_KEY']],
    cancelStopsBilling: true,
    opensOnlyImages: true,
    maxTokensField: 'max_completion_tokens',
    authentication: 'api-key',
  },
  anthropic: ownFormat('anthropic', 'ANTHROPIC_API_KEY', true),
  google: ownFormat('google', 'GEMINI_API_KEY', false),
  'google-vertex': {
    adapter: 'google-vertex',
    apiKeyEnv: 'GOOGLE_VERTEX_API_KEY',
    whenSet: [
      [...VERTEX, 'GOOGLE_VERTEX_API_KEY'],
      [...VERTEX, 'GOOGLE_CLIENT_EMAIL', 'GOOGLE_PRIVATE_KEY'],
    ],
    cancelStopsBilling: false,
  },
  'amazon-bedrock': {
    adapter: 'amazon-bedrock',
    apiKeyEnv: 'AWS_BEARER_TOKEN_BEDROCK',
    whenSet: [
      ['AWS_REGION', 'AWS_BEARER_TOKEN_BEDROCK'],
      ['AWS_REGION', 'AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY'],
    ],
    cancelStopsBilling: false,
  },
  cohere: ownFormat('cohere', 'COHERE_API_KEY', false),
  deepseek: compatible('https://api.deepseek.com/v1', 'DEEPSEEK_API_KEY', true),
  mistral: {
    ...compatible('https://api.mistral.ai/v1', 'MISTRAL_API_KEY', false),
    opensOnlyImages: true,
    hasShortCallIds: true,
  },
  // Here `max_tokens` does not limit reasoning tokens.
  xai: {
    ...compatible('https://api.x.ai/v1', 'XAI_API_KEY', true),
    opensOnlyImages: true,
    maxTokensField: 'max_completion_tokens',
  },
  groq: {
    ...compatible('https://api.groq.com/openai/v1', 'GROQ_API_KEY', false),
    opensOnlyImages: true,
    maxTokensField: 'max_completion_tokens',
  },
  together: compatible('https://api.together.xyz/v1', 'TOGETHER_API_KEY', true),
  fireworks: compatible('https://api.fireworks.ai/inference/v1', 'FIREWORKS_API_KEY', true),
  openrouter: compatible('https://openrouter.ai/api/v1', 'OPENROUTER_API_KEY', false),
  maritaca: compatible('https://chat.maritaca.ai/api', 'MARITACA_API_KEY', false),
  vllm: { ...own('VLLM_BASE_URL', 'VLLM_API_KEY'), opensOnlyImages: true },
  ollama: own('OLLAMA_BASE_URL', 'OLLAMA_API_KEY'),
  'lm-studio': own('LM_STUDIO_BASE_URL', 'LM_STUDIO_API_KEY'),
}

export interface PricedBy {
  /** The provider of the price data whose prices the upstream charges. */
  readonly provider: string
  /** Unset if it serves models of several makers. */
  readonly maker?: string
}

/**
 * The presets whose models can be discovered. OpenRouter's are not: it chooses whose server answers, at prices that the data
 * does not say.
 */
export const pricedBy: Readonly<Record<string, PricedBy>> = {
  openai: { provider: 'openai', maker: 'openai' },
  anthropic: { provider: 'anthropic', maker: 'anthropic' },
  google: { provider: 'google', maker: 'google' },
  deepseek: { provider: 'deepseek', maker: 'deepseek' },
  mistral: { provider: 'mistral', maker: 'mistral' },
  xai: { provider: 'x-ai', maker: 'xai' },
  cohere: { provider: 'cohere', maker: 'cohere' },
  groq: { provider: 'groq' },
  together: { provider: 'together' },
  fireworks: { provider: 'fireworks' },
}
