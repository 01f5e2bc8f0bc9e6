import { Agent, fetch, type Dispatcher } from 'undici'
import { CHAT_ANSWER_BYTES_MAX } from '../contract.ts'
import { watchSilence, type SilenceLimits, type SilenceWatch } from '../watch-silence.ts'
import type { AiSdkOptions } from './ai-sdk-options.ts'

export type Fetch = typeof globalThis.fetch

export interface OpenFetch {
  readonly fetch: Fetch
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
  const dispatcher = agent.compose(
    limitSilence({ firstByteMs: options.firstByteTimeoutMs, idleMs: options.idleTimeoutMs }),
  )
  // undici and the platform declare incompatible types for the same interface.
  const send = fetch as unknown as (input: unknown, init: unknown) => Promise<Response>
  return {
    fetch: (input, init) => send(input, { ...init, redirect: 'manual', dispatcher }),
    close: () => agent.destroy(),
  }
}

/** Limits the silence within the body of each answer; `bodyTimeout` has one limit for the whole body. */
function limitSilence(limits: SilenceLimits): Dispatcher.DispatcherComposeInterceptor {
  return (dispatch) => (options, handler) => dispatch(options, watched(handler, limits))
}

function watched(
  handler: Dispatcher.DispatchHandler,
  limits: SilenceLimits,
): Dispatcher.DispatchHandler {
  let watch: SilenceWatch | undefined
  return {
    onRequestStart: (controller, context) => handler.onRequestStart?.(controller, context),
    onRequestUpgrade: (controller, status, headers, socket) =>
      handler.onRequestUpgrade?.(controller, status, headers, socket),
    onResponseStarted: () => handler.onResponseStarted?.(),
    onBodySent: (chunk) => handler.onBodySent?.(chunk),
    onRequestSent: () => handler.onRequestSent?.(),
    onResponseStart(controller, status, headers, text) {
      // 1xx responses precede the final one.
      if (status >= 200) watch = watchSilence(limits, controller, status)
      handler.onResponseStart?.(controller, status, headers, text)
    },
    onResponseData(controller, chunk) {
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
