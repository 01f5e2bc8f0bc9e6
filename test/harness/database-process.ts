/** A PostgreSQL under a supervisor of its own, which starts it again when it dies; both can be killed for good. */
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { isAlive } from '../../src/platform/lib/process-identity.ts'

export interface DatabaseProcess {
  /** Over its socket. */
  readonly databaseUrl: string
  readonly port: number
  /** With the folder `cluster` and the file `password`. */
  readonly folder: string
  start(): Promise<void>
  /** A fast shutdown. */
  stop(): Promise<void>
  /** SIGKILL of all its processes: nothing is written or answered any more, and nothing starts it again. */
  kill(): Promise<void>
  /** SIGKILL of its main process alone; the supervisor starts it again. */
  crash(): void
  /** SIGSTOP and SIGCONT of all its processes. */
  freeze(): void
  thaw(): void
}

const HAS_PROC = process.platform === 'linux'
const PROGRAM = join(import.meta.dirname, './start-database.ts')

export async function startDatabaseProcess(dataDir: string): Promise<DatabaseProcess> {
  let supervisor: ChildProcess
  let databaseUrl = ''
  let folder = ''
  const end = (): void => void supervisor.kill('SIGKILL')
  process.once('exit', end)

  async function start(): Promise<void> {
    const child = spawn(process.execPath, [PROGRAM, dataDir], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    supervisor = child
    let text = ''
    child.stdout.on('data', (data) => (text += String(data)))
    while (!text.endsWith('\n'))
      await Promise.race([once(child.stdout, 'data'), failWithEnd(child)])
    const started = JSON.parse(text) as { databaseUrl: string; folder: string }
    if (databaseUrl !== '' && started.databaseUrl !== databaseUrl)
      throw new Error('the database moved')
    databaseUrl = started.databaseUrl
    folder = started.folder
  }

  async function endSupervisor(signal: NodeJS.Signals): Promise<void> {
    if (supervisor.exitCode !== null || supervisor.signalCode !== null) return
    supervisor.kill(signal)
    await once(supervisor, 'exit')
  }

  const findMain = (): number | undefined => {
    const file = join(folder, 'cluster/postmaster.pid')
    if (!existsSync(file)) return undefined
    const pid = Number(readFileSync(file, 'utf8').split('\n')[0])
    // Another process may have this pid by now.
    const isOurs = !HAS_PROC || commandOf(pid).split('\0').includes(join(folder, 'cluster'))
    return isOurs && isAlive(pid) ? pid : undefined
  }

  /** Stops the main process first, so that none of its children is missed. */
  function freeze(): number[] {
    const main = findMain()
    if (main === undefined) return []
    signal(main, 'SIGSTOP')
    const all = [main, ...childrenOf(main)]
    for (const pid of all) signal(pid, 'SIGSTOP')
    return all
  }

  await start()
  return {
    get databaseUrl() {
      return databaseUrl
    },
    get port() {
      return Number(new URL(databaseUrl).port)
    },
    get folder() {
      return folder
    },
    start,
    stop: () => endSupervisor('SIGTERM'),
    async kill() {
      await endSupervisor('SIGKILL')
      const killed = freeze()
      for (const pid of killed) signal(pid, 'SIGKILL')
      while (killed.some(isRunning)) await sleep(20)
    },
    crash() {
      const main = findMain()
      if (main !== undefined) signal(main, 'SIGKILL')
    },
    freeze: () => void freeze(),
    thaw() {
      const main = findMain()
      if (main === undefined) return
      for (const pid of [...childrenOf(main), main]) signal(pid, 'SIGCONT')
    },
  }
}

/** Empty once it has ended, also while its parent has not noticed. */
function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8')
  } catch {
    return ''
  }
}

function isRunning(pid: number): boolean {
  return HAS_PROC ? commandOf(pid) !== '' : isAlive(pid)
}

/** Elsewhere than on Linux the processes of a database end with their main process. */
function childrenOf(parent: number): number[] {
  if (!HAS_PROC) return []
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => pid > 0 && parentOf(pid) === parent)
}

function parentOf(pid: number): number | undefined {
  try {
    // After the name in brackets, which may hold anything: the state and the parent.
    const [, parent] =
      readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? []
    return Number(parent)
  } catch {
    return undefined
  }
}

/** It may just have ended. */
function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

async function failWithEnd(child: ChildProcess): Promise<never> {
  await once(child, 'exit')
  throw new Error('the database did not start')
}
