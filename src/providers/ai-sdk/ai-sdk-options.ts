export interface AiSdkOptions {
  readonly kind: 'anthropic' | 'google' | 'google-vertex' | 'amazon-bedrock' | 'cohere'
  /** With its version segment, for Vertex as far as `publishers/google`; undefined: the provider's own. */
  readonly baseUrl: string | undefined
  /** For Bedrock a bearer key, for Vertex a key of express mode. */
  readonly apiKey: string | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
  readonly vertex?: VertexOptions | undefined
  readonly bedrock?: BedrockOptions | undefined
  readonly cancelStopsBilling: boolean
  readonly connectTimeoutMs: number
  /** Until the first byte of the answer: for a plain answer the whole of the model's work. */
  readonly firstByteTimeoutMs: number
  /** Between two bytes of the answer. */
  readonly idleTimeoutMs: number
  readonly connectionsMax: number
  /** Also downloads images from this machine and from private networks. Not for what strangers name. */
  readonly allowPrivateDownloads?: boolean | undefined
}

/**
 * A service account's e-mail and key, unless there is a key of express mode. That key is for Google's own
 * models: Claude needs the account in any case.
 */
export interface VertexOptions {
  readonly project: string
  readonly location: string
  readonly clientEmail?: string
  /** PEM. */
  readonly privateKey?: string
  /** Where the account's signature is changed for a token; undefined: Google's own address. */
  readonly tokenUrl?: string
}

/** The access key signs the requests, unless there is a bearer key. */
export interface BedrockOptions {
  readonly region: string
  readonly accessKeyId?: string
  readonly secretAccessKey?: string
  readonly sessionToken?: string
}
