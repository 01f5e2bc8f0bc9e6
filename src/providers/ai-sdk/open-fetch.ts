import { Agent, fetch, type Dispatcher } from 'undici'
import { CHAT_ANSWER_BYTES_MAX } from '../contract.ts'
import { UnreadableAnswer } from '../read-failure.ts'
import { watchSilence, type SilenceLimits, type SilenceWatch } from '../watch-silence.ts'
import type { AiSdkOptions } from './ai-sdk-options.ts'
import { boundEvents, type BoundEvents } from './bound-events.ts'

export type Fetch = typeof globalThis.fetch

export interface OpenFetch {
  /** `onSending` is called when a connection begins to send the request, which may have waited for one. */
  readonly fetch: (...request: [...Parameters<Fetch>, onSending?: () => void]) => Promise<Response>
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
    fetch: (input, init, onSending) =>
      send(input, {
        ...init,
        headers: withoutCompression(init),
        redirect: 'manual',
        dispatcher: agent.compose(limitAnswers(limits, onSending)),
      }),
    close: () => agent.destroy(),
  }
}

/**
 * Limits the silence within the body of each answer (`bodyTimeout` has one limit for the whole body), and the length of
 * each event. Compressed answers are refused: `maxResponseSize` counts the bytes before they are decompressed.
 */
function limitAnswers(
  limits: SilenceLimits,
  onSending: (() => void) | undefined,
): Dispatcher.DispatcherComposeInterceptor {
  return (dispatch) => (options, handler) => dispatch(options, watched(handler, limits, onSending))
}

function watched(
  handler: Dispatcher.DispatchHandler,
  limits: SilenceLimits,
  onSending: (() => void) | undefined,
): Dispatcher.DispatchHandler {
  let watch: SilenceWatch | undefined
  let bound: BoundEvents | undefined
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
        bound = boundEvents(String(headers['content-type'] ?? ''))
      }
      handler.onResponseStart?.(controller, status, headers, text)
    },
    onResponseData(controller, chunk) {
      try {
        bound?.(chunk)
      } catch (error) {
        return controller.abort(error as Error)
      }
      handler.onResponseData?.(controller, chunk)
      watch?.received(chunk)
    },
    onResponseEnd(controller, trailers) {
      watch?.stop()
      handler.onResponseEnd?.(controller, trailers)
    },
    onResponseError(controller, error) {
      watch?.stop()
      handler.onResponseError?.(controller, error)
    },
  }
}

function withoutCompression(init: RequestInit | undefined): Record<string, string> {
  return { ...Object.fromEntries(new Headers(init?.headers)), 'accept-encoding': 'identity' }
}

function isPlain(encoding: string | string[] | undefined): boolean {
  return encoding === undefined || /^\s*(?:identity)?\s*$/i.test(String(encoding))
}
