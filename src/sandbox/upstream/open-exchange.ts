import type { ServerResponse } from 'node:http'
import type { CallOutcome, CountKeeper, ReportedTokens } from './sandbox-counts.ts'

/** A request and its answer. It detects when the client leaves, and counts the outcome once. */
export interface Exchange {
  readonly response: ServerResponse
  /** False once the connection is closed. */
  readonly isOpen: boolean
  /** The outcome to count when the last byte is sent; a refusal until it is set. */
  outcome: CallOutcome
  /** Set if the answer reports usage. */
  reported: ReportedTokens | undefined
  /** Resolves after this time, or at once when the client leaves. */
  pause(ms: number): Promise<void>
  /** Writes, and waits while the client reads more slowly than we write. */
  write(data: string | Buffer): Promise<void>
  /** Writes, waits until the operating system has the bytes, and drops the connection. */
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
    // A deliberate cut also closes before the end, but sets the outcome beforehand.
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
