/** The command line of `npm run bench:reads`. */
import { existsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'

export interface ReadsOptions {
  /** The events of the whole history, of which one customer has a tenth. */
  readonly events: number
  readonly customers: number
  /** Kept after the run: the next run continues its history up to now. */
  readonly dataDir: string
  /** Calls of each operation at each number of connections. */
  readonly calls: number
  readonly warmUpCalls: number
  readonly connections: readonly number[]
  /** Only operations whose path contains one of these; empty: all. */
  readonly only: readonly string[]
  readonly isGenerateOnly: boolean
  readonly hasExports: boolean
  /** Whether the audit runs before the measurements: it takes minutes at ten million events. */
  readonly hasAudit: boolean
}

export const readsUsage = `npm run bench:reads -- [options]
  --events N           in the history, over twelve months up to now (default: 10000000)
  --customers N        of which one has a tenth of the events (default: 1000)
  --data-dir PATH      kept and continued by the next run (default: by size, below /var/tmp)
  --calls N            of each operation, at each number of connections (default: 200)
  --connections 1,4    (default: 1,4)
  --only a,b           only operations whose path contains one of these
  --generate-only      makes the history and ends
  --no-exports         leaves out the memory of the exports
  --no-audit           does not prove the books of a history that was there already
`

export function parseReadsOptions(args: readonly string[]): ReadsOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      events: { type: 'string', default: '10000000' },
      customers: { type: 'string', default: '1000' },
      'data-dir': { type: 'string' },
      calls: { type: 'string', default: '200' },
      connections: { type: 'string', default: '1,4' },
      only: { type: 'string', default: '' },
      'generate-only': { type: 'boolean', default: false },
      'no-exports': { type: 'boolean', default: false },
      'no-audit': { type: 'boolean', default: false },
    },
  })
  const events = numberIn(values.events, 1_000, 1_000_000_000)
  const customers = numberIn(values.customers, 60, 1_000_000)
  return {
    events,
    customers,
    dataDir: resolve(values['data-dir'] ?? defaultDataDir(events, customers)),
    calls: numberIn(values.calls, 1, 100_000),
    warmUpCalls: 10,
    connections: values.connections.split(',').map((text) => numberIn(text, 1, 1_000)),
    only: values.only.split(',').filter(Boolean),
    isGenerateOnly: values['generate-only'],
    hasExports: !values['no-exports'],
    hasAudit: !values['no-audit'],
  }
}

/** Avoids /tmp where possible: it is often in memory. */
function defaultDataDir(events: number, customers: number): string {
  const below = existsSync('/var/tmp') ? '/var/tmp' : tmpdir()
  return join(below, `catraca-bench-reads-${events}-${customers}`)
}

function numberIn(text: string, min: number, max: number): number {
  const number = Number(text)
  if (!Number.isInteger(number) || number < min || number > max)
    throw new Error(`${text} is not a whole number from ${min} to ${max}`)
  return number
}
