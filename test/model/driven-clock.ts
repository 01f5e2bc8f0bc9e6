/** The clocks of a node's machine, and its heartbeat, which the schedule triggers. */
import type { LeaseClock } from '../../src/money/ledger/lease.ts'

export interface DrivenClock extends LeaseClock {
  /** Moves all clocks forward. */
  pass(seconds: number): void
  /** Sets the clock of the machine; only the monotonic clock does not change. */
  step(seconds: number): void
  /** The pause of the lease between two heartbeats. */
  waitForBeat(signal: AbortSignal): Promise<void>
  /** Resolves when a heartbeat that begins now ends, whatever its result. */
  beat(): Promise<void>
}

export function createDrivenClock(): DrivenClock {
  let passedMs = 0
  let steppedMs = 0
  let isListening = false
  /** Heartbeats run one after the other. */
  let beats: Promise<void> = Promise.resolve()
  let next = Promise.withResolvers<void>()
  let idle = Promise.withResolvers<void>()
  return {
    monotonicMs: () => performance.now() + passedMs,
    wallMs: () => Date.now() + passedMs + steppedMs,
    pass(seconds) {
      passedMs += seconds * 1_000
    },
    step(seconds) {
      steppedMs += seconds * 1_000
    },
    waitForBeat(signal) {
      next = Promise.withResolvers()
      idle.resolve()
      if (!isListening) signal.addEventListener('abort', () => next.resolve(), { once: true })
      isListening = true
      return next.promise
    },
    beat() {
      beats = beats.then(async () => {
        await idle.promise
        idle = Promise.withResolvers()
        next.resolve()
        await idle.promise
      })
      return beats
    },
  }
}
