import { Agent, fetch, type Dispatcher } from 'undici'
import type { TakeBytes } from '../../../platform/admission/share.ts'
import { CHAT_ANSWER_BYTES_MAX, eventBytesMax, UNCOUNTED_BYTES } from '../contract.ts'
import { NoRoomForAnswer, UnreadableAnswer } from '../read-failure.ts'
import { watchSilence, type SilenceLimits, type SilenceWatch } from '../watch-silence.ts'
import type { AiSdkOptions } from './ai-sdk-options.ts'

/** Takes the data of an answer as it arrives; throws `UnreadableAnswer` when an event of a stream is too long. */
type BoundEvents = (chunk: Buffer) => void

/** The end of a line and the empty line after it, which ends an event. */
const EVENT_ENDS = ['\n\n', '\n\r\n']
const END_BYTES_MAX = 3
/** In Amazon's binary format the first bytes of an event are its length. */
const LENGTH_BYTES = 4

/** Undefined for answers that are not streams. The packages collect an event until it is whole, without a limit. */
function boundEvents(contentType: string, bytesMax: number): BoundEvents | undefined {
  if (/^text\/event-stream\b/i.test(contentType)) return boundLines(bytesMax)
  if (/^application\/vnd\.amazon\.eventstream\b/i.test(contentType)) return boundFrames(bytesMax)
  return undefined
}

function boundLines(bytesMax: number): BoundEvents {
  let eventBytes = 0
  /** The end of an event may be cut. */
  let before: Buffer = Buffer.alloc(0)
  return (chunk) => {
    const bytes = Buffer.concat([before, chunk])
    const end = Math.max(...EVENT_ENDS.map((text) => endOfLast(bytes, text)))
    eventBytes = end === -1 ? eventBytes + chunk.length : bytes.length - end
    if (eventBytes > bytesMax) throw tooLong()
    before = bytes.subarray(Math.max(0, bytes.length - END_BYTES_MAX + 1))
  }
}

function endOfLast(bytes: Buffer, text: string): number {
  const at = bytes.lastIndexOf(text)
  return at === -1 ? -1 : at + text.length
}

function boundFrames(bytesMax: number): BoundEvents {
  let frameBytesLeft = 0
  let length = 0
  let lengthBytes = 0
  return (chunk) => {
    for (let at = 0; at < chunk.length;) {
      if (frameBytesLeft > 0) {
        const taken = Math.min(frameBytesLeft, chunk.length - at)
        frameBytesLeft -= taken
        at += taken
        continue
      }
      length = length * 256 + (chunk[at] as number)
      at += 1
      lengthBytes += 1
      if (lengthBytes < LENGTH_BYTES) continue
      if (length > bytesMax) throw tooLong()
      frameBytesLeft = length - LENGTH_BYTES
      length = 0
      lengthBytes = 0
    }
  }
}

function tooLong(): UnreadableAnswer {
  return new UnreadableAnswer('an event of the stream is too long')
}

export type Fetch = typeof globalThis.fetch

export interface FetchFor {
  /** Called when a connection begins to send the request, which may have waited for one. */
  readonly onSending?: (() => void) | undefined
  /** Counts the bytes of a plain answer as they arrive: the packages read it whole. */
  readonly takeBytes?: TakeBytes | undefined
  /** Of a chat; the events of its stream may be as long as its limit allows. */
  readonly outputTokensMax?: number | undefined
}

export interface OpenFetch {
  readonly fetch: (...request: [...Parameters<Fetch>, of?: FetchFor]) => Promise<Response>
  /** Destroys the connections, also those in use. */
  close(): Promise<void>
}

/**
 * A `fetch` with its own connections and the upstream's time-outs. Redirects are not followed, because the request
 * would take the credentials along.
 */
export function openFetch(options: AiSdkOptions): OpenFetch {
  const agent = new Agent({
    connections: options.connectionsMax,
    pipelining: 1,
    connect: { timeout: options.connectTimeoutMs },
    headersTimeout: options.firstByteTimeoutMs,
    bodyTimeout: 0,
    keepAliveTimeout: 30_000,
    maxResponseSize: CHAT_ANSWER_BYTES_MAX,
  })
  const limits = { firstByteMs: options.firstByteTimeoutMs, idleMs: options.idleTimeoutMs }
  // undici and the platform declare incompatible types for the same interface.
  const send = fetch as unknown as (input: unknown, init: unknown) => Promise<Response>
  return {
    fetch: (input, init, of = {}) =>
      send(input, {
        ...init,
        headers: withoutCompression(init),
        redirect: 'manual',
        dispatcher: agent.compose(limitAnswers(limits, of)),
      }),
    close: () => agent.destroy(),
  }
}

/**
 * Limits the silence within the body of each answer (`bodyTimeout` has one limit for the whole body), the length of each
 * event, and what the packages keep of answers that are no streams. Compressed answers are refused: their bytes would be
 * counted before they are decompressed.
 */
function limitAnswers(
  limits: SilenceLimits,
  of: FetchFor,
): Dispatcher.DispatcherComposeInterceptor {
  return (dispatch) => (options, handler) => dispatch(options, watched(handler, limits, of))
}

function watched(
  handler: Dispatcher.DispatchHandler,
  limits: SilenceLimits,
  { onSending, takeBytes, outputTokensMax = 0 }: FetchFor,
): Dispatcher.DispatchHandler {
  let watch: SilenceWatch | undefined
  let bound: BoundEvents | undefined
  let plain: ((chunk: Buffer) => 'goes_on' | 'is_cut') | undefined
  let isCut = false
  return {
    onRequestStart(controller, context) {
      handler.onRequestStart?.(controller, context)
      if (!controller.aborted) onSending?.()
    },
    onRequestUpgrade: (controller, status, headers, socket) =>
      handler.onRequestUpgrade?.(controller, status, headers, socket),
    onResponseStarted: () => handler.onResponseStarted?.(),
    onBodySent: (chunk) => handler.onBodySent?.(chunk),
    onRequestSent: () => handler.onRequestSent?.(),
    onResponseStart(controller, status, headers, text) {
      // 1xx responses precede the final one.
      if (status >= 200) {
        if (!isPlain(headers['content-encoding']))
          return controller.abort(new UnreadableAnswer('the answer is compressed'))
        watch = watchSilence(limits, controller, status)
        const eventBytes = eventBytesMax({ outputTokensMax })
        bound = boundEvents(String(headers['content-type'] ?? ''), eventBytes)
        plain = status < 300 ? (bound ? undefined : countPlain(controller, takeBytes)) : cutError()
      }
      handler.onResponseStart?.(controller, status, headers, text)
    },
    onResponseData(controller, chunk) {
      if (isCut) return
      try {
        bound?.(chunk)
        isCut = plain?.(chunk) === 'is_cut'
      } catch (error) {
        return controller.abort(error as Error)
      }
      handler.onResponseData?.(controller, chunk)
      watch?.received(chunk)
      if (!isCut) return
      watch?.stop()
      handler.onResponseEnd?.(controller, {})
      controller.abort(new UnreadableAnswer('the rest of the error is not read'))
    },
    onResponseEnd(controller, trailers) {
      watch?.stop()
      if (!isCut) handler.onResponseEnd?.(controller, trailers)
    },
    onResponseError(controller, error) {
      watch?.stop()
      if (!isCut) handler.onResponseError?.(controller, error)
    },
  }
}

/** Throws, or aborts the answer, if there is no room for it. */
function countPlain(
  controller: Dispatcher.DispatchController,
  takeBytes: TakeBytes | undefined,
): (chunk: Buffer) => 'goes_on' {
  return (chunk) => {
    const isRoom = takeBytes?.(chunk.length) ?? true
    if (isRoom === false) throw new NoRoomForAnswer()
    if (isRoom === true) return 'goes_on'
    controller.pause()
    const goOn = (is: boolean): void =>
      is ? controller.resume() : controller.abort(new NoRoomForAnswer())
    void isRoom.then(goOn, (error: Error) => controller.abort(error))
    return 'goes_on'
  }
}

/** Of an error, a beginning is enough; its status says most. */
function cutError(): (chunk: Buffer) => 'goes_on' | 'is_cut' {
  let bytes = 0
  return (chunk) => ((bytes += chunk.length) > UNCOUNTED_BYTES ? 'is_cut' : 'goes_on')
}

function withoutCompression(init: RequestInit | undefined): Record<string, string> {
  return { ...Object.fromEntries(new Headers(init?.headers)), 'accept-encoding': 'identity' }
}

function isPlain(encoding: string | string[] | undefined): boolean {
  return encoding === undefined || /^\s*(?:identity)?\s*$/i.test(String(encoding))
}
