/** One call, as the upstream saw it. */
export interface UpstreamRecord {
  /** Of the hold, by the header `x-catraca-call-id`. */
  readonly holdId: string
  /** From the prompt, where the client wrote it. */
  readonly requestId: string
  readonly isStream: boolean
  readonly promptTokens: number
  /** All of the output, hidden reasoning with it. */
  readonly completionTokens: number
  readonly reasoningTokens: number
  /** It answered with an error on purpose: nothing is owed. */
  readonly isRefused: boolean
  /** The last byte of the answer, with the usage, was written to a connection that was open. */
  hasAnswered: boolean
}
