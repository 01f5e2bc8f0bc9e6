import { createAmazonBedrock } from '@ai-sdk/amazon-bedrock'
import { createAnthropic } from '@ai-sdk/anthropic'
import { createCohere } from '@ai-sdk/cohere'
import { createGoogle } from '@ai-sdk/google'
import type { EmbeddingModelV4, LanguageModelV4 } from '@ai-sdk/provider'
import { ANTHROPIC_ADDRESS } from './native-messages/message-fields.ts'
import { COHERE_ADDRESS, GOOGLE_ADDRESS, type AiSdkOptions } from './ai-sdk-options.ts'
import type { Fetch } from './open-fetch.ts'
import { openVertex, type OpenedModels } from './open-vertex.ts'

/**
 * Opens the models of an upstream. Throws a TypeError if its credentials, project or region are missing. Every setting
 * is passed explicitly, even if empty, because the packages read undefined settings from the environment.
 */
export function openModels(
  options: AiSdkOptions,
  fetch: Fetch,
  getVertexToken?: () => Promise<string>,
): OpenedModels {
  switch (options.kind) {
    case 'anthropic': {
      const anthropic = createAnthropic({
        baseURL: options.baseUrl ?? ANTHROPIC_ADDRESS,
        apiKey: options.apiKey ?? '',
        headers: { ...options.headers },
        fetch,
      })
      return { language: (modelId) => anthropic.languageModel(modelId) }
    }
    case 'google':
      return modelsOf(
        createGoogle({
          baseURL: options.baseUrl ?? GOOGLE_ADDRESS,
          apiKey: options.apiKey ?? '',
          headers: { ...options.headers },
          fetch,
        }),
      )
    case 'google-vertex':
      return openVertex(options, fetch, getVertexToken)
    case 'amazon-bedrock':
      return openBedrock(options, fetch)
    case 'cohere':
      return modelsOf(
        createCohere({
          baseURL: options.baseUrl ?? COHERE_ADDRESS,
          apiKey: options.apiKey ?? '',
          headers: { ...options.headers },
          fetch,
        }),
      )
  }
}

interface Package {
  languageModel(modelId: string): LanguageModelV4
  embeddingModel(modelId: string): EmbeddingModelV4
}

function modelsOf(provider: Package): OpenedModels {
  return {
    language: (modelId) => provider.languageModel(modelId),
    embedding: (modelId) => provider.embeddingModel(modelId),
  }
}

function openBedrock(options: AiSdkOptions, fetch: Fetch): OpenedModels {
  const { apiKey, baseUrl, bedrock } = options
  if (!bedrock?.region) throw new TypeError('bedrock needs a region')
  if (!apiKey && !(bedrock.accessKeyId && bedrock.secretAccessKey)) {
    throw new TypeError('bedrock needs an API key, or an access key and its secret')
  }
  return modelsOf(
    createAmazonBedrock({
      region: bedrock.region,
      baseURL: baseUrl ?? bedrockAddress(bedrock.region),
      apiKey: apiKey ?? '',
      accessKeyId: bedrock.accessKeyId ?? '',
      secretAccessKey: bedrock.secretAccessKey ?? '',
      ...(bedrock.sessionToken === undefined ? {} : { sessionToken: bedrock.sessionToken }),
      headers: { ...options.headers },
      fetch,
    }),
  )
}

/** Passed explicitly, because the package would otherwise look for an address in the environment. */
function bedrockAddress(region: string): string {
  const domain = region.startsWith('cn-') ? 'amazonaws.com.cn' : 'amazonaws.com'
  return `https://bedrock-runtime.${region}.${domain}`
}
