/**
 * READ THIS FIRST. `npm run bench`: direct, nginx, the peer and Catraca side by side, on 127.0.0.1,
 * with the same requests to the same upstream. Afterwards the audit proves Catraca's rows, and its
 * charges are compared with the upstream's count.
 *
 * This file decides the order; targets/ starts each target, load.ts measures it, render-report.ts
 * prints the report. The exit code is 1 if a request failed, the audit failed or the counts differ.
 */
import { chmodSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createBench, type Bench } from './create-bench.ts'
import { describeMachine } from './describe-machine.ts'
import type { Cell, Measurement } from './measure-target.ts'
import { parseOptions, usage, type Options } from './parse-options.ts'
import { planWarmUp } from './plan-warm-up.ts'
import { createProcesses } from './processes.ts'
import { readOptions } from './read-options.ts'
import { report } from './report.ts'
import { writeResults } from './write-results.ts'
import { renderReport } from './render-report.ts'
import type { Results } from './results.ts'
import { summariseRounds } from './summarise-rounds.ts'

const options = readOptions(parseOptions, usage)
const folder = createFolder()
const processes = createProcesses(folder)
let isStopping = false

process.once('exit', () => {
  processes.killAll()
  rmSync(folder, { recursive: true, force: true })
})
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.once(signal, () => void stopEarly(`stopped by ${signal}`, 130))
}
const minutesMax = planMinutes(options)
setTimeout(() => void stopEarly(`not done in ${minutesMax} min`, 1), minutesMax * 60_000).unref()

try {
  const results = await runBench(await createBench(processes, folder, options))
  await processes.stopAll()
  const path = writeResults(results)
  process.stdout.write(`\n${renderReport(results)}\n`)
  process.stderr.write(`${path}\n`)
  process.exit(results.faults.length === 0 ? 0 : 1)
} catch (error) {
  // A signal or the deadline aborts the running step, and so ends here too.
  if (!isStopping) {
    console.error(error)
    await stopEarly('the benchmark failed', 1)
  }
}

async function runBench(bench: Bench): Promise<Results> {
  const at = new Date().toISOString()
  const machine = describeMachine(folder)
  const cells = options.modes.flatMap((mode) =>
    options.connections.map((connections) => ({ mode, connections })),
  )
  for (const target of bench.targets) await bench.warmUp(target)

  const rounds = new Map<string, Measurement[]>()
  for (let round = 0; round < options.rounds; round += 1) {
    for (const cell of cells) {
      for (const target of rotate(bench.targets, round)) {
        const measurement = await bench.measure(target, cell)
        const key = keyOf(target.name, cell)
        rounds.set(key, [...(rounds.get(key) ?? []), measurement])
        report(`round ${round + 1}`, key, `${measurement.requestsPerSecond}/s`)
      }
    }
  }

  const slowStreams: Record<string, Results['slowStreams'][keyof Results['slowStreams']]> = {}
  if (options.slowStreams > 0) {
    for (const target of bench.targets.filter(({ name }) => name !== 'direct')) {
      report('slow streams', target.name)
      slowStreams[target.name] = await bench.runSlowStreams(target, options.slowStreams)
    }
  }

  const reconciliation = await bench.reconcile()
  const rows = cells.flatMap((cell) =>
    bench.targets.map(({ name }) =>
      summariseRounds(name, cell, rounds.get(keyOf(name, cell)) ?? []),
    ),
  )
  const { unavailable, faults } = bench
  return { at, options, machine, unavailable, rows, slowStreams, reconciliation, faults }
}

function keyOf(name: string, { mode, connections }: Cell): string {
  return `${name} ${mode} ${connections}`
}

/** Rotates the order, so that no target always follows the same other one. */
function rotate<T>(all: readonly T[], by: number): T[] {
  const at = by % Math.max(1, all.length)
  return [...all.slice(at), ...all.slice(0, at)]
}

/**
 * Avoids /tmp where possible: it is often in memory, where a durable commit costs nothing. Readable by
 * other users, because PostgreSQL refuses to run as root.
 */
function createFolder(): string {
  const path = mkdtempSync(join(existsSync('/var/tmp') ? '/var/tmp' : tmpdir(), 'catraca-bench-'))
  chmodSync(path, 0o755)
  return path
}

/** Twice the time of the measurements, plus time to install, start and stop. */
function planMinutes(plan: Options): number {
  const cells = plan.targets.length * plan.modes.length * plan.connections.length
  const measuring = cells * plan.rounds * (plan.seconds + plan.warmupSeconds + 3)
  const warmUp = planWarmUp(plan)
  const warmingUp = plan.targets.length * warmUp.cells.length * (warmUp.duration.seconds + 1)
  const slow = plan.slowStreams > 0 ? plan.targets.length * 45 : 0
  return Math.ceil(((warmingUp + measuring + slow) * 2) / 60) + 6
}

async function stopEarly(reason: string, code: number): Promise<never> {
  isStopping = true
  process.stderr.write(`${reason}; stopping the processes\n`)
  await processes.stopAll()
  process.exit(code)
}
