/**
 * A node with its own network to the database and its own disk, both of which can fail, under a supervisor.
 */
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { findFreePort } from '../harness/find-free-port.ts'
import { startTestNode, type TestNode } from '../harness/test-node.ts'
import { mountDisk, type FillableDisk } from './fillable-disk.ts'
import { startTcpProxy, type TcpProxy } from './tcp-proxy.ts'

export interface FaultNode {
  readonly index: number
  /** With `/v1`. */
  readonly baseUrl: string
  readonly dataDir: string
  readonly network: TcpProxy
  /** Undefined on machines where no file system can be mounted. */
  readonly disk: FillableDisk | undefined
  /** SIGKILL. */
  kill(): Promise<void>
  /** Starts it again, as often as needed: a start fails while the database is unavailable. */
  start(): Promise<void>
  /** SIGSTOP and SIGCONT. */
  freeze(): void
  thaw(): void
  /** When it exited without being killed; the supervisor started it again. */
  readonly ownExits: readonly OwnExit[]
  /** Lines of its log that contain this text, over all its starts. */
  logLines(text: string): string[]
  remove(): Promise<void>
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

export async function createFaultNode(options: {
  index: number
  folder: string
  databaseUrl: () => string
  env: Record<string, string>
}): Promise<FaultNode> {
  const dataDir = join(options.folder, `node-${options.index}`)
  await mkdir(dataDir)
  const disk = mountDisk(dataDir)
  const network = await startTcpProxy(() => Number(new URL(options.databaseUrl()).port))
  const port = await findFreePort()
  const logs: (readonly string[])[] = []
  const ownExits: OwnExit[] = []
  let current: TestNode | undefined
  let starting: Promise<void> | undefined
  const removing = new AbortController()

  function throughNetwork(): string {
    const url = new URL(options.databaseUrl())
    url.port = String(network.port)
    url.search = ''
    return url.href
  }

  async function startUntilUp(): Promise<void> {
    while (!removing.signal.aborted) {
      try {
        const { env } = options
        const started = await startTestNode({ databaseUrl: throughNetwork(), dataDir, port, env })
        current = started
        logs.push(started.log)
        // After a kill it is no longer the current process.
        started.process.once('exit', () => current === started && startAfterOwnExit(started))
        return
      } catch {
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

  return {
    index: options.index,
    baseUrl: `http://127.0.0.1:${port}/v1`,
    dataDir,
    network,
    disk,
    async kill() {
      await starting
      const killed = current
      current = undefined
      await killed?.stop('SIGKILL')
    },
    start,
    ownExits,
    freeze: () => void current?.process.kill('SIGSTOP'),
    thaw: () => void current?.process.kill('SIGCONT'),
    logLines: (text) => logs.flatMap((log) => log.filter((line) => line.includes(text))),
    async remove() {
      removing.abort()
      const removed = current
      current = undefined
      await removed?.stop('SIGKILL')
      network.close()
      disk?.unmount()
      await rm(dataDir, { recursive: true, force: true })
    },
  }
}
