/** Every request of a page, as Chromium's network saw it. */
import type { CDPSession } from 'playwright-core'
import type { LoggedRequest } from './web-results.ts'

export interface RequestLog {
  /** Times since `originMs` of the wall clock, which is the page's `performance.timeOrigin`. */
  since(originMs: number): LoggedRequest[]
  /** Whether every request has been answered. */
  isQuiet(): boolean
}

interface Entry {
  readonly url: string
  readonly method: string
  /** Chromium's monotonic clock, in seconds, and how far the wall clock is ahead of it. */
  readonly startedAt: number
  readonly aheadSeconds: number
  kind: LoggedRequest['kind']
  status: number
  serverMs: number | null
  endedAt: number | null
  bytes: number
}

export async function logRequests(cdp: CDPSession): Promise<RequestLog> {
  const entries = new Map<string, Entry>()
  cdp.on('Network.requestWillBeSent', ({ requestId, request, timestamp, wallTime }) => {
    // An image inlined in the style sheet is not a request.
    if (request.url.startsWith('data:')) return
    entries.set(requestId, {
      url: request.url,
      method: request.method,
      startedAt: timestamp,
      aheadSeconds: wallTime - timestamp,
      kind: 'other',
      status: 0,
      serverMs: null,
      endedAt: null,
      bytes: 0,
    })
  })
  cdp.on('Network.responseReceived', ({ requestId, response }) => {
    const entry = entries.get(requestId)
    if (!entry) return
    entry.status = response.status
    entry.kind = kindOf(response.mimeType)
    const { timing } = response
    if (timing) entry.serverMs = timing.receiveHeadersStart - timing.sendEnd
  })
  cdp.on('Network.loadingFinished', ({ requestId, timestamp, encodedDataLength }) => {
    const entry = entries.get(requestId)
    if (entry) [entry.endedAt, entry.bytes] = [timestamp, encodedDataLength]
  })
  cdp.on('Network.loadingFailed', ({ requestId, timestamp }) => {
    const entry = entries.get(requestId)
    if (entry) entry.endedAt = timestamp
  })
  await cdp.send('Network.enable')
  return {
    isQuiet: () => [...entries.values()].every(({ endedAt }) => endedAt !== null),
    since: (originMs) =>
      [...entries.values()].map(({ startedAt, endedAt, aheadSeconds, ...entry }) => {
        const sinceOrigin = (seconds: number): number => (seconds + aheadSeconds) * 1_000 - originMs
        return {
          ...entry,
          startMs: sinceOrigin(startedAt),
          endMs: endedAt === null ? null : sinceOrigin(endedAt),
        }
      }),
  }
}

function kindOf(mimeType: string): LoggedRequest['kind'] {
  if (mimeType.includes('javascript')) return 'script'
  return mimeType === 'text/css' ? 'style' : 'other'
}
