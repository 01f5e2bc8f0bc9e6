import { Agent, fetch } from 'undici'
import type { AiSdkOptions } from './ai-sdk-options.ts'

export type Fetch = typeof globalThis.fetch

export interface OpenFetch {
  readonly fetch: Fetch
  /** Destroys the connections, also those in use. */
  close(): Promise<void>
}

/** A longer answer is rejected as broken. */
const ANSWER_BYTES_MAX = 64 * 1024 * 1024

/**
 * A `fetch` with its own connections and the upstream's time-outs. Redirects are not followed, because the request
 * would take the credentials along.
 */
export function openFetch(options: AiSdkOptions): OpenFetch {
  const dispatcher = new Agent({
    connections: options.connectionsMax,
    pipelining: 1,
    connect: { timeout: options.connectTimeoutMs },
    headersTimeout: options.firstByteTimeoutMs,
    bodyTimeout: options.idleTimeoutMs,
    keepAliveTimeout: 30_000,
    maxResponseSize: ANSWER_BYTES_MAX,
  })
  // undici and the platform declare incompatible types for the same interface.
  const send = fetch as unknown as (input: unknown, init: unknown) => Promise<Response>
  return {
    fetch: (input, init) => send(input, { ...init, redirect: 'manual', dispatcher }),
    close: () => dispatcher.destroy(),
  }
}
