/** The command line of `npm run bench:web`. */
import { existsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { NETWORKS, type NetworkName } from './networks.ts'

const VISITOR = 'visitor:'
/** Every measured page; `visitor:` before a path is the page without a session. */
export const PAGE_PATHS = [
  'visitor:/',
  'visitor:/modelos/gpt-4o',
  'visitor:/entrar',
  '/',
  '/uso',
  '/chaves',
  '/modelos',
] as const
export type PagePath = (typeof PAGE_PATHS)[number]

/** The path of the address, and whether it is opened without a session. */
export function readPage(page: PagePath): { path: string; isVisitors: boolean } {
  const isVisitors = page.startsWith(VISITOR)
  return { path: isVisitors ? page.slice(VISITOR.length) : page, isVisitors }
}

export interface WebOptions {
  /** The usage events of the signed-in customer, over twelve months up to now. */
  readonly events: number
  /** Kept after the run: the next run continues its history up to now. */
  readonly dataDir: string
  /** Loads of each page; the report has their median. */
  readonly runs: number
  readonly pages: readonly PagePath[]
  readonly network: NetworkName
  /** How many times slower the emulated processor is than this machine's. */
  readonly cpuSlowdown: number
  readonly isBuilt: boolean
  readonly hasLoads: boolean
  readonly hasSteps: boolean
}

export const webUsage = `npm run bench:web -- [options]
  --events N           of the customer who is signed in (default: 1000000)
  --data-dir PATH      kept and continued by the next run (default: by size, below /var/tmp)
  --runs N             of each page and of the steps on /uso (default: 5)
  --pages /,/uso       (default: ${PAGE_PATHS.join(',')})
  --network NAME       one of ${Object.keys(NETWORKS).join(', ')} (default: slow-4g)
  --cpu N              times slower than this processor (default: 4)
  --no-build           measures web/dist as it is
  --no-loads           leaves out the throttled loads
  --no-steps           leaves out the steps on /uso
`

export function parseWebOptions(args: readonly string[]): WebOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      events: { type: 'string', default: '1000000' },
      'data-dir': { type: 'string' },
      runs: { type: 'string', default: '5' },
      pages: { type: 'string', default: PAGE_PATHS.join(',') },
      network: { type: 'string', default: 'slow-4g' },
      cpu: { type: 'string', default: '4' },
      'no-build': { type: 'boolean', default: false },
      'no-loads': { type: 'boolean', default: false },
      'no-steps': { type: 'boolean', default: false },
    },
  })
  const events = numberIn(values.events, 1_000, 100_000_000)
  return {
    events,
    dataDir: resolve(values['data-dir'] ?? defaultDataDir(events)),
    runs: numberIn(values.runs, 1, 100),
    pages: values.pages.split(',').map((path) => oneOf(PAGE_PATHS, path)),
    network: oneOf(Object.keys(NETWORKS) as NetworkName[], values.network),
    cpuSlowdown: numberIn(values.cpu, 1, 20),
    isBuilt: values['no-build'],
    hasLoads: !values['no-loads'],
    hasSteps: !values['no-steps'],
  }
}

/** Avoids /tmp where possible: it is often in memory. */
function defaultDataDir(events: number): string {
  const below = existsSync('/var/tmp') ? '/var/tmp' : tmpdir()
  return join(below, `catraca-bench-web-${events}`)
}

function oneOf<T extends string>(allowed: readonly T[], text: string): T {
  const found = allowed.find((one) => one === text)
  if (found === undefined) throw new Error(`${text} is none of ${allowed.join(', ')}`)
  return found
}

function numberIn(text: string, min: number, max: number): number {
  const number = Number(text)
  if (!Number.isInteger(number) || number < min || number > max)
    throw new Error(`${text} is not a whole number from ${min} to ${max}`)
  return number
}
