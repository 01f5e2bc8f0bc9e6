/** One cold load of one page on a slow phone: with an empty cache, observed until it has been quiet for five seconds. */
import { setTimeout as sleep } from 'node:timers/promises'
import { join } from 'node:path'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { logRequests } from './log-requests.ts'
import { NETWORKS } from './networks.ts'
import { blockingTime, cumulativeShift, findInteractive, type Observed } from './page-figures.ts'
import type { WebOptions } from './parse-web-options.ts'
import type { Load, LoggedRequest, LongTask, Shift } from './web-results.ts'

/** The screen of Lighthouse's mobile device. */
const PHONE = {
  viewport: { width: 412, height: 823 },
  deviceScaleFactor: 1.75,
  isMobile: true,
  hasTouch: true,
} as const satisfies BrowserContextOptions

const OBSERVER = join(import.meta.dirname, './observe-page.js')
const LOAD_MS_MAX = 60_000
const LOOK_MS = 500

export interface Visitor {
  readonly origin: string
  /** The cookies of the signed-in customer; empty for a visitor. */
  readonly cookies: readonly Cookie[]
}

export type Cookie = Awaited<ReturnType<ReturnType<Page['context']>['cookies']>>[number]

interface Seen {
  readonly originMs: number
  readonly nowMs: number
  readonly contentLoadedMs: number
  readonly firstPaintMs: number
  readonly largestPaintMs: number
  readonly largestElement: string
  readonly shifts: readonly Shift[]
  readonly longTasks: readonly LongTask[]
  readonly isLoading: boolean
}

const READ_SEEN = `({ ...window.benchSeen, originMs: performance.timeOrigin, nowMs: performance.now(),
  contentLoadedMs: performance.getEntriesByType('navigation')[0]?.domContentLoadedEventEnd ?? 0,
  isLoading: document.querySelector('main .animate-pulse') !== null })`

export async function loadPage(
  browser: Browser,
  visitor: Visitor,
  path: string,
  options: Pick<WebOptions, 'network' | 'cpuSlowdown'>,
): Promise<Load> {
  const context = await browser.newContext({ ...PHONE, baseURL: visitor.origin, locale: 'pt-BR' })
  try {
    await context.addCookies([...visitor.cookies])
    await context.addInitScript({ path: OBSERVER })
    const page = await context.newPage()
    const cdp = await context.newCDPSession(page)
    const log = await logRequests(cdp)
    const { latencyMs, downBitsPerSecond, upBitsPerSecond } = NETWORKS[options.network]
    await cdp.send('Network.emulateNetworkConditions', {
      offline: false,
      latency: latencyMs,
      downloadThroughput: downBitsPerSecond / 8,
      uploadThroughput: upBitsPerSecond / 8,
    })
    await cdp.send('Emulation.setCPUThrottlingRate', { rate: options.cpuSlowdown })
    await page.goto(path, { waitUntil: 'commit', timeout: LOAD_MS_MAX })
    for (const deadline = Date.now() + LOAD_MS_MAX; Date.now() < deadline;) {
      await sleep(LOOK_MS)
      const seen = (await page.evaluate(READ_SEEN)) as Seen
      const requests = log.since(seen.originMs)
      const interactiveMs = seen.firstPaintMs > 0 && findInteractive(observedOf(seen, requests))
      if (interactiveMs && !seen.isLoading) return figuresOf(seen, requests, interactiveMs)
    }
    throw new Error(`${path} was not quiet within ${LOAD_MS_MAX} ms`)
  } finally {
    await context.close()
  }
}

function observedOf(seen: Seen, requests: readonly LoggedRequest[]): Observed {
  return { ...seen, requests, untilMs: seen.nowMs }
}

function figuresOf(seen: Seen, requests: readonly LoggedRequest[], interactiveMs: number): Load {
  const bytesOf = (kind?: LoggedRequest['kind']): number =>
    requests
      .filter((request) => kind === undefined || request.kind === kind)
      .reduce((sum, { bytes }) => sum + bytes, 0)
  return {
    scriptBytes: bytesOf('script'),
    styleBytes: bytesOf('style'),
    allBytes: bytesOf(),
    requests: requests.length,
    firstPaintMs: seen.firstPaintMs,
    largestPaintMs: seen.largestPaintMs,
    layoutShift: cumulativeShift(seen.shifts),
    blockingMs: blockingTime(observedOf(seen, requests), interactiveMs),
    interactiveMs,
    largestElement: seen.largestElement,
    shifts: seen.shifts,
    longTasks: seen.longTasks,
    requestLog: requests,
  }
}
