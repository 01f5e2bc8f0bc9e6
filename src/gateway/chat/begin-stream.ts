import {
  StreamBroken,
  type ChatStream,
  type StreamChunk,
  type UpstreamFailure,
} from '../../providers/contract.ts'
import type { BegunStream } from './streamed-chat.ts'

/** Waits for the first chunks. If the stream breaks off or ends before them, returns the failure instead. */
export async function beginStream(stream: ChatStream): Promise<BegunStream | UpstreamFailure> {
  const iterator = stream.chunks[Symbol.asyncIterator]()
  const next = (): Promise<readonly StreamChunk[] | undefined> =>
    iterator.next().then(({ done, value }) => (done ? undefined : value))
  try {
    const first = await next()
    return first
      ? { kind: 'stream', first, next, cancel: () => stream.cancel() }
      : { kind: 'failure', reason: 'bad_answer', detail: 'the stream ended without a chunk' }
  } catch (error) {
    if (error instanceof StreamBroken) return error.failure
    throw error
  }
}
