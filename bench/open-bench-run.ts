/** What the small benchmarks begin with: a folder, processes that end with this one, and the counting upstream. */
import { chmodSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findFreePort } from '../test/harness/find-free-port.ts'
import { pinnedTo } from './pinned-to.ts'
import { createProcesses, type Processes } from './processes.ts'

export interface BenchRun {
  /** Is removed when this process ends. */
  readonly folder: string
  readonly processes: Processes
  readonly upstreamPort: number
  /** Another port of the same upstream. */
  readonly latePort: number
  /** Answers with an `UpstreamCount`. */
  readonly countUrl: string
}

/** `upstreamCpus` are the processors of the upstream; all if none are named. */
export async function openBenchRun(name: string, upstreamCpus?: string): Promise<BenchRun> {
  // Not in /tmp where possible: it is often in memory, where a durable commit costs nothing.
  const parent = existsSync('/var/tmp') ? '/var/tmp' : tmpdir()
  const folder = mkdtempSync(join(parent, `catraca-${name}-`))
  // PostgreSQL runs under another account if this process is root.
  chmodSync(folder, 0o755)
  const processes = createProcesses(folder)
  process.once('exit', () => {
    processes.killAll()
    rmSync(folder, { recursive: true, force: true })
  })
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130))

  const upstreamPort = await findFreePort()
  const latePort = await findFreePort()
  const countUrl = `http://127.0.0.1:${upstreamPort}/count`
  await pinnedTo(processes, upstreamCpus).start({
    name: 'upstream',
    command: process.execPath,
    args: [join(import.meta.dirname, './upstream.ts'), String(upstreamPort), String(latePort)],
    readyUrl: countUrl,
  })
  return { folder, processes, upstreamPort, latePort, countUrl }
}
