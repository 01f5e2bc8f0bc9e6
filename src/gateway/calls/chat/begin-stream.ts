import {
  StreamBroken,
  type ChatStream,
  type StreamChunk,
  type TakeChunks,
  type UpstreamFailure,
} from '../../providers/contract.ts'
import type { BegunStream } from './streamed-chat.ts'

/**
 * Waits for the first chunks, and pauses the stream there until they are relayed. If the stream breaks off or ends before
 * them, returns the failure instead.
 */
export function beginStream(stream: ChatStream): Promise<BegunStream | UpstreamFailure> {
  return new Promise((resolve, reject) => {
    let relay: TakeChunks<unknown> | undefined
    const ended = stream.each<unknown>((chunks) => (relay ? relay(chunks) : pauseAt(chunks)))

    function pauseAt(first: readonly StreamChunk[]): Promise<unknown> {
      return new Promise((goOn) => {
        resolve({
          kind: 'stream',
          each<Result>(take: TakeChunks<Result>) {
            relay = take
            goOn(Promise.resolve(first).then(take))
            return ended as Promise<Result | undefined>
          },
          cancel: () => stream.cancel(),
        })
      })
    }

    // After the first chunks these settle nothing: the end belongs to the relay.
    ended.then(
      () => resolve(ENDED_EMPTY),
      (error: unknown) => {
        if (error instanceof StreamBroken) resolve(error.failure)
        else reject(error)
      },
    )
  })
}

const ENDED_EMPTY: UpstreamFailure = {
  kind: 'failure',
  reason: 'bad_answer',
  detail: 'the stream ended without a chunk',
}
