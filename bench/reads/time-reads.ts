/** Times one caller's reads: each operation some hundred times, one after another and several at once. */
import { setTimeout as sleep } from 'node:timers/promises'
import { Histogram } from '../histogram.ts'
import { readProcessUsage } from '../process-usage.ts'
import { waitUntilQuiet } from '../wait-until-quiet.ts'
import type { BenchCaller } from './find-callers.ts'
import { createHttpReader, type HttpReader } from './http-reader.ts'
import type { ReadsOptions } from './parse-reads-options.ts'
import { planReads, type PlannedRead } from './plan-reads.ts'
import type { Described } from './read-operations.ts'
import type { ExportRow, ReadRow } from './reads-results.ts'
import type { RunningServer } from './start-server.ts'

/** The machine gets this time to become quiet before each measurement. */
const QUIET_MS_MAX = 1_000
const FIRST_BYTES = 20
const FREE_MS = 100
/** A very slow operation is called less often than the rest: for this long, but at least this many times. */
const SLOW_MS_MAX = 20_000
const CALLS_MIN = 20
/** A list with more pages is not walked to its end. */
const PAGES_MAX = 10_000

export interface Timed {
  readonly rows: ReadRow[]
  readonly exports: ExportRow[]
  readonly faults: string[]
}

export async function timeReads(
  server: RunningServer,
  caller: BenchCaller,
  operations: readonly Described[],
  options: ReadsOptions,
  report: (...words: string[]) => void,
): Promise<Timed> {
  const timed: Timed = { rows: [], exports: [], faults: [] }
  const one = createHttpReader(server.baseUrl, caller, 1)
  const { reads, paged } = planReads(operations, caller.ids)
  for (const list of paged) reads.push(...(await lastPage(one, list, timed.faults)))
  reads.sort((left, right) => (left.path < right.path ? -1 : left.path > right.path ? 1 : 0))
  for (const read of reads) {
    try {
      if (read.isExport) {
        timed.exports.push(await timeExport(one, read, caller))
        report(caller.name, read.url, `${Math.round(timed.exports.at(-1)?.rows ?? 0)} rows`)
        continue
      }
      for (const connections of options.connections) {
        const row = await timeRead(server, caller, read, connections, options)
        timed.rows.push(row)
        const { p50, p99 } = row.latencyMs
        report(caller.name, `x${connections}`, read.url, `p50 ${p50}`, `p99 ${p99}`)
      }
    } catch (error) {
      timed.faults.push(`${caller.name}: ${(error as Error).message}`)
      report('FAULT', timed.faults.at(-1) ?? '')
    }
  }
  one.close()
  return timed
}

async function timeRead(
  server: RunningServer,
  caller: BenchCaller,
  { path, label, url }: PlannedRead,
  connections: number,
  options: ReadsOptions,
): Promise<ReadRow> {
  const reader = createHttpReader(server.baseUrl, caller, connections)
  const latency = new Histogram()
  let bytes = 0
  const warmUntil = performance.now() + SLOW_MS_MAX / 4
  for (let call = 0; call < options.warmUpCalls && performance.now() < warmUntil; call += 1)
    await reader.read(url)
  const busyBefore = await waitUntilQuiet(QUIET_MS_MAX)
  const cpuBefore = readCpu(server)
  const deadline = performance.now() + SLOW_MS_MAX
  let calls = 0
  const work = async (): Promise<void> => {
    while (calls < options.calls && (calls < CALLS_MIN || performance.now() < deadline)) {
      calls += 1
      const reading = await reader.read(url)
      if (!reading.isWhole) throw new Error(`GET ${url} ended early`)
      latency.record(reading.ms)
      bytes = reading.bytes
    }
  }
  try {
    await Promise.all(Array.from({ length: connections }, work))
  } finally {
    reader.close()
  }
  const cpuAfter = readCpu(server)
  return {
    path,
    label,
    url,
    caller: caller.name,
    connections,
    bytes,
    calls,
    latencyMs: latency.latencies(),
    serverCpuMs: perCall(cpuAfter.server - cpuBefore.server, calls),
    databaseCpuMs: perCall(cpuAfter.database - cpuBefore.database, calls),
    busyBefore,
  }
}

/** Only if this process started the database; of one that was already running nothing is known. */
function readCpu({ pid }: RunningServer): { server: number; database: number } {
  return {
    server: readProcessUsage(pid)?.gatewayCpuMs ?? NaN,
    database: readProcessUsage(process.pid)?.databaseCpuMs || NaN,
  }
}

/** The time of a connection that was closed meanwhile is lost. */
function perCall(cpuMs: number, calls: number): number | null {
  return cpuMs >= 0 ? Math.round((cpuMs / calls) * 100) / 100 : null
}

async function timeExport(
  reader: HttpReader,
  { url }: PlannedRead,
  caller: BenchCaller,
): Promise<ExportRow> {
  await waitUntilQuiet(QUIET_MS_MAX)
  const firstByte = new Histogram()
  for (let call = 0; call < FIRST_BYTES; call += 1) {
    firstByte.record((await reader.read(url, { until: 'first byte' })).firstByteMs)
    // A customer may run few exports at once, and this one ends only when the server notices the disconnect.
    await sleep(FREE_MS)
  }
  const whole = await reader.read(url)
  if (!whole.isWhole) throw new Error(`GET ${url} ended early`)
  return {
    url,
    caller: caller.name,
    firstByteMs: firstByte.latencies(),
    seconds: whole.ms / 1000,
    rows: whole.rows,
    bytes: whole.bytes,
  }
}

/** The last page of a list with several pages: of the widest size, or else of the default size. */
async function lastPage(
  reader: HttpReader,
  list: PlannedRead,
  faults: string[],
): Promise<PlannedRead[]> {
  try {
    for (const url of [list.url, list.url.split('?')[0] as string]) {
      const last = await walkToEnd(reader, url)
      if (last !== url) return [{ ...list, url: last }]
    }
  } catch (error) {
    faults.push(`walking ${list.path}: ${(error as Error).message}`)
  }
  return []
}

async function walkToEnd(reader: HttpReader, url: string): Promise<string> {
  let page = url
  for (let pages = 0; pages < PAGES_MAX; pages += 1) {
    const { next_cursor: next } = (await reader.readJson(page)) as { next_cursor?: string | null }
    if (!next) return page
    page = `${url}${url.includes('?') ? '&' : '?'}cursor=${next}`
  }
  throw new Error(`${url} has more than ${PAGES_MAX} pages`)
}
