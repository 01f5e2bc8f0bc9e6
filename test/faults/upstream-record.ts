/** One call, as the upstream saw it. */
export interface UpstreamRecord {
  /** The id of the hold, from the header `x-catraca-call-id`. */
  readonly holdId: string
  /** From the prompt, where the client wrote it. */
  readonly requestId: string
  readonly isStream: boolean
  readonly promptTokens: number
  /** All of the output, including hidden reasoning. */
  readonly completionTokens: number
  readonly reasoningTokens: number
  /** It answered with an error on purpose: it bills nothing. */
  readonly isRefused: boolean
  /** The last byte of the answer, with the usage, was written to an open connection. */
  hasAnswered: boolean
}
