/**
 * What an upstream adapter is. An adapter owns the wire to one upstream: addresses, credentials,
 * time-outs, the shape of requests and answers. It knows no customer, no database and no money.
 * Everything that leaves an adapter is in the chat-completions shape, with usage read from it.
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

export interface ChatCall {
  /** A chat-completions request whose `model` is the upstream's name for it. */
  readonly body: JsonObject
  readonly isStream: boolean
  /** Set where the gateway lowers or sets the limit of output tokens; the adapter knows its field. */
  readonly outputTokensMax?: number | undefined
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
    | 'refused_request'
    | 'rate_limited'
    | 'credentials_refused'
    | 'server_error'
    | 'aborted'
  readonly status?: number
  readonly retryAfterSeconds?: number
  readonly detail: string
}

export interface ChatAnswer {
  readonly kind: 'answer'
  readonly body: JsonObject
  /** Undefined when the upstream reported none: that is unknown usage, not zero usage. */
  readonly usage: ReportedTokens | undefined
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
  readonly usage: ReportedTokens | undefined
}

/** Thrown out of `ChatStream.chunks` when the stream breaks off before its end. */
export class StreamBroken extends Error {
  readonly failure: UpstreamFailure
  constructor(failure: UpstreamFailure) {
    super(failure.detail)
    this.failure = failure
  }
}

export interface ChatProvider {
  /**
   * Sends one call. Resolves at the end of the answer, or for a stream with the response headers.
   * Never rejects for anything the upstream or the network does.
   */
  completeChat(
    call: ChatCall,
    signal: AbortSignal,
  ): Promise<ChatAnswer | ChatStream | UpstreamFailure>
  /** True where closing the connection stops the upstream's meter. */
  readonly cancelStopsBilling: boolean
  close(): Promise<void>
}
