/**
 * One HTTP exchange on the dispatcher's callbacks. Node streams and their iterators were measured to take a tenth of
 * the time that the gateway spends on a call.
 */
import type { Dispatcher } from 'undici'
import { createBodyQueue, type BodyQueue } from './chat-body.ts'
import { BlockJoiner } from '../../../platform/lib/block-joiner.ts'
import type { TakeBytes } from '../../../platform/admission/share.ts'
import { AnswerTooLong, NoRoomForAnswer, NotSent } from '../read-failure.ts'
import { watchSilence, type SilenceLimits, type SilenceWatch } from '../watch-silence.ts'

export interface Answered {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: AnswerBody
}

export interface AnswerBody {
  /** See `BodyQueue.each`. Also resolves to undefined if the body broke off; see `failure`. */
  readonly each: BodyQueue['each']
  /** See `SilenceWatch.mayThink`. */
  mayThink(is: boolean): void
  /** Why the body broke off; undefined if it did not. */
  failure(): Error | undefined
  /**
   * Reads the whole body. If it is longer than `bytesMax`, closes the connection and rejects with `AnswerTooLong`; with
   * `NoRoomForAnswer` if `takeBytes`, which counts the bytes as they arrive, has no room for them.
   */
  text(bytesMax: number, takeBytes?: TakeBytes): Promise<string>
  /** As `text`, for a body that is none. */
  bytes(bytesMax: number, takeBytes?: TakeBytes): Promise<Buffer>
  /** Reads the body up to about `bytesMax`; if it is longer, closes the connection. */
  beginning(bytesMax: number): Promise<string>
  /** Ignores the rest of the body, and waits at most a second for its end so that the connection can be reused. */
  discard(): void
  /** Closes the connection unless the body has ended. */
  cancel(): void
}

interface ReadBytes {
  readonly all: readonly Buffer[]
  readonly isTooLong: boolean
}

/** A dispatcher of requests: undici's, or `http1/open-origin.ts`. */
export interface Dispatches<Request> {
  dispatch(request: Request, handler: Dispatcher.DispatchHandler): unknown
}

const DISCARD_MS_MAX = 1_000

/**
 * Resolves with the head of the answer. Rejects with the dispatcher's error if there is none. The dispatcher limits the
 * time until the head; `silence` limits the time between two reads of the body.
 */
export function exchange<Request>(
  dispatcher: Dispatches<Request>,
  request: Request,
  silence: SilenceLimits,
  signal: AbortSignal,
): Promise<Answered> {
  return new Promise((resolve, reject) => {
    // Checked here because the dispatcher does not know the signal.
    if (signal.aborted) return reject(new NotSent(signal.reason))
    dispatcher.dispatch(request, createHandler(silence, signal, resolve, reject))
  })
}

function createHandler(
  silence: SilenceLimits,
  signal: AbortSignal,
  resolve: (answered: Answered) => void,
  reject: (error: Error) => void,
): Dispatcher.DispatchHandler {
  let controller: Dispatcher.DispatchController | undefined
  const queue = createBodyQueue({
    pause: () => controller?.pause(),
    resume: () => controller?.resume(),
  })
  let hasEnded = false
  let failure: Error | undefined
  let discarding: NodeJS.Timeout | undefined
  let watch: SilenceWatch | undefined

  const abort = (): void => {
    if (controller) controller.abort(signal.reason as Error)
    else reject(new NotSent(signal.reason))
  }
  const end = (error?: Error): void => {
    hasEnded = true
    failure = error
    signal.removeEventListener('abort', abort)
    clearTimeout(discarding)
    watch?.stop()
    queue.end()
  }

  function cancel(): void {
    if (!hasEnded) controller?.abort(new Error('the answer is no longer needed'))
  }

  function discard(): void {
    if (hasEnded) return
    discarding = setTimeout(cancel, DISCARD_MS_MAX)
    if (controller?.paused) controller.resume()
  }

  /** Joined by its readers: to join what is thrown away kept other calls waiting for a third of a second. */
  async function readUpTo(bytesMax: number, takeBytes?: TakeBytes): Promise<ReadBytes> {
    const all: Buffer[] = []
    const joiner = new BlockJoiner()
    let bytes = 0
    function keep(some: Buffer, isRoom: boolean) {
      if (!isRoom) return 'no_room'
      joiner.add(some, (block) => all.push(block))
      bytes += some.length
      return bytes > bytesMax ? 'too_long' : undefined
    }
    const ended = await queue.each((some) => {
      const isRoom = takeBytes?.(some.length) ?? true
      return typeof isRoom === 'boolean' ? keep(some, isRoom) : isRoom.then((is) => keep(some, is))
    })
    if (ended !== undefined) cancel()
    else if (failure) throw failure
    if (ended === 'no_room') throw new NoRoomForAnswer()
    joiner.flush((block) => all.push(block))
    return { all, isTooLong: ended === 'too_long' }
  }

  async function bytes(bytesMax: number, takeBytes?: TakeBytes): Promise<Buffer> {
    const { all, isTooLong } = await readUpTo(bytesMax, takeBytes)
    if (isTooLong) throw new AnswerTooLong(bytesMax)
    return joined(all)
  }

  async function text(bytesMax: number, takeBytes?: TakeBytes): Promise<string> {
    return (await bytes(bytesMax, takeBytes)).toString('utf8')
  }

  async function beginning(bytesMax: number): Promise<string> {
    return joined((await readUpTo(bytesMax)).all).toString('utf8')
  }

  signal.addEventListener('abort', abort, { once: true })
  return {
    onRequestStart(started) {
      controller = started
      if (signal.aborted) abort()
    },
    onResponseStart(started, status, headers) {
      // 1xx responses precede the final one.
      if (status < 200) return
      const watched = watchSilence(silence, started, status)
      watch = watched
      const { each } = queue
      const { mayThink } = watched
      resolve({
        status,
        headers,
        body: { each, mayThink, failure: () => failure, text, bytes, beginning, discard, cancel },
      })
    },
    onResponseData(_controller, chunk) {
      if (discarding) return
      queue.push(chunk)
      watch?.received(chunk)
    },
    onResponseEnd: () => end(),
    onResponseError(_controller, error) {
      end(error)
      reject(error)
    },
  }
}

function joined(all: readonly Buffer[]): Buffer {
  return all.length === 1 ? (all[0] as Buffer) : Buffer.concat(all)
}
