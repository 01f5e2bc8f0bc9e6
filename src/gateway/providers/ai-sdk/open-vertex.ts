import { createGoogleVertex } from '@ai-sdk/google-vertex'
import { createGoogleVertexAnthropic } from '@ai-sdk/google-vertex/anthropic'
import { LoadAPIKeyError, type LanguageModelV4 } from '@ai-sdk/provider'
import type { AiSdkOptions } from './ai-sdk-options.ts'
import { modelFormat } from './model-format.ts'
import type { Fetch } from './open-fetch.ts'
import type { OpenedModels } from './opened-models.ts'
import { createVertexToken } from './vertex-token.ts'

/**
 * Opens Gemini with an express-mode API key or a service account, and Claude with a service account only. Throws a
 * TypeError if there is neither.
 */
export function openVertex(
  options: AiSdkOptions,
  fetch: Fetch,
  getToken: GetToken | undefined = createGetToken(options.vertex, fetch),
): OpenedModels {
  const { apiKey, baseUrl, vertex, headers } = options
  const common = {
    project: vertex?.project ?? '',
    location: vertex?.location ?? '',
    headers: { ...headers },
    fetch,
  }
  const address = baseUrl === undefined ? {} : { baseURL: baseUrl }
  const google = apiKey
    ? createGoogleVertex({ ...common, ...address, apiKey })
    : createGoogleVertex({ ...common, ...address, apiKey: '', ...authOptions(getToken) })
  const openClaude = createOpenClaude({ ...common, ...claudeAddress(baseUrl) }, getToken)
  return {
    language: (modelId) =>
      modelFormat('google-vertex', modelId) === 'anthropic'
        ? openClaude(modelId)
        : google.languageModel(modelId),
    embedding: (modelId) => google.embeddingModel(modelId),
  }
}

type GetToken = () => Promise<string>

export function createGetToken(vertex: AiSdkOptions['vertex'], fetch: Fetch): GetToken | undefined {
  if (!vertex?.clientEmail || !vertex.privateKey) return undefined
  const { clientEmail, privateKey, tokenUrl } = vertex
  return createVertexToken({ clientEmail, privateKey, tokenUrl }, fetch)
}

/** With our own client the package does not look for credentials; it calls only `getAccessToken`. */
function authOptions(getToken: GetToken | undefined): { googleAuthOptions: GoogleAuthOptions } {
  if (!getToken) {
    throw new TypeError('vertex needs an API key, or the e-mail and the key of a service account')
  }
  const authClient = { getAccessToken: async () => ({ token: await getToken() }) }
  return { googleAuthOptions: { authClient } as unknown as GoogleAuthOptions }
}

type GoogleAuthOptions = NonNullable<
  NonNullable<Parameters<typeof createGoogleVertex>[0]>['googleAuthOptions']
>

function createOpenClaude(
  settings: NonNullable<Parameters<typeof createGoogleVertexAnthropic>[0]>,
  getToken: GetToken | undefined,
): (modelId: string) => LanguageModelV4 {
  if (!getToken) {
    return () => {
      throw new LoadAPIKeyError({ message: 'Claude on Vertex needs a service account' })
    }
  }
  const claude = createGoogleVertexAnthropic({ ...settings, generateAuthToken: getToken })
  return (modelId) => claude.languageModel(modelId)
}

/** A configured address points to Google's models; Anthropic's are next to them. */
function claudeAddress(baseUrl: string | undefined): { baseURL?: string } {
  if (baseUrl === undefined) return {}
  const place = baseUrl.replace(/\/+$/, '').replace(/\/publishers\/google$/, '')
  return { baseURL: `${place}/publishers/anthropic/models` }
}
