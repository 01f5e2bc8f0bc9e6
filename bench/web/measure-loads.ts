/** Loads every page several times, in turns, so that a slow minute of the machine affects all of them. */
import type { Browser } from 'playwright-core'
import { median } from '../summarise-rounds.ts'
import { waitUntilQuiet } from '../wait-until-quiet.ts'
import { loadPage, type Visitor } from './load-page.ts'
import { readPage, type PagePath, type WebOptions } from './parse-web-options.ts'
import type { Load, LoadFigures, LoadRow } from './web-results.ts'

/** The machine gets this time to become quiet before each load. */
const QUIET_MS_MAX = 3_000

export async function measureLoads(
  browser: Browser,
  visitor: Visitor,
  options: WebOptions,
  report: (...words: string[]) => void,
): Promise<{ rows: LoadRow[]; faults: string[]; busyBefore: number }> {
  let busyBefore = 0
  const loads = new Map<PagePath, Load[]>(options.pages.map((path) => [path, []]))
  // The first round warms the server up: it compiles its code and fills its caches.
  for (let round = 0; round <= options.runs; round += 1) {
    for (const page of options.pages) {
      const { path, isVisitors } = readPage(page)
      const who = isVisitors ? { ...visitor, cookies: [] } : visitor
      busyBefore = Math.max(busyBefore, await waitUntilQuiet(QUIET_MS_MAX))
      const load = await loadPage(browser, who, path, options)
      if (round === 0) continue
      loads.get(page)!.push(load)
      report(
        page,
        `LCP ${Math.round(load.largestPaintMs)} ms`,
        `CLS ${load.layoutShift.toFixed(3)}`,
      )
    }
  }
  const rows = [...loads].map(([path, all]) => ({ path, ...mediansOf(all), loads: all }))
  return { rows, faults: rows.flatMap(faultsOf), busyBefore }
}

function mediansOf(loads: readonly Load[]): LoadFigures {
  const of = (name: keyof LoadFigures): number => median(loads.map((load) => load[name]))
  return {
    scriptBytes: of('scriptBytes'),
    styleBytes: of('styleBytes'),
    allBytes: of('allBytes'),
    requests: of('requests'),
    firstPaintMs: of('firstPaintMs'),
    largestPaintMs: of('largestPaintMs'),
    layoutShift: of('layoutShift'),
    blockingMs: of('blockingMs'),
    interactiveMs: of('interactiveMs'),
  }
}

/** The visitor at /entrar is not signed in, so a 401 is expected there. */
function faultsOf({ path, loads }: LoadRow): string[] {
  const failed = loads
    .flatMap(({ requestLog }) => requestLog)
    .filter(({ status, url }) => status >= 400 && !(status === 401 && url.endsWith('/v1/session')))
  return [...new Set(failed.map(({ status, url }) => `${path}: ${url} answered ${status}`))]
}
