/**
 * The child processes of a run: all are started here, so that all can be stopped here in any
 * case. Their output goes to files, as in production, not through this process.
 */
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { openSync, closeSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { descendantsOf, isAlive, type ProcessId } from './process-usage.ts'

export interface Command {
  readonly name: string
  readonly command: string
  readonly args: readonly string[]
  readonly env?: Readonly<Record<string, string | undefined>>
  readonly cwd?: string
  /** Of `run`: its standard input. An argument may have at most 128 kB. */
  readonly input?: string
}

export interface RunningProcess {
  readonly pid: number
}

export interface Finished {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

export interface Processes {
  /** Starts a server and waits until `url` answers 200. */
  start(command: Command & { readonly readyUrl: string }): Promise<RunningProcess>
  /** Runs a command to its end, or kills it after `timeoutMs`. */
  run(command: Command, timeoutMs: number): Promise<Finished>
  /** Asks all processes to stop, and kills the ones that do not. */
  stopAll(): Promise<void>
  /** For the exit of this process, which cannot wait. */
  killAll(): void
}

/** Before they are ready, PostgreSQL creates its directory and Portkey shows an animation of one second. */
const START_MS_MAX = 60_000
/** Enough for a gateway to drain its requests and stop its database. */
const STOP_MS_MAX = 15_000

export function createProcesses(folder: string): Processes {
  const children = new Set<ChildProcess>()
  /** Child processes of the servers, mainly databases: they may outlive a server that crashes. */
  const descendants: ProcessId[] = []

  function launch(command: Command, stdio: 'pipe' | number): ChildProcess {
    const child = spawn(command.command, command.args, {
      stdio: [command.input === undefined ? 'ignore' : 'pipe', stdio, stdio],
      env: { ...process.env, ...command.env },
      cwd: command.cwd ?? folder,
    })
    children.add(child)
    child.once('exit', () => children.delete(child))
    return child
  }

  return {
    async start(command) {
      const logPath = join(folder, `${command.name}.log`)
      const log = openSync(logPath, 'a')
      const child = launch(command, log)
      closeSync(log)
      const failure = once(child, 'error').then(([error]) => {
        throw error
      })
      try {
        await Promise.race([waitUntilUp(child, command.readyUrl), failure])
      } catch (error) {
        await stopTree(child)
        throw new Error(`${command.name} did not start:\n${tailOf(logPath)}`, { cause: error })
      }
      failure.catch(() => undefined)
      descendants.push(...descendantsOf(child.pid!))
      return { pid: child.pid! }
    },

    async run(command, timeoutMs) {
      const child = launch(command, 'pipe')
      const timer = setTimeout(() => killTree(child), timeoutMs)
      // It may end before it has read all.
      child.stdin?.on('error', () => {}).end(command.input)
      let stdout = ''
      let stderr = ''
      child.stdout!.setEncoding('utf8').on('data', (text: string) => (stdout += text))
      child.stderr!.setEncoding('utf8').on('data', (text: string) => (stderr += text))
      try {
        const [code] = (await once(child, 'close')) as [number | null]
        return { code: code ?? -1, stdout, stderr }
      } finally {
        clearTimeout(timer)
      }
    },

    async stopAll() {
      await Promise.all([...children].map(stopTree))
      killAlive(descendants)
    },

    killAll() {
      for (const child of children) killTree(child)
      killAlive(descendants)
    },
  }
}

async function waitUntilUp(child: ChildProcess, url: string): Promise<void> {
  const deadline = Date.now() + START_MS_MAX
  while (Date.now() < deadline) {
    if (hasExited(child)) throw new Error(`exited with ${child.exitCode ?? child.signalCode}`)
    const status = await fetch(url).then(
      (response) => response.arrayBuffer().then(() => response.status),
      () => 0,
    )
    if (status === 200) return
    await sleep(50)
  }
  throw new Error(`${url} gave no 200 in ${START_MS_MAX} ms`)
}

async function stopTree(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || hasExited(child)) return
  // A process that outlives its parent can be found only while the parent lives.
  const descendants = descendantsOf(child.pid)
  const exit = once(child, 'exit')
  child.kill('SIGTERM')
  await Promise.race([exit, sleep(STOP_MS_MAX, undefined, { ref: false })])
  if (!hasExited(child)) child.kill('SIGKILL')
  killAlive(descendants)
}

function killTree(child: ChildProcess): void {
  if (child.pid === undefined) return
  const descendants = descendantsOf(child.pid)
  child.kill('SIGKILL')
  killAlive(descendants)
}

function killAlive(all: readonly ProcessId[]): void {
  for (const one of all.filter(isAlive)) {
    try {
      process.kill(one.pid, 'SIGKILL')
    } catch {
      // It has just ended.
    }
  }
}

function hasExited(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null
}

function tailOf(path: string): string {
  return readFileSync(path, 'utf8').slice(-2000)
}
