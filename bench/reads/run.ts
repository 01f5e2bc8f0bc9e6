/**
 * READ THIS FIRST. `npm run bench:reads`: the cost of a customer's reads over ten million usage events. The
 * run creates or continues a database with such a history and the audit proves it. A server on it then
 * answers every read operation of an API key many times, for a customer with a tenth of all events and for
 * an ordinary one. At the end whole exports are read while the server's memory is sampled.
 *
 * The exit code is 1 if an answer was not a 200, the audit failed, or plan-reads.ts does not know an
 * operation. A missed goal is highlighted and does not fail the run, because it depends on the machine.
 */
import { chmodSync, mkdirSync } from 'node:fs'
import type pg from 'pg'
import { startEmbedded } from '../../src/platform/db/embedded.ts'
import { migrate } from '../../src/platform/db/migrate.ts'
import { openDatabase, type Database } from '../../src/platform/db/open.ts'
import { auditMoney } from '../../src/money/payments/audit-money.ts'
import { ensureMonths } from '../../src/app/workers/ensure-months.ts'
import { describeMachine } from '../describe-machine.ts'
import { createProcesses } from '../processes.ts'
import { readOptions } from '../read-options.ts'
import { report } from '../report.ts'
import { startArguments } from '../start-arguments.ts'
import { writeResults } from '../write-results.ts'
import { ensureHistory, openHistoryClient } from './ensure-history.ts'
import { describeHistory, findCallers, type BenchCaller } from './find-callers.ts'
import { measureMemory } from './measure-memory.ts'
import { parseReadsOptions, readsUsage } from './parse-reads-options.ts'
import { readOperations, type Described } from './read-operations.ts'
import type { ExportRow, MemoryRow, ReadRow, ReadsResults } from './reads-results.ts'
import { renderReads } from './render-reads.ts'
import { root, startServer } from './start-server.ts'
import { timeReads } from './time-reads.ts'

/** One customer has a tenth of all events. */
const HEAVY_SHARE = 0.1

const options = readOptions(parseReadsOptions, readsUsage)
// Before the minutes that the history takes.
startArguments(root)
// Readable by other users, because PostgreSQL refuses to run as root.
mkdirSync(options.dataDir, { recursive: true })
chmodSync(options.dataDir, 0o755)
const processes = createProcesses(options.dataDir)
process.once('exit', () => processes.killAll())
const embedded = await startEmbedded({ dataDir: options.dataDir, log: (text) => report(text) })
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.once(signal, () => void stopEarly(signal))
}

try {
  const results = await runReads(embedded.databaseUrl)
  await processes.stopAll()
  await embedded.stop()
  if (results) {
    const path = writeResults(results, 'reads-')
    process.stdout.write(`\n${renderReads(results)}\n`)
    process.stderr.write(`${path}\n`)
  }
  process.exit(results && results.faults.length > 0 ? 1 : 0)
} catch (error) {
  console.error(error)
  await stopEarly('the benchmark failed')
}

async function runReads(databaseUrl: string): Promise<ReadsResults | undefined> {
  const at = new Date().toISOString()
  await migrate(databaseUrl)
  const { db, close } = openDatabase(databaseUrl, { onError: () => {} })
  const client = await openHistoryClient(databaseUrl)
  try {
    await ensureMonths(db)
    const { isNew } = await ensureHistory(
      databaseUrl,
      db,
      { ...options, heavyShare: HEAVY_SHARE },
      report,
    )
    const isSound = isNew || options.hasAudit ? await prove(db) : null
    if (options.isGenerateOnly) return undefined
    return await measure(at, client, db, isSound)
  } finally {
    await client.end()
    await close()
  }
}

async function prove(db: Database): Promise<boolean> {
  report('audit')
  const { ok, checks } = await auditMoney(db)
  for (const { name, breaches } of checks.filter((check) => !check.ok))
    report('BREACH', name, JSON.stringify(breaches[0], plainJson))
  return ok
}

async function measure(
  at: string,
  client: pg.Client,
  db: Database,
  isSound: boolean | null,
): Promise<ReadsResults> {
  const callers = await findCallers(client, { db, dataDir: options.dataDir })
  const history = await describeHistory(client, callers, isSound)
  const machine = describeMachine(options.dataDir)
  const server = await startServer(processes, {
    dataDir: options.dataDir,
    adminEmails: callers.map(({ email }) => email),
  })
  const rows: ReadRow[] = []
  const exports: ExportRow[] = []
  const faults: string[] = isSound === false ? ['the audit found a breach'] : []
  const operations = (await readOperations(server.baseUrl)).filter(isWanted)
  for (const caller of callers) {
    const timed = await timeReads(server, caller, operations, options, report)
    rows.push(...timed.rows)
    exports.push(...timed.exports)
    faults.push(...timed.faults)
  }
  await processes.stopAll()
  const memory = options.hasExports ? await measureExports(client, callers, exports, faults) : []
  return { kind: 'reads', at, options, machine, history, rows, exports, memory, faults }
}

function isWanted({ path }: Described): boolean {
  return options.only.length === 0 || options.only.some((text) => path.includes(text))
}

/** The heavy customer's exports with the most rows, each with its widest window. */
async function measureExports(
  client: pg.Client,
  callers: readonly BenchCaller[],
  exports: readonly ExportRow[],
  faults: string[],
): Promise<MemoryRow[]> {
  const [heavy, ordinary] = callers as [BenchCaller, BenchCaller]
  const memory: MemoryRow[] = []
  const large = exports.filter(({ caller, url }) => caller === 'heavy' && url.includes('?from='))
  for (const { url } of large.filter(({ url }) => !url.includes('/admin/'))) {
    for (const reader of ['fast', 'slow'] as const) {
      try {
        const found = { heavy, ordinary }
        const row = await measureMemory(processes, options.dataDir, client, found, { url, reader })
        memory.push(row)
        report(url, reader, `${Math.round((row.peakBytes - row.beforeBytes) / 1e6)} MB more`)
      } catch (error) {
        faults.push(`memory: ${(error as Error).message}`)
      }
    }
  }
  return memory
}

async function stopEarly(reason: string): Promise<never> {
  process.stderr.write(`${reason}; stopping the processes\n`)
  await processes.stopAll()
  await embedded.stop()
  process.exit(1)
}

function plainJson(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? value.toString() : value
}
