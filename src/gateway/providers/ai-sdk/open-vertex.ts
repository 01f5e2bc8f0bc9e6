import { createSign } from 'node:crypto'
import { createGoogleVertex } from '@ai-sdk/google-vertex'
import { createGoogleVertexAnthropic } from '@ai-sdk/google-vertex/anthropic'
import {
  LoadAPIKeyError,
  type LanguageModelV4,
  APICallError,
  type EmbeddingModelV4,
} from '@ai-sdk/provider'
import { type AiSdkOptions, modelFormat } from './ai-sdk-options.ts'
import type { Fetch } from './open-fetch.ts'
import { isObject } from '../../../platform/lib/is-object.ts'

interface ServiceAccount {
  readonly clientEmail: string
  /** PEM. */
  readonly privateKey: string
  readonly tokenUrl?: string | undefined
}

const TOKEN_URL = 'https://oauth2.googleapis.com/token'
const SCOPE = 'https://www.googleapis.com/auth/cloud-platform'
const ASSERTION_SECONDS = 3600
/** A token is renewed this long before it expires, so that none expires in transit. */
const RENEW_BEFORE_MS = 5 * 60_000

/**
 * Returns a function that gets access tokens of a service account and renews them before they expire; concurrent callers
 * share one request. The packages' own implementation would use other connections, without our time-outs, and read the
 * environment. Rejects with an `APICallError` if no token is issued.
 */
function createVertexToken(account: ServiceAccount, fetch: Fetch): () => Promise<string> {
  let token: { text: string; renewAtMs: number } | undefined
  let pending: Promise<string> | undefined

  async function renew(): Promise<string> {
    const url = account.tokenUrl ?? TOKEN_URL
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams({
        grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
        assertion: signAssertion(account, url),
      }).toString(),
    })
    const text = await response.text()
    const answer = response.ok ? readToken(text) : undefined
    if (!answer) throw tokenRefused(url, response.status, text)
    token = { text: answer.text, renewAtMs: Date.now() + answer.seconds * 1000 - RENEW_BEFORE_MS }
    return token.text
  }

  return async () => {
    if (token && Date.now() < token.renewAtMs) return token.text
    pending ??= renew().finally(() => (pending = undefined))
    return pending
  }
}

function signAssertion({ clientEmail, privateKey }: ServiceAccount, audience: string): string {
  const seconds = Math.floor(Date.now() / 1000)
  const head = { alg: 'RS256', typ: 'JWT' }
  const claims = {
    iss: clientEmail,
    scope: SCOPE,
    aud: audience,
    iat: seconds,
    exp: seconds + ASSERTION_SECONDS,
  }
  const signed = [head, claims]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.')
  const signature = createSign('RSA-SHA256').update(signed).sign(privateKey, 'base64url')
  return `${signed}.${signature}`
}

function readToken(text: string): { text: string; seconds: number } | undefined {
  try {
    const answer: unknown = JSON.parse(text)
    if (!isObject(answer) || typeof answer.access_token !== 'string') return undefined
    const seconds = typeof answer.expires_in === 'number' ? answer.expires_in : 0
    return { text: answer.access_token, seconds }
  } catch {
    return undefined
  }
}

/** A refusal means refused credentials, whatever its status; 429 and 5xx are faults of the token endpoint itself. */
function tokenRefused(url: string, status: number, text: string): APICallError {
  return new APICallError({
    message: 'no access token was given',
    url,
    requestBodyValues: {},
    statusCode: status >= 500 || status === 429 ? status : 401,
    responseBody: status === 200 ? 'the token endpoint gave no token' : text,
  })
}

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
  const address = baseUrl.replace(/\/+$/, '').replace(/\/publishers\/google$/, '')
  return { baseURL: `${address}/publishers/anthropic/models` }
}

/** The models of an upstream. Opening one sends no request. */
export interface OpenedModels {
  readonly language: (modelId: string) => LanguageModelV4
  /** Undefined if the upstream has no embeddings. */
  readonly embedding?: (modelId: string) => EmbeddingModelV4
}
