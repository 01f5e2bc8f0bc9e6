/** What streamed chats and transcripts share: their types at the beginning and after the end, and how the call ends. */
import type { Resolution } from '../../../money/ledger/resolution.ts'
import type { ChatStream, ReportedUsage, UpstreamFailure } from '../../providers/contract.ts'
import type { Ending } from '../call-kind.ts'
import type { Client } from '../client.ts'
import { refusals } from '../refusal.ts'
import type { ChatWriter } from './chat-format.ts'

/** A stream whose first chunks have arrived. Until then the call could still fall back to another route. */
export type BegunStream = ChatStream

/**
 * What is known of a stream after its end. `ending` is `whole` if it was read to its end, `broken` if the upstream
 * broke it, `left` if it ended or broke off after the client hung up, `lapsed` if it ended because the node's lease
 * lapsed, or its hold was not confirmed to be on the disk.
 */
export interface RelayedStream {
  readonly ending: 'whole' | 'broken' | 'left' | 'lapsed'
  readonly reported: ReportedUsage | undefined
  /** The upstream sent a finish reason, or a failure with its usage: the output is complete. */
  readonly hasFinished: boolean
  /** Our own count; 0 if there was no output. */
  readonly outputTokensSeen: number
  /** The least that the output can have, by its bytes. */
  readonly outputTokensLeast: number
  /** The searches of the web that the chunks showed. */
  readonly webSearchesSeen: number
  /** The upstream's failure, if it broke the stream. */
  readonly brokenBy: UpstreamFailure | undefined
}

/** Why a stream that was not whole is charged as an estimate, or released. */
export const BROKEN_REASONS = {
  left: 'client_left',
  broken: 'stream_broken',
  lapsed: 'lease_lapsed',
} as const

/** Returns how a relayed stream ends: its last event says that it is whole and what it cost, or that it broke off. */
export function endingOf(
  { ending, brokenBy }: RelayedStream,
  resolution: Resolution,
  writer: Pick<ChatWriter, 'broken' | 'keep'> & { end(charged: Resolution): string },
  client: Client,
): Ending {
  return {
    resolution,
    write: () =>
      ending === 'whole' ? writer.end(resolution) : writer.broken(refusals.streamBroken()),
    keep: writer.keep,
    send: (text) => client.endStream(text),
    refuse: (refused) => client.endStream(writer.broken(refused)),
    brokenBy,
  }
}
