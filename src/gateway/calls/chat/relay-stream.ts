import { outputTokensTypical, TOKEN_BYTES_MAX } from '../../../money/catalog/quote.ts'
import type { LeaseView } from '../../../money/ledger/lease.ts'
import {
  StreamBroken,
  type ReportedUsage,
  type StreamChunk,
  type TakeChunks,
  type UpstreamFailure,
} from '../../providers/contract.ts'
import type { HeldCall } from '../call.ts'
import type { Client } from '../client.ts'
import type { RunningCall } from '../running-calls.ts'
import type { ChatWriter } from './chat-format.ts'
import type { BegunStream, RelayedStream } from './streamed-chat.ts'
import { countOutput, countText, leastTokens, type OutputCount } from './output-texts.ts'

/** How long a stream pauses while the lease cannot be renewed before it is ended. */
const LEASE_WAIT_MS_MAX = 60_000
/** How long the first byte waits for a hold whose checkpoints are not confirmed: a database that restarts needs seconds. */
const DURABLE_WAIT_MS_MAX = 20_000
/**
 * A stream is cut when both of our counts exceed its limit. Each count can be too high: typical bytes per token are a
 * guess, and some upstreams send deltas of less than a token. The count by bytes is enough only where no answer within
 * the limit has so many: a customer may ask for the longest tokens.
 */
const SLACK_TOKENS = 64

const OVER_LIMIT: UpstreamFailure = {
  kind: 'failure',
  reason: 'bad_answer',
  detail: 'the output is longer than the limit that was sent',
}

/**
 * Passes chunks on as they arrive, as fast as the client reads, and reads the usage on the way. When the client hangs
 * up, the stream is read to its end, because its reported usage is charged. The upstream is cancelled only if
 * `mayCancel` is true and there was no output yet.
 */
export async function relayStream(
  call: {
    held: HeldCall
    lease: LeaseView
    stream: BegunStream
    writer: Pick<ChatWriter, 'chunk' | 'delta'>
    client: Client
    running: RunningCall
    /** Total time that the stream waits for a slow client. After that the client is cut off, and the rest is read. */
    waitMsMax: number
    /** The most output; that of the hold, if it is not given. */
    tokensMax?: number
  },
  mayCancel: boolean,
): Promise<RelayedStream> {
  const { held, lease, stream, writer, client, running } = call
  let waitMsLeft = call.waitMsMax
  const tokensHeld = held.quote.outputTokensMax * held.quote.choices
  const { tokensMax = tokensHeld } = call
  let reported: ReportedUsage | undefined
  let deltasReported = 0
  let hasFinished = false
  let webSearchesSeen = 0
  const output: OutputCount = { deltas: 0, bytes: 0, writtenBytes: 0 }
  let delivered = 0
  // One delta is at least one token; if an upstream sends larger deltas, their bytes give the higher count.
  const seen = () => Math.max(output.deltas, outputTokensTypical(output.bytes))
  const relayed = (ending: RelayedStream['ending'], brokenBy?: UpstreamFailure): RelayedStream => ({
    ending,
    // What came after the last report is not in it.
    reported: output.deltas === deltasReported ? reported : undefined,
    hasFinished,
    outputTokensSeen: ending === 'lapsed' ? delivered : seen(),
    outputTokensLeast: leastTokens(output),
    webSearchesSeen,
    brokenBy,
  })
  const takeReport = (usage: ReportedUsage): void => {
    reported = laterReport(reported, usage)
    deltasReported = output.deltas
  }
  /** Counts the chunks of one read, and returns their text for the client. */
  const take = (chunks: readonly StreamChunk[]): string => {
    let shown = ''
    for (const chunk of chunks) {
      const { delta } = chunk
      if (delta && writer.delta) {
        countText(delta.text, output)
        shown += writer.delta(delta)
        continue
      }
      if (chunk.webSearches) webSearchesSeen = chunk.webSearches
      hasFinished ||= isFinished(chunk)
      countOutput(chunk.body, output)
      if (chunk.usage) takeReport(chunk.usage)
      shown += writer.chunk(chunk.body, chunk.native) ?? ''
    }
    return shown
  }

  const relayChunks: TakeChunks<RelayedStream> = (chunks) => {
    const shown = take(chunks)
    if (isOverLimit(output, tokensMax)) {
      stream.cancel()
      return relayed(client.hasLeft() ? 'left' : 'broken', OVER_LIMIT)
    }
    if (shown === '' || client.hasLeft()) return endIfLeft()
    return lease.isHeld(held.epoch) && running.isHoldDurable ? show(shown) : showWhenSafe(shown)
  }

  function show(shown: string): RelayedStream | undefined | Promise<RelayedStream | undefined> {
    running.isDelivered = true
    delivered = seen()
    running.sawOutput(Math.min(delivered, tokensHeld))
    const written = client.write(shown, waitMsLeft)
    return written ? endIfLeftAfter(written) : endIfLeft()
  }

  async function showWhenSafe(shown: string): Promise<RelayedStream | undefined> {
    const isDurable = await running.whenDurable(DURABLE_WAIT_MS_MAX)
    // The lease is asked last: it may have lapsed while the hold was on its way to the disk.
    const isHeld = isDurable && (await lease.whenHeld(held.epoch, LEASE_WAIT_MS_MAX))
    if (!isDurable || (!isHeld && !client.hasLeft())) {
      stream.cancel()
      return relayed('lapsed')
    }
    return show(shown)
  }

  async function endIfLeftAfter(written: Promise<void>): Promise<RelayedStream | undefined> {
    const startedAtMs = performance.now()
    await written
    waitMsLeft -= performance.now() - startedAtMs
    return endIfLeft()
  }

  function endIfLeft(): RelayedStream | undefined {
    if (!client.hasLeft()) return undefined
    // After the client hung up, the customer is charged for all output that is read.
    running.sawOutput(Math.min(seen(), tokensHeld))
    if (!mayCancel || seen() > 0 || hasFinished) return undefined
    stream.cancel()
    return relayed('left')
  }

  client.beginStream(held.limits)
  try {
    return (await stream.each(relayChunks)) ?? relayed('whole')
  } catch (error) {
    if (!(error instanceof StreamBroken)) throw error
    // The writer may have found the fault, while the upstream still sends.
    stream.cancel()
    // A failure that reports what was used of an answer ends it as a finish reason does.
    if (error.usage && seen() > 0) {
      takeReport(error.usage)
      hasFinished = true
    }
    // If the client hung up, the customer owes the output seen so far. Without any output, the upstream is at fault.
    return relayed(client.hasLeft() && seen() > 0 ? 'left' : 'broken', error.failure)
  }
}

/** Usage reports are cumulative: a report lower than the one before it is ignored. */
function laterReport(before: ReportedUsage | undefined, next: ReportedUsage): ReportedUsage {
  const total = (tokens: ReportedUsage): number => tokens.promptTokens + tokens.completionTokens
  return before && total(next) < total(before) ? before : next
}

function isOverLimit({ deltas, writtenBytes }: OutputCount, tokensMax: number): boolean {
  const limit = tokensMax + SLACK_TOKENS
  const typical = outputTokensTypical(writtenBytes)
  return Math.min(deltas, typical) > limit || writtenBytes > TOKEN_BYTES_MAX * limit
}

function isFinished({ body }: StreamChunk): boolean {
  return (
    Array.isArray(body.choices) &&
    (body.choices as { finish_reason?: unknown }[]).some(
      (choice) => typeof choice?.finish_reason === 'string',
    )
  )
}
