/** The processes that use an embedded database, and a lock for starting and stopping it. */
import {
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { isRunning, processIdentity } from '../lib/process-identity.ts'

/** Longer than a start can take. */
const LOCK_MS_MAX = 150_000

/** Registers this process; the returned function removes it, and returns true for the last one. */
export function registerUser(home: string): () => boolean {
  const dir = join(home, 'users')
  mkdirSync(dir, { recursive: true })
  const mine = join(dir, `${processIdentity()}-${Math.random().toString(36).slice(2)}`)
  writeFileSync(mine, '')
  return () => {
    rmSync(mine, { force: true })
    const others = readdirSync(dir).filter((name) => {
      if (isRunning(name.split('-')[0] as string)) return true
      rmSync(join(dir, name), { force: true })
      return false
    })
    return others.length === 0
  }
}

/** Whether a living process is registered; asking registers none. */
export function hasUsers(home: string): boolean {
  const dir = join(home, 'users')
  return existsSync(dir) && readdirSync(dir).some((name) => isRunning(name.split('-')[0] as string))
}

/**
 * Runs `work` while no other process starts or stops the database. The lock of a dead process is removed. Throws if a
 * living one holds it for too long.
 */
export async function withStartLock<Result>(
  home: string,
  work: () => Promise<Result>,
): Promise<Result> {
  const lock = join(home, 'start.lock')
  const mine = `${lock}.${processIdentity()}-${Math.random().toString(36).slice(2)}`
  for (const deadline = Date.now() + LOCK_MS_MAX; ;) {
    try {
      // Written before it gets its name, so that every visible lock has a holder.
      writeFileSync(mine, processIdentity())
      linkSync(mine, lock)
      break
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
      if (Date.now() > deadline) throw new Error(`another process holds ${lock}`, { cause: error })
      if (!isRunning(readLock(lock))) breakLock(lock, mine)
      await sleep(50)
    } finally {
      rmSync(mine, { force: true })
    }
  }
  try {
    return await work()
  } finally {
    rmSync(lock, { force: true })
  }
}

/** If two processes see a dead holder, one removes its lock; a lock that a living process took since is put back. */
function breakLock(lock: string, aside: string): void {
  try {
    renameSync(lock, aside)
    if (isRunning(readLock(aside))) linkSync(aside, lock)
  } catch {
    // Another process was faster.
  }
}

function readLock(lock: string): string {
  try {
    return readFileSync(lock, 'utf8')
  } catch {
    return ''
  }
}

/** The account that runs the database: PostgreSQL refuses root, so root starts it under another account. */
export interface Account {
  readonly ids: { readonly uid?: number; readonly gid?: number }
}

export function runAs(): Account {
  if (process.getuid?.() !== 0) return { ids: {} }
  const lines = readFileSync('/etc/passwd', 'utf8').split('\n')
  for (const name of ['postgres', 'nobody']) {
    const fields = lines.find((line) => line.startsWith(`${name}:`))?.split(':')
    if (fields) return { ids: { uid: Number(fields[2]), gid: Number(fields[3]) } }
  }
  return { ids: { uid: 65_534, gid: 65_534 } }
}
