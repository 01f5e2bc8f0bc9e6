import { outputTokensTypical } from '../catalog/prompt-size.ts'
import type { Resolution } from '../ledger/resolution.ts'
import { StreamBroken, type ChatStream, type ReportedTokens } from '../providers/contract.ts'
import type { Called } from './call-upstream.ts'
import {
  chargeHeldCall,
  estimateUsed,
  releaseHeldCall,
  type CallTimes,
  type Used,
} from './charge.ts'
import type { Client } from './client.ts'
import type { HeldCall } from './hold-money.ts'
import { chunkOpening, outputTexts, publicChunk, type AnswerHead } from './public-chat.ts'
import type { RunningCall } from './running-calls.ts'

/** How a stream went: to its end, broken by the upstream, or left by the client. */
export interface Relayed {
  readonly ending: 'whole' | 'broken' | 'left'
  readonly reported: ReportedTokens | undefined
  /** As counted by us; 0 where no output came. */
  readonly outputTokensSeen: number
  readonly firstByteAtMs: number | undefined
}

/**
 * Passes the chunks on as they arrive, as fast as the client reads, and reads the usage on the way.
 * When the client leaves, the upstream is stopped where that stops its meter, and read to the end
 * where it does not: what is reported is then what is charged.
 */
export async function relayStream(
  held: HeldCall,
  called: Called & { outcome: ChatStream },
  head: AnswerHead,
  client: Client,
  running: RunningCall,
): Promise<Relayed> {
  const { outcome: stream, provider } = called
  let reported: ReportedTokens | undefined
  let firstByteAtMs: number | undefined
  let deltas = 0
  let bytes = 0
  // One delta is at least one token; where an upstream sends larger ones, their bytes say more.
  const seen = () => Math.max(deltas, outputTokensTypical(bytes))
  const relayed = (ending: Relayed['ending']): Relayed => ({
    ending,
    reported,
    outputTokensSeen: seen(),
    firstByteAtMs,
  })

  if (provider.cancelStopsBilling) client.onLeave(() => stream.cancel())
  const opening = chunkOpening(head)
  client.beginStream(held.limits)
  try {
    for await (const chunks of stream.chunks) {
      firstByteAtMs ??= performance.now()
      let shown = ''
      for (const chunk of chunks) {
        reported = chunk.usage ?? reported
        for (const text of outputTexts(chunk.body, 'delta')) {
          deltas += 1
          bytes += Buffer.byteLength(text)
        }
        shown += publicChunk(opening, chunk.body) ?? ''
      }
      running.sawOutput(Math.min(seen(), held.quote.outputTokensMax * held.quote.choices))
      if (shown !== '' && !client.hasLeft) await client.write(shown)
      if (client.hasLeft && provider.cancelStopsBilling) {
        stream.cancel()
        return relayed('left')
      }
    }
  } catch (error) {
    if (!(error instanceof StreamBroken)) throw error
    return relayed(client.hasLeft && provider.cancelStopsBilling ? 'left' : 'broken')
  }
  return relayed('whole')
}

/** The charge of a stream: what was reported, else what was counted, else nothing. */
export async function resolveStream(
  held: HeldCall,
  relayed: Relayed,
  times: CallTimes,
): Promise<Resolution> {
  const { ending, reported, outputTokensSeen } = relayed
  if (ending === 'whole') {
    return chargeHeldCall(
      held,
      believable(reported, outputTokensSeen > 0) ??
        (await estimateUsed(held, outputTokensSeen, 'no_usage_reported')),
      times,
    )
  }
  const reason = ending === 'left' ? 'client_left' : 'stream_broken'
  if (outputTokensSeen === 0) return releaseHeldCall(held, reason, times)
  return chargeHeldCall(held, await estimateUsed(held, outputTokensSeen, reason), times)
}

/** A report of no tokens for an answer that has some is no report. */
export function believable(
  reported: ReportedTokens | undefined,
  hasOutput: boolean,
): Used | undefined {
  if (!reported || reported.promptTokens === 0) return undefined
  if (hasOutput && reported.completionTokens === 0) return undefined
  return { tokens: reported, kind: 'exact', reason: null }
}
