/**
 * Upstreams that are known by name: what each of them speaks, where it is, and what it calls things.
 * One is there as soon as its variables are in the environment; a configuration may name it as `kind`
 * and change what it likes.
 *
 * `cancelStopsBilling`: whether closing the connection stops the meter, by what is published of each;
 * false where nothing is.
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
  /** With the version segment. Undefined: the adapter knows it, or the operator says it. */
  readonly baseUrl?: string
  /** A variable with the address, for what runs on machines of the operator's own. */
  readonly baseUrlEnv?: string
  /** What follows the address of `baseUrlEnv`, where its value leaves it out. */
  readonly baseUrlPath?: string
  readonly apiKeyEnv?: string
  /** It is there where all variables of one of these are set. */
  readonly whenSet: readonly (readonly string[])[]
  readonly cancelStopsBilling: boolean
  /** `max_tokens` if not given, which all that are not here obey. */
  readonly maxTokensField?: 'max_tokens' | 'max_completion_tokens'
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

/** A server of the operator's own: its meter is a machine that runs anyway. */
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
    maxTokensField: 'max_completion_tokens',
  },
  'azure-openai': {
    adapter: 'openai-compatible',
    baseUrlEnv: 'AZURE_OPENAI_ENDPOINT',
    baseUrlPath: '/openai/v1',
    apiKeyEnv: 'AZURE_OPENAI_API_KEY',
    whenSet: [['AZURE_OPENAI_ENDPOINT', 'AZURE_OPENAI_API_KEY']],
    cancelStopsBilling: true,
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
  mistral: compatible('https://api.mistral.ai/v1', 'MISTRAL_API_KEY', false),
  // `max_tokens` leaves the thoughts of its models out.
  xai: {
    ...compatible('https://api.x.ai/v1', 'XAI_API_KEY', true),
    maxTokensField: 'max_completion_tokens',
  },
  groq: {
    ...compatible('https://api.groq.com/openai/v1', 'GROQ_API_KEY', false),
    maxTokensField: 'max_completion_tokens',
  },
  together: compatible('https://api.together.xyz/v1', 'TOGETHER_API_KEY', true),
  fireworks: compatible('https://api.fireworks.ai/inference/v1', 'FIREWORKS_API_KEY', true),
  openrouter: compatible('https://openrouter.ai/api/v1', 'OPENROUTER_API_KEY', false),
  maritaca: compatible('https://chat.maritaca.ai/api', 'MARITACA_API_KEY', false),
  vllm: own('VLLM_BASE_URL', 'VLLM_API_KEY'),
  ollama: own('OLLAMA_BASE_URL', 'OLLAMA_API_KEY'),
  'lm-studio': own('LM_STUDIO_BASE_URL', 'LM_STUDIO_API_KEY'),
}
