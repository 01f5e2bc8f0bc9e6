/**
 * Workers whose parent was killed end by themselves, unless they are stopped (SIGSTOP, a debugger): then they keep the
 * port of the server until they run again. Each worker has a file with its identity and its parent's, by which the next
 * start on the same data folder finds the stopped ones and lets them run.
 */
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isRunning, processIdentity } from '../lib/process-identity.ts'

/** `<pid>.<start>-<pid>.<start>`; without a start time another process may have the pid. */
const NAME = /^(\d+\.[1-9]\d*)-(\d+\.[1-9]\d*)$/

/** Called by a worker. The file goes with the process, or with the next start. */
export function registerWorker(dataDir: string): void {
  const folder = folderOf(dataDir)
  mkdirSync(folder, { recursive: true })
  const file = join(folder, `${processIdentity()}-${processIdentity(process.ppid)}`)
  writeFileSync(file, '')
  process.once('exit', () => rmSync(file, { force: true }))
}

/**
 * Lets every worker run that outlived its parent: it sees that the parent is gone, closes the port and ends with its
 * calls. No other process is signalled. Returns their pids.
 */
export function continueOrphans(dataDir: string): number[] {
  const continued: number[] = []
  for (const name of listNames(folderOf(dataDir))) {
    const [, worker, parent] = NAME.exec(name) ?? []
    if (worker === undefined || parent === undefined) continue
    if (!isRunning(worker)) rmSync(join(folderOf(dataDir), name), { force: true })
    else if (!isRunning(parent)) {
      const pid = Number(worker.split('.')[0])
      if (signal(pid)) continued.push(pid)
    }
  }
  return continued
}

function folderOf(dataDir: string): string {
  return join(dataDir, 'workers')
}

function listNames(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

/** False if it has just ended, or belongs to another account. */
function signal(pid: number): boolean {
  try {
    return process.kill(pid, 'SIGCONT')
  } catch {
    return false
  }
}
