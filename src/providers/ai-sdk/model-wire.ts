import type { AiSdkOptions } from './ai-sdk-options.ts'

/** The format that a model is asked in: on Vertex, Claude is asked in Anthropic's. */
export function modelWire(kind: AiSdkOptions['kind'], modelId: string): AiSdkOptions['kind'] {
  return kind === 'google-vertex' && modelId.startsWith('claude') ? 'anthropic' : kind
}
