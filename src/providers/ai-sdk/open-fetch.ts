import { Agent, fetch } from 'undici'
import type { AiSdkOptions } from './ai-sdk-options.ts'

export type Fetch = typeof globalThis.fetch

export interface OpenFetch {
  readonly fetch: Fetch
  /** Destroys the connections, also those in use. */
  close(): Promise<void>
}

/** A longer answer is broken. */
const ANSWER_BYTES_MAX = 64 * 1024 * 1024

/**
 * A `fetch` over connections of its own, with the upstream's time-outs. A redirect is an answer like
 * any other: followed, it would take the credentials along.
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
  // The types of undici and of the platform name the same interface differently.
  const send = fetch as unknown as (input: unknown, init: unknown) => Promise<Response>
  return {
    fetch: (input, init) => send(input, { ...init, redirect: 'manual', dispatcher }),
    close: () => dispatcher.destroy(),
  }
}
