import type { ServerResponse } from 'node:http'
import type { CallOutcome, CountKeeper, ReportedTokens } from './sandbox-counts.ts'

/** One request and its answer: knows when the client has left, and counts how it ended, once. */
export interface Exchange {
  readonly response: ServerResponse
  /** False once the connection is gone: there is nobody to write for. */
  readonly isOpen: boolean
  /** What to count when the last byte is out. Until it is set, that is a refusal. */
  outcome: CallOutcome
  /** Set when the answer carries usage. */
  reported: ReportedTokens | undefined
  /** Resolves after this time, or at once when the client leaves. */
  pause(ms: number): Promise<void>
  /** Writes, and waits while the client reads more slowly than we write. */
  write(data: string | Buffer): Promise<void>
  /** Writes, waits until the operating system has it, and drops the connection. */
  writeAndCut(data: string | Buffer): Promise<void>
}

export function openExchange(
  response: ServerResponse,
  keeper: CountKeeper,
  callId: string | undefined,
): Exchange {
  let wake: (() => void) | undefined
  let hasFinished = false
  keeper.begin(callId)
  response.once('finish', () => {
    hasFinished = true
  })
  response.once('close', () => {
    exchange.isOpen = false
    // Our own cut also closes before the end, but there the outcome was decided beforehand.
    const hasEnded = hasFinished || exchange.outcome === 'broken'
    keeper.end(callId, hasEnded ? exchange.outcome : 'aborted', exchange.reported)
    wake?.()
  })

  const exchange = {
    response,
    isOpen: true,
    outcome: 'refused' as CallOutcome,
    reported: undefined as ReportedTokens | undefined,
    pause(ms: number) {
      return new Promise<void>((resolve) => {
        if (!exchange.isOpen) return resolve()
        const timer = setTimeout(resolve, ms)
        wake = () => {
          clearTimeout(timer)
          resolve()
        }
      })
    },
    write(data: string | Buffer) {
      if (!exchange.isOpen || response.write(data)) return Promise.resolve()
      return new Promise<void>((resolve) => {
        wake = resolve
        response.once('drain', resolve)
      })
    },
    writeAndCut(data: string | Buffer) {
      return new Promise<void>((resolve) => {
        if (!exchange.isOpen) return resolve()
        wake = resolve
        response.write(data, () => {
          exchange.outcome = 'broken'
          response.destroy()
        })
      })
    },
  }
  return exchange
}
