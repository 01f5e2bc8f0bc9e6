import { createAmazonBedrock } from '@ai-sdk/amazon-bedrock'
import { createAnthropic } from '@ai-sdk/anthropic'
import { createCohere } from '@ai-sdk/cohere'
import { createGoogle } from '@ai-sdk/google'
import { createGoogleVertex } from '@ai-sdk/google-vertex'
import type { LanguageModelV4 } from '@ai-sdk/provider'
import type { AiSdkOptions } from './ai-sdk-options.ts'
import type { Fetch } from './open-fetch.ts'
import { createVertexToken } from './vertex-token.ts'

export type OpenLanguageModel = (modelId: string) => LanguageModelV4

/**
 * How the models of an upstream are opened. Throws a TypeError where its credentials or its place are
 * missing. Every setting is given, empty ones too: what is undefined, the packages take from the
 * environment.
 */
export function createOpenLanguageModel(options: AiSdkOptions, fetch: Fetch): OpenLanguageModel {
  switch (options.kind) {
    case 'anthropic':
      return createAnthropic({
        baseURL: options.baseUrl ?? 'https://api.anthropic.com/v1',
        apiKey: options.apiKey ?? '',
        headers: { ...options.headers },
        fetch,
      })
    case 'google':
      return createGoogle({
        baseURL: options.baseUrl ?? 'https://generativelanguage.googleapis.com/v1beta',
        apiKey: options.apiKey ?? '',
        headers: { ...options.headers },
        fetch,
      })
    case 'google-vertex':
      return openVertex(options, fetch)
    case 'amazon-bedrock':
      return openBedrock(options, fetch)
    case 'cohere':
      return createCohere({
        baseURL: options.baseUrl ?? 'https://api.cohere.com/v2',
        apiKey: options.apiKey ?? '',
        headers: { ...options.headers },
        fetch,
      })
  }
}

function openVertex(options: AiSdkOptions, fetch: Fetch): OpenLanguageModel {
  const { apiKey, baseUrl, vertex, headers } = options
  const common = {
    ...(baseUrl === undefined ? {} : { baseURL: baseUrl }),
    project: vertex?.project ?? '',
    location: vertex?.location ?? '',
    headers: { ...headers },
    fetch,
  }
  if (apiKey !== undefined && apiKey !== '') return createGoogleVertex({ ...common, apiKey })
  if (!vertex?.clientEmail || !vertex.privateKey) {
    throw new TypeError('vertex needs an API key, or the e-mail and the key of a service account')
  }
  const { clientEmail, privateKey, tokenUrl } = vertex
  const getToken = createVertexToken({ clientEmail, privateKey, tokenUrl }, fetch)
  // With a client of ours the package does not look for credentials. Of a client it uses only this.
  const authClient = { getAccessToken: async () => ({ token: await getToken() }) }
  return createGoogleVertex({
    ...common,
    apiKey: '',
    googleAuthOptions: { authClient } as unknown as GoogleAuthOptions,
  })
}

type GoogleAuthOptions = NonNullable<
  NonNullable<Parameters<typeof createGoogleVertex>[0]>['googleAuthOptions']
>

function openBedrock(options: AiSdkOptions, fetch: Fetch): OpenLanguageModel {
  const { apiKey, baseUrl, bedrock } = options
  if (!bedrock?.region) throw new TypeError('bedrock needs a region')
  if (!apiKey && !(bedrock.accessKeyId && bedrock.secretAccessKey)) {
    throw new TypeError('bedrock needs an API key, or an access key and its secret')
  }
  return createAmazonBedrock({
    region: bedrock.region,
    baseURL: baseUrl ?? bedrockAddress(bedrock.region),
    apiKey: apiKey ?? '',
    accessKeyId: bedrock.accessKeyId ?? '',
    secretAccessKey: bedrock.secretAccessKey ?? '',
    ...(bedrock.sessionToken === undefined ? {} : { sessionToken: bedrock.sessionToken }),
    headers: { ...options.headers },
    fetch,
  })
}

/** Given because the package would first look for an address in the environment. */
function bedrockAddress(region: string): string {
  const domain = region.startsWith('cn-') ? 'amazonaws.com.cn' : 'amazonaws.com'
  return `https://bedrock-runtime.${region}.${domain}`
}
