import { outputTokensTypical } from '../../catalog/prompt-size.ts'
import {
  StreamBroken,
  type ReportedTokens,
  type UpstreamFailure,
} from '../../providers/contract.ts'
import type { Client } from '../client.ts'
import type { HeldCall } from '../hold-money.ts'
import type { RunningCall } from '../running-calls.ts'
import type { BegunStream } from './begin-stream.ts'
import type { ChatWriter } from './chat-format.ts'
import { outputTexts } from './output-texts.ts'

/** How a stream went: to its end, broken by the upstream, or left by the client. */
export interface Relayed {
  readonly ending: 'whole' | 'broken' | 'left'
  readonly reported: ReportedTokens | undefined
  /** As counted by us; 0 where no output came. */
  readonly outputTokensSeen: number
  /** Where it is broken: by what. */
  readonly brokenBy: UpstreamFailure | undefined
}

/**
 * Passes the chunks on as they arrive, as fast as the client reads, and reads the usage on the way.
 * When the client leaves, the upstream is stopped where that stops its meter, and read to the end
 * where it does not: what is reported is then what is charged.
 */
export async function relayStream(
  held: HeldCall,
  stream: BegunStream,
  cancelStopsBilling: boolean,
  writer: ChatWriter,
  client: Client,
  running: RunningCall,
): Promise<Relayed> {
  let reported: ReportedTokens | undefined
  let deltas = 0
  let bytes = 0
  // One delta is at least one token; where an upstream sends larger ones, their bytes say more.
  const seen = () => Math.max(deltas, outputTokensTypical(bytes))
  const relayed = (ending: Relayed['ending'], brokenBy?: UpstreamFailure): Relayed => ({
    ending,
    reported,
    outputTokensSeen: seen(),
    brokenBy,
  })

  client.beginStream(held.limits)
  try {
    for (
      let chunks: typeof stream.first | undefined = stream.first;
      chunks;
      chunks = await stream.next()
    ) {
      let shown = ''
      for (const chunk of chunks) {
        reported = chunk.usage ?? reported
        for (const text of outputTexts(chunk.body, 'delta')) {
          deltas += 1
          bytes += Buffer.byteLength(text)
        }
        shown += writer.chunk(chunk.body) ?? ''
      }
      running.sawOutput(Math.min(seen(), held.quote.outputTokensMax * held.quote.choices))
      if (shown !== '' && !client.hasLeft()) await client.write(shown)
      if (client.hasLeft() && cancelStopsBilling) {
        stream.cancel()
        return relayed('left')
      }
    }
  } catch (error) {
    if (!(error instanceof StreamBroken)) throw error
    return client.hasLeft() && cancelStopsBilling
      ? relayed('left')
      : relayed('broken', error.failure)
  }
  return relayed('whole')
}
