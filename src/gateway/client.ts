/** The customer's side of one call, as the gateway sees it: no HTTP library shows through. */
import type { Limits } from './limits.ts'
import type { ActiveKey } from '../customers/key-cache.ts'
import type { Refusal } from './refusal.ts'

/** A model call as it arrived; `Body` is its bytes, or a form that is read on demand. */
export interface IncomingCall<Body = Buffer> {
  /** A UUID: the client's own or ours, for correlation. */
  readonly requestId: string
  /** The `Authorization` header. */
  readonly authorization: string | undefined
  /** Finds the key where the caller shows by something else than a secret which one is theirs. */
  readonly findKey?: (() => Promise<ActiveKey | undefined>) | undefined
  readonly sessionId: string | undefined
  readonly ip: string
  readonly body: Body
  /** By `performance.now()`. */
  readonly receivedAtMs: number
}

/**
 * Methods only: V8 keeps getters that an object was made with, and all they can reach, until the whole heap is
 * collected. One of these is made for every call: that took a quarter of the gateway's time (docs/benchmarks.md).
 */
export interface Client {
  refuse(refused: Refusal, limits: Limits): void
  /** A whole answer: JSON, unless `headers` say otherwise. */
  answer(body: string, limits: Limits, headers?: Readonly<Record<string, string>>): void
  /** Opens an event stream. Nothing of it may be written before. */
  beginStream(limits: Limits): void
  /**
   * Writes a part of the stream. A promise where the client reads slower than that: wait for it.
   * It resolves also when the client leaves, or is cut because it did not read for a minute, or for `waitMsMax`.
   */
  write(text: string, waitMsMax: number): Promise<void> | undefined
  /** Writes the last part and ends the stream. */
  endStream(text: string): void
  /** True once the client has hung up. */
  hasLeft(): boolean
  /** Called once, when the client hangs up before the end. */
  onLeave(callback: () => void): void
  /** Where this server is reached by this client, as in `https://api.example.com`. */
  origin(): string
}
