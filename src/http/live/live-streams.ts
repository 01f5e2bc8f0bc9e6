/**
 * The open streams of the dashboard: what they show of an account, as soon as it changes. One timer of the process reads
 * all accounts that somebody looks at, in one query, however many streams there are.
 */
import { nearNetwork } from '../../platform/lib/client-networks.ts'
import type { Log } from '../../platform/lib/log.ts'

/** Resolves to the event of each account, as text. An event with the same text as the last one is not sent. */
export type ReadAccounts = (customerIds: readonly string[]) => Promise<ReadonlyMap<string, string>>
/** Resolves to the login sessions among these that have not ended. */
export type ReadSessions = (sessionIds: readonly string[]) => Promise<ReadonlySet<string>>

export interface LiveStream {
  readonly customerId: string
  readonly sessionId: string
  readonly ip: string
  send(text: string): void
  end(): void
}

export interface LiveStreams {
  /** False: the account, the network of the address or this process has too many streams. */
  open(stream: LiveStream): boolean
  /** After it, `end` is not called. */
  leave(stream: LiveStream): void
  /** Ends all of them, and opens no more. */
  close(): void
}

export interface LiveTerms {
  readonly perAccountMax: number
  /** Of one IPv4 address or IPv6 /64. */
  readonly perNetworkMax: number
  readonly totalMax: number
  readonly everyMs: number
}

export const LIVE_TERMS: LiveTerms = {
  perAccountMax: 20,
  perNetworkMax: 100,
  totalMax: 2_000,
  everyMs: 1_000,
}

/** Proxies close a connection after 30 to 100 s of silence. */
const KEEP_ALIVE = ': keep-alive\n'
const KEEP_ALIVE_TICKS = 15

export function createLiveStreams(
  readAccounts: ReadAccounts,
  readSessions: ReadSessions,
  log: Pick<Log, 'warn'>,
  { perAccountMax, perNetworkMax, totalMax, everyMs }: LiveTerms = LIVE_TERMS,
): LiveStreams {
  const streams = new Map<LiveStream, { readonly network: string; sent: string | undefined }>()
  let timer: NodeJS.Timeout | undefined
  let ticks = 0
  let isClosed = false

  const ofAccount = (of: string): number =>
    [...streams.keys()].filter(({ customerId }) => customerId === of).length
  const ofNetwork = (of: string): number =>
    [...streams.values()].filter(({ network }) => network === of).length

  function leave(stream: LiveStream): void {
    streams.delete(stream)
  }

  function end(stream: LiveStream): void {
    leave(stream)
    stream.end()
  }

  async function look(): Promise<void> {
    const all = [...streams.keys()]
    const active = await readSessions(all.map(({ sessionId }) => sessionId))
    const texts = await readAccounts([...new Set(all.map(({ customerId }) => customerId))])
    for (const stream of all) {
      const known = streams.get(stream)
      // It has left meanwhile.
      if (!known) continue
      const text = texts.get(stream.customerId)
      if (!active.has(stream.sessionId)) end(stream)
      else if (text !== undefined && text !== known.sent) {
        known.sent = text
        stream.send(`data: ${text}\n\n`)
      } else if (ticks % KEEP_ALIVE_TICKS === 0) stream.send(KEEP_ALIVE)
    }
  }

  /** The next one begins after this one has ended, so that a slow database is not asked twice. */
  async function tick(): Promise<void> {
    ticks += 1
    try {
      await look()
    } catch (error) {
      // The dashboard reads by itself where streams end. A session that cannot be checked shows nothing more.
      log.warn('live_streams_failed', { error })
      for (const stream of streams.keys()) end(stream)
    }
    timer = undefined
    plan()
  }

  function plan(): void {
    if (timer === undefined && streams.size > 0 && !isClosed)
      timer = setTimeout(() => void tick(), everyMs)
  }

  return {
    leave,
    open(stream) {
      if (isClosed || streams.size >= totalMax) return false
      if (ofAccount(stream.customerId) >= perAccountMax) return false
      const network = nearNetwork(stream.ip)
      if (ofNetwork(network) >= perNetworkMax) return false
      streams.set(stream, { network, sent: undefined })
      plan()
      return true
    },
    close() {
      isClosed = true
      clearTimeout(timer)
      for (const stream of streams.keys()) end(stream)
    },
  }
}
