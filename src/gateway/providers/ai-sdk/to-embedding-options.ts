import type { EmbeddingModelV4CallOptions, JSONObject } from '@ai-sdk/provider'
import type { EmbeddingCall } from '../contract.ts'
import type { AiSdkOptions } from './ai-sdk-options.ts'

/**
 * The number of dimensions, and for Cohere's models the required `input_type`: `search_document`, `search_query`,
 * `classification` or `clustering`. The packages refuse unknown values.
 */
export function toEmbeddingOptions(
  kind: AiSdkOptions['kind'],
  modelId: string,
  { dimensions, body }: EmbeddingCall,
): Pick<EmbeddingModelV4CallOptions, 'dimensions' | 'providerOptions'> {
  const inputType = body.input_type as JSONObject[string]
  switch (kind) {
    case 'cohere':
      return { providerOptions: { cohere: given({ outputDimension: dimensions, inputType }) } }
    case 'amazon-bedrock': {
      // The package selects the request format by the same names.
      const isCohere = modelId.includes('cohere.embed-')
      const isNova = modelId.includes('amazon.nova-') && modelId.includes('embed')
      const options = isCohere
        ? { outputDimension: dimensions, inputType }
        : isNova
          ? { embeddingDimension: dimensions }
          : { dimensions }
      return { providerOptions: { amazonBedrock: given(options) } }
    }
    case 'google':
    case 'google-vertex':
    case 'anthropic':
      return dimensions === undefined ? {} : { dimensions }
  }
}

function given(options: Record<string, JSONObject[string] | undefined>): JSONObject {
  return Object.fromEntries(
    Object.entries(options).filter(([, value]) => value !== undefined && value !== null),
  )
}
