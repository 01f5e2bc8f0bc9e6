/**
 * `npm run bench:cells`: one cell (a gateway with its own PostgreSQL), then two behind a balancer that routes by the key
 * (docs/cells.md), each with the same share of the processors. The turns alternate, because the machine's speed changes.
 * Then one of two cells is stopped under load. Needs nginx, and root for the shares.
 */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { Mode } from '../chat-request.ts'
import { limitToShare } from '../limit-to-share.ts'
import { measureTarget, type Measurement } from '../measure-target.ts'
import { openBenchRun } from '../open-bench-run.ts'
import { describeRatios, median } from '../ratios.ts'
import type { Target } from '../target.ts'
import { startCatracaOf } from '../targets/catraca.ts'
import { readDatabaseProcesses, readGatewayProcesses } from '../process-usage.ts'
import { startBalancer } from './start-balancer.ts'

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '8' },
    seconds: { type: 'string', default: '3' },
    /** Of each cell. */
    connections: { type: 'string', default: '32' },
    /** The share of each processor that a cell has; the load, the upstream and the balancer have the rest. */
    share: { type: 'string', default: '0.25' },
  },
})
const CELLS = ['a', 'b'] as const
const CUSTOMERS = 4
const WARM_UP_SECONDS = 10

const root = join(import.meta.dirname, '../..')
const { folder, processes, upstreamPort } = await openBenchRun('cells')
const cells = { a: await startCell('a'), b: await startCell('b') }
const port = await startBalancer(processes, folder, { a: cells.a.port, b: cells.b.port })
let answersInAll = 0

const print = (...columns: string[]): void =>
  void process.stdout.write(`| ${columns.join(' | ')} |\n`)
print('answers', 'one cell, requests/s', 'two cells', 'two / one')
print('---', '---', '---', '---')
for (const mode of ['plain', 'stream'] as const) {
  await load(['a', 'b'], mode, WARM_UP_SECONDS)
  const rounds: { one: Measurement; two: Measurement }[] = []
  for (let round = 0; round < Number(values.rounds); round += 1) {
    const alone = CELLS[round % 2] as 'a' | 'b'
    const one = await load([alone], mode)
    rounds.push({ one, two: await load(['a', 'b'], mode) })
  }
  const rate = (side: 'one' | 'two'): string =>
    median(rounds.map((round) => round[side].requestsPerSecond)).toFixed(0)
  const ratios = rounds.map(({ one, two }) => two.requestsPerSecond / one.requestsPerSecond)
  print(mode, rate('one'), rate('two'), describeRatios(ratios))
}

const pids = [...readGatewayProcesses(pidOf('b')), ...readDatabaseProcesses(pidOf('b'))]
const before = await load(['a'], 'plain')
for (const pid of pids) process.kill(pid, 'SIGSTOP')
const during = await load(['a'], 'plain')
for (const pid of pids) process.kill(pid, 'SIGCONT')
process.stdout.write(
  `\ncell b stopped: ${during.answers} answers of cell a, ${during.failures} failures, ${(during.requestsPerSecond / before.requestsPerSecond).toFixed(2)} of its requests/s before\n`,
)

const audits = [await cells.a.audit?.(), await cells.b.audit?.()]
const charges = audits.reduce((sum, audit) => sum + (audit?.charges ?? 0), 0)
const isSound = audits.every((audit) => audit?.isSound === true && audit.openHolds === 0)
process.stdout.write(
  `${answersInAll} answers, ${charges} charges, audits ${isSound ? 'sound' : 'NOT SOUND'}\n`,
)
await processes.stopAll()
process.exit(isSound && charges === answersInAll ? 0 : 1)

async function startCell(name: 'a' | 'b'): Promise<Target> {
  const own = join(folder, name)
  mkdirSync(own)
  const started = await startCatracaOf(root, {
    processes,
    upstreamPort,
    folder: own,
    customers: CUSTOMERS,
    cell: name,
  })
  if ('kind' in started) throw new Error(started.reason)
  limitToShare(started.pid as number, Number(values.share))
  return started
}

function pidOf(name: 'a' | 'b'): number {
  return cells[name].pid as number
}

async function load(
  names: readonly ('a' | 'b')[],
  mode: Mode,
  seconds = Number(values.seconds),
): Promise<Measurement> {
  const callers = names.flatMap((name) => cells[name].callers ?? [])
  const target = { ...cells.a, port, pid: undefined, callers }
  const connections = names.length * Number(values.connections)
  const measured = await measureTarget(
    processes,
    target,
    { plain: 0, stream: 0 },
    { mode, connections },
    { quietMsMax: 0, warmupSeconds: 0.3, seconds },
  )
  if (measured.failures > 0) throw new Error(`${names.join()}: ${measured.firstFailure}`)
  answersInAll += measured.answersInAll
  return measured
}
