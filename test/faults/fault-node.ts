/**
 * A node with its own network to the database and its own disk, both of which can fail, under a supervisor.
 */
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { findFreePort } from '../harness/find-free-port.ts'
import type { DatabasePair } from '../harness/database-pair.ts'
import { startTestNode, type TestNode } from '../harness/test-node.ts'
import { isRunning, processIdentity } from '../../src/platform/lib/process-identity.ts'
import { workersOf, type WorkerProcess } from '../harness/workers-of.ts'
import { createFakeClock, type FakeClock } from './fake-clock.ts'
import { mountDisk, type FillableDisk } from './fillable-disk.ts'
import { joinNetworks, startTcpProxy, type Network, type TcpProxy } from './tcp-proxy.ts'

export interface FaultNode {
  readonly index: number
  /** With `/v1`. */
  readonly baseUrl: string
  readonly port: number
  readonly dataDir: string
  /** To both databases. */
  readonly network: Network
  /** Undefined on machines where no file system can be mounted. */
  readonly disk: FillableDisk | undefined
  /** Undefined for a node whose clock is never set, and on machines without libfaketime. */
  readonly clock: FakeClock | undefined
  /** SIGTERM; resolves when it has drained and ended. */
  terminate(): Promise<void>
  /** SIGHUP; resolves when all its workers have been replaced. */
  reload(): Promise<void>
  /** From the next start on; undefined: this one. */
  setRelease(release: OtherRelease | undefined): void
  /** SIGKILL, of its workers too. */
  kill(): Promise<void>
  /** Its workers live on until their calls have ended. */
  killParent(): Promise<void>
  /** Returns its pid; undefined if no worker with this number is ready. */
  signalWorker(number: number, signal: NodeJS.Signals): number | undefined
  /** Whether the worker with this pid is gone, and as many are ready as before. */
  hasReplaced(pid: number): boolean
  /** Starts it again, as often as needed: a start fails while the database is unavailable. */
  start(): Promise<void>
  /** SIGSTOP and SIGCONT, of its workers too. */
  freeze(): void
  thaw(): void
  /** When it exited without being killed; the supervisor started it again. */
  readonly ownExits: readonly OwnExit[]
  /** Lines of its log that contain this text, over all its starts. */
  logLines(text: string): string[]
  remove(): Promise<void>
}

/** A release that another folder holds. */
export interface OtherRelease {
  readonly program: string
  readonly env: Readonly<Record<string, string>>
}

export interface OwnExit {
  readonly fromMs: number
  /** Infinity until it is up again. */
  toMs: number
  /** The last lines of its log. */
  readonly how: string
  /**
   * In sandbox mode a node listens before it has finished starting: it exits if the database becomes
   * unavailable then.
   */
  readonly isFailedStart: boolean
}

const START_AGAIN_MS = 500
/** No fault of the database lasts so long: what fails then is the start. */
const START_AGAIN_MS_MAX = 420_000
/** Longer than the drain and the end of everything else. */
const REPLACED_MS_MAX = 90_000

export async function createFaultNode(options: {
  index: number
  folder: string
  database: DatabasePair
  env: Record<string, string>
  /** Its clock can be set. */
  hasClock: boolean
}): Promise<FaultNode> {
  const dataDir = join(options.folder, `node-${options.index}`)
  await mkdir(dataDir)
  const disk = mountDisk(dataDir)
  const { database } = options
  const proxies = await Promise.all(database.ports.map((port) => startTcpProxy(port)))
  const network = joinNetworks(proxies)
  const proxyOf = (databasePort: number): number =>
    (proxies[database.ports.indexOf(databasePort)] as TcpProxy).port
  // The node finds out by itself which of the two takes writes.
  const databaseUrl = database.ports.reduce(
    (url, databasePort) => url.replace(`:${databasePort}`, `:${proxyOf(databasePort)}`),
    database.databaseUrl,
  )
  const clock = options.hasClock
    ? createFakeClock(join(options.folder, `node-${options.index}.clock`))
    : undefined
  const port = await findFreePort()
  const logs: (readonly string[])[] = []
  const ownExits: OwnExit[] = []
  let current: TestNode | undefined
  let starting: Promise<void> | undefined
  let release: OtherRelease | undefined
  /** Workers whose parent was killed. */
  const orphans: string[] = []
  const removing = new AbortController()

  async function startUntilUp(): Promise<void> {
    const deadline = Date.now() + START_AGAIN_MS_MAX
    while (!removing.signal.aborted) {
      try {
        const started = await startTestNode({
          databaseUrl,
          dataDir,
          port,
          env: { ...options.env, ...clock?.env, ...release?.env },
          ...(release ? { program: release.program } : {}),
        })
        // Workers whose parent was killed may have answered in its place.
        await untilListening(started)
        current = started
        logs.push(started.log)
        // After a kill it is no longer the current process.
        started.process.once('exit', () => current === started && startAfterOwnExit(started))
        return
      } catch (error) {
        if (Date.now() > deadline) throw error
        await sleep(START_AGAIN_MS)
      }
    }
  }

  function start(): Promise<void> {
    starting ??= startUntilUp().finally(() => (starting = undefined))
    return starting
  }

  function startAfterOwnExit({ log, process }: TestNode): void {
    const ended = process.signalCode ?? `exit ${process.exitCode}`
    const exit: OwnExit = {
      fromMs: Date.now(),
      toMs: Infinity,
      how: `node ${options.index}, ${new Date().toISOString()}, ${ended}: ${log.slice(-5).join('\n        ')}`,
      isFailedStart: log.some((line) => line.startsWith('Catraca could not start')),
    }
    ownExits.push(exit)
    current = undefined
    void start().then(() => (exit.toMs = Date.now()))
  }

  function reportExit(how: string): void {
    const nowMs = Date.now()
    ownExits.push({
      fromMs: nowMs,
      toMs: nowMs,
      how: `node ${options.index}, ${new Date(nowMs).toISOString()}, ${how}`,
      isFailedStart: false,
    })
  }

  return {
    index: options.index,
    baseUrl: `http://127.0.0.1:${port}/v1`,
    port,
    dataDir,
    network,
    disk,
    clock,
    async terminate() {
      await starting
      const ended = current
      current = undefined
      const limit = setTimeout(() => {
        reportExit('SIGTERM did not end it')
        signalWorkers(ended, 'SIGKILL')
        ended?.process.kill('SIGKILL')
      }, REPLACED_MS_MAX)
      await ended?.stop('SIGTERM')
      clearTimeout(limit)
      const code = ended?.process.exitCode
      if (ended && code !== 0 && code !== null) reportExit(`SIGTERM ended it with code ${code}`)
    },
    async reload() {
      await starting
      const old = livingWorkersOf(current).map(({ pid }) => pid)
      current?.process.kill('SIGHUP')
      for (const deadline = Date.now() + REPLACED_MS_MAX; ; await sleep(50)) {
        const workers = livingWorkersOf(current)
        const isReplaced = workers.every(({ pid }) => !old.includes(pid))
        if (isReplaced && workers.length === old.length) return
        if (Date.now() > deadline) return reportExit('SIGHUP did not replace its workers')
      }
    },
    setRelease(next) {
      release = next
    },
    async kill() {
      await starting
      const killed = current
      current = undefined
      // Before their parent, which would replace them; stopped, it cannot.
      killed?.process.kill('SIGSTOP')
      signalWorkers(killed, 'SIGKILL')
      await killed?.stop('SIGKILL')
    },
    async killParent() {
      await starting
      const killed = current
      current = undefined
      orphans.push(...livingWorkersOf(killed).map(({ pid }) => processIdentity(pid)))
      await killed?.stop('SIGKILL')
    },
    signalWorker(number, signal) {
      const found = livingWorkersOf(current).find(({ worker }) => worker === number)
      if (found) signalProcess(found.pid, signal)
      return found?.pid
    },
    hasReplaced: (pid) => {
      const workers = livingWorkersOf(current)
      return (
        workers.length === Number(options.env.WORKERS) &&
        workers.every((worker) => worker.pid !== pid)
      )
    },
    start,
    ownExits,
    freeze() {
      current?.process.kill('SIGSTOP')
      signalWorkers(current, 'SIGSTOP')
    },
    thaw() {
      signalWorkers(current, 'SIGCONT')
      current?.process.kill('SIGCONT')
    },
    logLines: (text) => logs.flatMap((log) => log.filter((line) => line.includes(text))),
    async remove() {
      removing.abort()
      const removed = current
      current = undefined
      removed?.process.kill('SIGSTOP')
      signalWorkers(removed, 'SIGKILL')
      for (const identity of orphans)
        if (isRunning(identity)) signalProcess(Number(identity.split('.')[0]), 'SIGKILL')
      await removed?.stop('SIGKILL')
      network.close()
      clock?.close()
      disk?.unmount()
      await rm(dataDir, { recursive: true, force: true })
    },
  }
}

/** Throws if it ends before. */
async function untilListening({ log, process }: TestNode): Promise<void> {
  for (; !log.some((line) => line.includes('"listening"')); await sleep(50))
    if (process.exitCode !== null || process.signalCode !== null)
      throw new Error(`the server did not come up:\n${log.slice(-20).join('\n')}`)
}

/** Their parent, which has not reaped them, lives: no other process has their pids. */
function livingWorkersOf(node: TestNode | undefined): WorkerProcess[] {
  return node && node.process.exitCode === null && node.process.signalCode === null
    ? workersOf(node)
    : []
}

function signalWorkers(node: TestNode | undefined, signal: NodeJS.Signals): void {
  for (const { pid } of livingWorkersOf(node)) signalProcess(pid, signal)
}

/** It may just have ended. */
function signalProcess(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}
