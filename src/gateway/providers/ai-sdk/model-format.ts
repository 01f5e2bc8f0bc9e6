import type { AiSdkOptions } from './ai-sdk-options.ts'

/** Returns the request format of a model: Claude on Vertex uses Anthropic's format. */
export function modelFormat(kind: AiSdkOptions['kind'], modelId: string): AiSdkOptions['kind'] {
  return kind === 'google-vertex' && modelId.startsWith('claude') ? 'anthropic' : kind
}
