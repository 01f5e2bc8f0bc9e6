/**
 * Upstreams that are there as soon as their key is in the environment. All of them offer the
 * chat-completions format.
 *
 * `cancelStopsBilling`: whether closing the connection stops the meter, by what is published of each.
 */
export interface UpstreamPreset {
  readonly id: string
  readonly baseUrl: string
  readonly apiKeyEnv: string
  readonly cancelStopsBilling: boolean
}

export const upstreamPresets: readonly UpstreamPreset[] = [
  {
    id: 'openai',
    baseUrl: 'https://api.openai.com/v1',
    apiKeyEnv: 'OPENAI_API_KEY',
    cancelStopsBilling: true,
  },
  {
    id: 'anthropic',
    baseUrl: 'https://api.anthropic.com/v1',
    apiKeyEnv: 'ANTHROPIC_API_KEY',
    cancelStopsBilling: true,
  },
  {
    id: 'google',
    baseUrl: 'https://generativelanguage.googleapis.com/v1beta/openai',
    apiKeyEnv: 'GEMINI_API_KEY',
    cancelStopsBilling: false,
  },
  {
    id: 'deepseek',
    baseUrl: 'https://api.deepseek.com/v1',
    apiKeyEnv: 'DEEPSEEK_API_KEY',
    cancelStopsBilling: true,
  },
  {
    id: 'mistral',
    baseUrl: 'https://api.mistral.ai/v1',
    apiKeyEnv: 'MISTRAL_API_KEY',
    cancelStopsBilling: false,
  },
  { id: 'xai', baseUrl: 'https://api.x.ai/v1', apiKeyEnv: 'XAI_API_KEY', cancelStopsBilling: true },
  {
    id: 'groq',
    baseUrl: 'https://api.groq.com/openai/v1',
    apiKeyEnv: 'GROQ_API_KEY',
    cancelStopsBilling: false,
  },
]
