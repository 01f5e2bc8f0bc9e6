/** The nouns of a streamed chat: as it begins, and as it ended. */
import type { ReportedTokens, StreamChunk, UpstreamFailure } from '../../providers/contract.ts'

/** A stream whose first chunks are here: until then another upstream could have been asked. */
export interface BegunStream {
  readonly kind: 'stream'
  readonly first: readonly StreamChunk[]
  /** The chunks of each further read; undefined at the end. Throws `StreamBroken`. */
  next(): Promise<readonly StreamChunk[] | undefined>
  cancel(): void
}

/**
 * How a stream went: read to its end, broken by the upstream, ended because the client left before any output, or
 * ended because the lease of the node lapsed.
 */
export interface RelayedStream {
  readonly ending: 'whole' | 'broken' | 'left' | 'lapsed'
  readonly reported: ReportedTokens | undefined
  /** A reason to finish came: nothing of the output is missing. */
  readonly hasFinished: boolean
  /** As counted by us; 0 where no output came. */
  readonly outputTokensSeen: number
  /** Where it is broken: by what. */
  readonly brokenBy: UpstreamFailure | undefined
}
