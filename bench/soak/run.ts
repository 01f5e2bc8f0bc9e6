/**
 * `npm run bench:soak -- --minutes 60`: streams and plain calls of all formats at a modest pace against one server,
 * to see whether anything grows. Each minute it prints memory, descriptors, open holds, dead rows and lag; in the middle
 * it takes a backup. At the end the clients' count, the upstream's and the charges must be equal, the audit sound, also
 * that of the restored backup, and the slopes after the warm-up below their limits; else it exits 1. A run that is too
 * short for a slope says so.
 */
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { startEmbedded } from '../../src/platform/db/embedded.ts'
import { openDatabase } from '../../src/platform/db/open.ts'
import { findFreePort } from '../../test/harness/find-free-port.ts'
import { describeMachine } from '../describe-machine.ts'
import { openBenchRun } from '../open-bench-run.ts'
import { report } from '../report.ts'
import { startCatraca } from '../targets/catraca.ts'
import type { UpstreamCount } from '../upstream.ts'
import { restoreBackup, takeBackup, type TakenBackup } from './back-up-midway.ts'
import { judgeFlatness } from './judge-flatness.ts'
import { readState, waitWithoutHolds, type ServerState } from './read-state.ts'
import { startTraffic } from './soak-traffic.ts'

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '60' },
    'warm-up-minutes': { type: 'string', default: '15' },
    streams: { type: 'string', default: '20' },
    'calls-per-second': { type: 'string', default: '4' },
    customers: { type: 'string', default: '4' },
  },
})
const MINUTES = Number(values.minutes)
const STREAMS = Number(values.streams)
const MB = 1024 * 1024
/** The growth that still counts as flat, for each hour. */
const LIMITS = { residentMb: 30, heapMb: 8, descriptors: 5, deadRows: 2_000 }
/** Four times the rows at which the hot tables are vacuumed. */
const DEAD_ROWS_MAX = 20_000
/** Streams, and calls that are under way. */
const HOLDS_MAX = STREAMS + 50
const HOLDS_MS_MAX = 60_000

const { folder, processes, upstreamPort, countUrl } = await openBenchRun('soak')
const inspectorPort = await findFreePort()
const target = await startCatraca({
  processes,
  upstreamPort,
  folder,
  hasFormats: true,
  customers: Number(values.customers),
  nodeArguments: [`--inspect=127.0.0.1:${inspectorPort}`],
})
if ('kind' in target) throw new Error(target.reason)
// Attaches to the server's own database.
const embedded = await startEmbedded({ dataDir: target.dataDir!, log: report })
const { db, close } = openDatabase(embedded.databaseUrl, { onError: () => {} })
const url = `http://127.0.0.1:${target.port}`
const watched = { url, pid: target.pid!, inspectorPort, db }

const { processors, node, commit } = describeMachine(folder)
print(`${processors}, Node ${node}, commit ${commit}, ${MINUTES} minutes, ${STREAMS} streams\n`)
const COLUMNS =
  'minute,RSS MB,heap MB,descriptors,holds,dead rows,lag p99 ms,plain p50 ms,p99 ms,CPU %,whole,left,refused,failures'
row(...COLUMNS.split(','))
row(...COLUMNS.split(',').map(() => '---'))

const traffic = startTraffic(url, target.callers ?? [target.headers], {
  streams: STREAMS,
  callsPerSecond: Number(values['calls-per-second']),
})
const { counts } = traffic
const states: ServerState[] = []
const startedAtMs = performance.now()
let before = await readState(watched)
let backup: Promise<TakenBackup> | undefined
for (let minute = 1; minute <= MINUTES; minute += 1) {
  const dueMs = startedAtMs + minute * 60_000
  await sleep(Math.max(0, dueMs - performance.now()))
  const state = await readState(watched)
  states.push(state)
  const { p50, p99 } = traffic.takeLatencies()
  const { residentBytes, heapBytes, descriptors, openHolds, deadRows, lagMs } = state
  const cpuPercent = (state.cpuMs - before.cpuMs) / 600
  row(
    minute,
    mb(residentBytes),
    mb(heapBytes),
    descriptors,
    openHolds,
    `${deadRows.rows} ${deadRows.table}`,
    lagMs.toFixed(1),
    p50.toFixed(1),
    p99.toFixed(1),
    cpuPercent.toFixed(0),
    counts.whole,
    counts.left,
    counts.refused,
    counts.failures,
  )
  before = state
  if (minute === Math.ceil(MINUTES / 2)) {
    backup = takeBackup(target.on!(target.dataDir!), db, join(folder, 'backup'))
    // Awaited after the last minute; without a listener its failure would end the process.
    backup.catch(() => undefined)
  }
}
await traffic.stop()
await waitWithoutHolds(db, HOLDS_MS_MAX)
const upstream = (await (await fetch(countUrl)).json()) as UpstreamCount
const audit = await target.audit?.()
if (!audit) throw new Error('no audit')
const restoredDir = join(folder, 'restored')
const taken = await backup!
const restored = await restoreBackup(taken, target.on!(restoredDir), restoredDir, target.dataDir!)

const faults: string[] = [...restored.faults]
const answered = counts.whole + counts.left
print(
  `\n${counts.whole} whole and ${counts.left} left answers, ${upstream.begun} by the upstream's count, ` +
    `${audit.charges} charges, ${audit.openHolds} open holds, audit ${audit.isSound ? 'sound' : 'BROKEN'}`,
)
print(
  `the backup of the middle, ${taken.atLeast} to ${taken.atMost} charges, restored: ${restored.charges} charges, ` +
    `${restored.lost} answers known to be delivered later`,
)
if (audit.charges !== answered || upstream.begun !== answered) faults.push('counts differ')
if (!audit.isSound) faults.push('the audit is not sound')
if (audit.openHolds > 0) faults.push(`${audit.openHolds} holds are open at the end`)
if (counts.failures > 0) faults.push(`${counts.failures} failures: ${counts.firstFailure}`)
const most = (of: (state: ServerState) => number): number => Math.max(...states.map(of))
if (most(({ openHolds }) => openHolds) > HOLDS_MAX) faults.push('holds pile up')
if (most(({ deadRows }) => deadRows.rows) > DEAD_ROWS_MAX) faults.push('dead rows pile up')
judge('dead rows', LIMITS.deadRows, ({ deadRows }) => deadRows.rows)
judge('RSS, MB', LIMITS.residentMb, ({ residentBytes }) => residentBytes / MB)
judge('heap, MB', LIMITS.heapMb, ({ heapBytes }) => heapBytes / MB)
judge('descriptors', LIMITS.descriptors, ({ descriptors }) => descriptors)
print(faults.length === 0 ? 'ok' : `NOT OK: ${faults.join('; ')}`)

await close()
await embedded.stop()
await processes.stopAll()
process.exit(faults.length === 0 ? 0 : 1)

function judge(name: string, perHourMax: number, of: (state: ServerState) => number): void {
  const limits = { warmUpMinutes: Number(values['warm-up-minutes']), perHourMax }
  const judged = judgeFlatness(states.map(of), limits)
  if (judged === undefined) return print(`${name}: too short a run to judge`)
  print(`${name}: ${judged.perHour.toFixed(1)} an hour (limit ${perHourMax})`)
  if (!judged.isFlat) faults.push(`${name} grows`)
}

function mb(bytes: number): string {
  return (bytes / MB).toFixed(1)
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}

function row(...columns: readonly (string | number)[]): void {
  print(`| ${columns.join(' | ')} |`)
}
