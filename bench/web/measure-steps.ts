/** The steps of a person on /uso, on a desktop without throttling: each lasts until its result is on the screen. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Browser, Locator, Page } from 'playwright-core'
import { median } from '../summarise-rounds.ts'
import { waitUntilQuiet } from '../wait-until-quiet.ts'
import type { Visitor } from './load-page.ts'
import { logRequests, type RequestLog } from './log-requests.ts'
import type { WebOptions } from './parse-web-options.ts'
import type { CallRow, LoggedRequest, StepRow } from './web-results.ts'

const DESK = { viewport: { width: 1280, height: 900 } }
const STEP_MS_MAX = 60_000
const QUIET_MS_MAX = 3_000
/** The page is quiet after this long without requests. */
const ANSWERED_MS = 500
const ANSWERED_LOOKS = 10
const DAY_MS = 86_400_000
/** Rows on a page of the log. */
const LOG_PAGE = 50
const RARE_MODEL = 'whisper-1'

interface Step {
  readonly name: string
  readonly act: (page: Page) => Promise<unknown>
  /** Appears when the step is done; without it, the step ends when the first row changes. */
  readonly shown?: (page: Page) => Locator
}

export async function measureSteps(
  browser: Browser,
  visitor: Visitor,
  options: WebOptions,
  report: (...words: string[]) => void,
): Promise<{ rows: StepRow[]; calls: CallRow[]; busyBefore: number }> {
  let busyBefore = 0
  const times = new Map<string, number[]>(STEPS.map(({ name }) => [name, []]))
  const calls: LoggedRequest[] = []
  // The first round warms the server up, as with the loads.
  for (let round = 0; round <= options.runs; round += 1) {
    busyBefore = Math.max(busyBefore, await waitUntilQuiet(QUIET_MS_MAX))
    const context = await browser.newContext({ ...DESK, baseURL: visitor.origin, locale: 'pt-BR' })
    try {
      context.setDefaultTimeout(STEP_MS_MAX)
      await context.addCookies([...visitor.cookies])
      const page = await context.newPage()
      const log = await logRequests(await context.newCDPSession(page))
      for (const step of STEPS) {
        const ms = await timeStep(page, step)
        await waitUntilAnswered(log)
        if (round === 0) continue
        times.get(step.name)!.push(ms)
        report(step.name, `${Math.round(ms)} ms`)
      }
      if (round > 0) calls.push(...log.since(0).filter(({ url }) => url.includes('/v1/')))
    } finally {
      await context.close()
    }
  }
  const rows = [...times].map(([step, all]) => ({
    step,
    ms: median(all),
    slowestMs: Math.max(...all),
  }))
  return { rows, calls: callsOf(calls, visitor.origin), busyBefore }
}

/** Requests that a step starts on the side must end before the next step. */
async function waitUntilAnswered(log: RequestLog): Promise<void> {
  for (let looks = 0; looks < ANSWERED_LOOKS; looks = log.isQuiet() ? looks + 1 : 0)
    await sleep(ANSWERED_MS / ANSWERED_LOOKS)
}

async function timeStep(page: Page, { act, shown }: Step): Promise<number> {
  const before = (await firstRow(page).count()) > 0 ? await firstRow(page).textContent() : ''
  const startedAt = performance.now()
  await act(page)
  await (shown ? shown(page) : firstRow(page).filter({ hasNotText: before ?? '' })).waitFor()
  return performance.now() - startedAt
}

const STEPS: readonly Step[] = [
  {
    name: 'opening the page: the first row of the log',
    act: (page) => page.goto('/uso', { waitUntil: 'commit' }),
    shown: firstRow,
  },
  {
    name: 'the next page of the log',
    act: (page) => page.getByRole('button', { name: 'Carregar mais' }).click(),
    shown: (page) => page.locator('tbody tr').nth(LOG_PAGE),
  },
  {
    name: 'another period: the log up to a day half a year ago',
    act: (page) => page.getByLabel('Até', { exact: true }).fill(dayBefore(182)),
  },
  {
    name: 'of it the calls to one model',
    act: (page) => page.getByLabel('Modelo', { exact: true }).selectOption(RARE_MODEL),
  },
  {
    name: 'the use by key, of 30 days',
    act: (page) => page.getByRole('tab', { name: 'Por chave' }).click(),
    shown: (page) => page.locator('tbody tr th').first(),
  },
  {
    name: 'the use by key, of a year',
    act: (page) => page.getByLabel('Período').selectOption('365'),
  },
]

function firstRow(page: Page): Locator {
  return page.locator('tbody tr').first()
}

function dayBefore(days: number): string {
  return new Date(Date.now() - days * DAY_MS).toISOString().slice(0, 10)
}

/** Sorted by path, so that the variants of an operation are next to each other. */
function callsOf(requests: readonly LoggedRequest[], origin: string): CallRow[] {
  const byCall = Map.groupBy(requests, ({ url, method }) => {
    const { pathname, searchParams } = new URL(url, origin)
    // The value of a cursor or a day says nothing; its presence does.
    const asked = [...searchParams].map(([name, value]) =>
      name === 'limit' || name === 'days' ? `${name}=${value}` : name,
    )
    return `${method} ${pathname}${asked.length > 0 ? ` (${asked.join(', ')})` : ''}`
  })
  return [...byCall].map(([call, all]) => {
    const times = all.flatMap(({ serverMs }) => serverMs ?? [])
    return {
      call,
      times: all.length,
      serverMs: median(times),
      slowestServerMs: Math.max(...times),
      bytes: median(all.map(({ bytes }) => bytes)),
    }
  })
}
