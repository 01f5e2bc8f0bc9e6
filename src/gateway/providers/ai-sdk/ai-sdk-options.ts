import { getModelCapabilities } from '@ai-sdk/anthropic/internal'

type Capabilities = ReturnType<typeof getModelCapabilities>

/** By the upstreams' names of the catalog's models, which are few: the package builds its list again on each call. */
const known = new Map<string, Capabilities>()

/** What the package knows of a Claude model. */
export function claudeCapabilities(modelId: string): Capabilities {
  let found = known.get(modelId)
  if (!found) known.set(modelId, (found = getModelCapabilities(modelId)))
  return found
}

export interface AiSdkOptions {
  readonly kind: 'anthropic' | 'google' | 'google-vertex' | 'amazon-bedrock' | 'cohere'
  /** Including the version segment, for Vertex up to `publishers/google`; undefined for the provider's own address. */
  readonly baseUrl: string | undefined
  /** For Bedrock a bearer key, for Vertex an express-mode key. */
  readonly apiKey: string | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
  readonly vertex?: VertexOptions | undefined
  readonly bedrock?: BedrockOptions | undefined
  readonly cancelStopsBilling: boolean
  readonly connectTimeoutMs: number
  /**
   * Until the head of the answer, and then until the first byte of its body. For a plain answer this includes all of the
   * model's work, for a stream its reasoning before the first chunk.
   */
  readonly firstByteTimeoutMs: number
  /** Between two reads of the body. */
  readonly idleTimeoutMs: number
  readonly connectionsMax: number
  /** Allows image downloads from this machine and private networks. Never set it if customers name the addresses. */
  readonly allowPrivateDownloads?: boolean | undefined
}

/**
 * The e-mail and key of a service account; not needed with an express-mode key, which serves Google's own models only.
 * Claude always needs the account.
 */
export interface VertexOptions {
  readonly project: string
  readonly location: string
  readonly clientEmail?: string
  /** PEM. */
  readonly privateKey?: string
  /** The address that exchanges the signed assertion for a token; undefined for Google's own. */
  readonly tokenUrl?: string
}

/** The access key signs requests, unless a bearer key is set. */
export interface BedrockOptions {
  readonly region: string
  readonly accessKeyId?: string
  readonly secretAccessKey?: string
  readonly sessionToken?: string
}

export const GOOGLE_ADDRESS = 'https://generativelanguage.googleapis.com/v1beta'
export const COHERE_ADDRESS = 'https://api.cohere.com/v2'

/** Returns the headers of every request to an upstream, apart from its credentials. */
export function callHeaders(callId: string): Record<string, string> {
  return { 'x-catraca-call-id': callId, 'user-agent': 'catraca' }
}

/** Returns the request format of a model: Claude on Vertex uses Anthropic's format. */
export function modelFormat(kind: AiSdkOptions['kind'], modelId: string): AiSdkOptions['kind'] {
  return kind === 'google-vertex' && modelId.startsWith('claude') ? 'anthropic' : kind
}
