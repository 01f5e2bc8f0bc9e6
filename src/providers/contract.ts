/**
 * What an upstream adapter is. An adapter owns the wire to one upstream: addresses, credentials,
 * time-outs, the shape of requests and answers. It knows no customer, no database and no money.
 * Every chat that leaves an adapter is in the chat-completions shape, with usage read from it.
 */

export type JsonObject = { [key: string]: unknown }

/** Tokens as the upstream reports them; see `TokenCounts` in the catalog for what includes what. */
export interface ReportedTokens {
  readonly promptTokens: number
  readonly cachedTokens: number
  readonly cacheWriteTokens: number
  readonly completionTokens: number
  readonly reasoningTokens: number
}

/** Usage of any kind of call. The kinds of tokens named here are included in the prompt and the completion. */
export interface ReportedUsage extends ReportedTokens {
  readonly audioInputTokens?: number
  readonly imageInputTokens?: number
  readonly imageOutputTokens?: number
  /** Of the tokens written to a cache: those to be kept for an hour. */
  readonly hourCacheWriteTokens?: number
  /** Seconds of audio; what the upstream bills, where it says so. */
  readonly audioSeconds?: number
}

/** What the size of a chat at an upstream depends on. */
export interface ChatContent {
  /** The upstream's name for the model. */
  readonly model: string
  /** A chat-completions request. Its own `model` and its limits of output are the client's: not sent. */
  readonly body: JsonObject
  /** One for all measurements and tries of a request: what an adapter wrote of it, so as to send it. */
  readonly memo: { written?: unknown }
  readonly isStream: boolean
  /**
   * The output tokens of each choice that money is held for. Always sent, in the field that the upstream
   * obeys, and no other limit beside it.
   */
  readonly outputTokensMax: number
  /** Characters of the request that are the base64 of images. */
  readonly imageBytes: number
  /** An image of the request is an http(s) address: an upstream that opens it may find anything there. */
  readonly hasImageAddresses: boolean
  /** A content part or a tool carries `cache_control`. */
  readonly hasCacheControl: boolean
  /** One of these marks asks for the life of an hour. */
  readonly cachesForAnHour: boolean
  /** The request has files: documents or sound. */
  readonly hasFiles: boolean
  /** A file of the request is sound, which has a price of its own. */
  readonly hasAudio: boolean
}

export interface ChatCall extends ChatContent {
  /** Our id of the call, sent upstream for correlation. */
  readonly callId: string
}

/** Why an upstream gave no answer. `detail` is for logs only and never reaches a customer. */
export interface UpstreamFailure {
  readonly kind: 'failure'
  readonly reason:
    | 'connect_failed'
    | 'first_byte_timeout'
    | 'idle_timeout'
    | 'connection_lost'
    | 'bad_answer'
    /** The upstream says that the request is wrong; another one would say the same. */
    | 'refused_request'
    /** This way cannot carry the request; another one may. Nothing was sent. */
    | 'unsupported'
    | 'rate_limited'
    | 'credentials_refused'
    | 'server_error'
    | 'aborted'
  readonly status?: number
  readonly retryAfterSeconds?: number
  readonly detail: string
  /** Aborted before anything was sent: it waited for a connection. */
  readonly isUnsent?: boolean
  /** Aborted because the client left, and not by the time limit of the call. */
  readonly isByClient?: boolean
}

export interface ChatAnswer {
  readonly kind: 'answer'
  readonly body: JsonObject
  /** Undefined when the upstream reported none: that is unknown usage, not zero usage. */
  readonly usage: ReportedUsage | undefined
}

export interface ChatStream {
  readonly kind: 'stream'
  /**
   * The events of each read from the network, in order; ends after the upstream's `[DONE]`, throws
   * `StreamBroken` when the answer breaks off. Pulling slowly slows the upstream down.
   */
  readonly chunks: AsyncIterable<readonly StreamChunk[]>
  /** Stops reading and closes the upstream connection. */
  cancel(): void
}

/** One chat-completions chunk, and the usage if this chunk carried it. */
export interface StreamChunk {
  readonly body: JsonObject
  readonly usage: ReportedUsage | undefined
}

/** Thrown out of `ChatStream.chunks` when the stream breaks off before its end. */
export class StreamBroken extends Error {
  readonly failure: UpstreamFailure
  constructor(failure: UpstreamFailure) {
    super(failure.detail)
    this.failure = failure
  }
}

export interface EmbeddingCall {
  /** An embeddings request whose `model` is the upstream's name for it. */
  readonly body: JsonObject
  /** The texts of `input`, or the tokens of texts. */
  readonly inputs: readonly (string | readonly number[])[]
  readonly dimensions: number | undefined
  readonly callId: string
}

/** One vector for each input, in their order: numbers, or the base64 of little-endian 32-bit floats. */
export interface EmbeddingAnswer {
  readonly kind: 'embeddings'
  readonly vectors: readonly (readonly number[] | string)[]
  readonly usage: ReportedUsage | undefined
}

export interface ImageCall {
  /** An images request whose `model` is the upstream's name for it. */
  readonly body: JsonObject
  readonly prompt: string
  readonly count: number
  /** `<width>x<height>`; undefined: the model's own choice. */
  readonly size: string | undefined
  /**
   * The output tokens of each image that money is held for, text beside it included: sent to upstreams
   * that take a limit. Undefined where images are billed by the piece.
   */
  readonly outputTokensMax: number | undefined
  readonly callId: string
}

/** Images come as bytes: an address would be the upstream's. */
export interface ImageAnswer {
  readonly kind: 'images'
  readonly images: readonly GeneratedImage[]
  readonly usage: ReportedUsage | undefined
}

export interface GeneratedImage {
  readonly base64: string
  /** What the model made of the prompt, where it tells. */
  readonly revisedPrompt?: string
}

/** A file of a customer, on this machine's disk. It can be read again for another try. */
export interface UploadedFile {
  readonly name: string
  readonly mediaType: string
  readonly bytes: number
  read(): AsyncIterable<Buffer>
}

export interface TranscriptionCall {
  /** The upstream's name for it. */
  readonly model: string
  readonly file: UploadedFile
  /** What else the form says: language, prompt, temperature; a field may be there more than once. */
  readonly fields: readonly (readonly [name: string, value: string])[]
  /** `segments`: with their times, for subtitles. Some models cannot tell them. */
  readonly detail: 'text' | 'segments'
  readonly callId: string
}

export interface TranscriptionAnswer {
  readonly kind: 'transcription'
  readonly text: string
  readonly language?: string
  readonly durationSeconds?: number
  /** As the upstream tells them, in the published format of verbose transcriptions. */
  readonly segments?: readonly TranscriptionSegment[]
  readonly words?: readonly TranscriptionWord[]
  readonly usage: ReportedUsage | undefined
}

export interface TranscriptionSegment {
  readonly start: number
  readonly end: number
  readonly text: string
}

export interface TranscriptionWord {
  readonly start: number
  readonly end: number
  readonly word: string
}

/**
 * Each method sends one call. It resolves at the end of the answer, or for a stream with the response
 * headers, and never rejects for anything the upstream or the network does. What an upstream cannot do
 * it does not have.
 */
export interface Provider {
  completeChat?(
    call: ChatCall,
    signal: AbortSignal,
  ): Promise<ChatAnswer | ChatStream | UpstreamFailure>
  /**
   * The bytes of the body that `completeChat` would send, without what stands for images and files: of
   * the same text, not of an estimate. It is the meter of the hold, so it is never below what is sent
   * for any lower limit of output. Undefined where that cannot be said; then the model's whole context
   * is held for. There with `completeChat`.
   */
  measureChat?(content: ChatContent): number | undefined | Promise<number | undefined>
  embed?(call: EmbeddingCall, signal: AbortSignal): Promise<EmbeddingAnswer | UpstreamFailure>
  generateImages?(call: ImageCall, signal: AbortSignal): Promise<ImageAnswer | UpstreamFailure>
  transcribe?(
    call: TranscriptionCall,
    signal: AbortSignal,
  ): Promise<TranscriptionAnswer | UpstreamFailure>
  /** True where closing the connection stops the upstream's meter. */
  readonly cancelStopsBilling: boolean
  close(): Promise<void>
}
