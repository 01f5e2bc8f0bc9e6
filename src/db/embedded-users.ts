/** Which processes use an embedded database, and a lock around starting and stopping it. */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { isRunning, processIdentity } from '../lib/process-identity.ts'

const LOCK_MS_MAX = 60_000

/** Notes this process; the returned function strikes it out and says whether it was the last. */
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

/** One process at a time starts or stops the database; the lock of a dead process is broken. */
export async function withStartLock<Result>(
  home: string,
  work: () => Promise<Result>,
): Promise<Result> {
  const lock = join(home, 'start.lock')
  for (const deadline = Date.now() + LOCK_MS_MAX; ;) {
    try {
      writeFileSync(lock, processIdentity(), { flag: 'wx' })
      break
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
      if (Date.now() > deadline) throw new Error(`another process holds ${lock}`, { cause: error })
      const holder = readLock(lock)
      if (holder !== '' && !isRunning(holder)) rmSync(lock, { force: true })
      await sleep(50)
    }
  }
  try {
    return await work()
  } finally {
    rmSync(lock, { force: true })
  }
}

function readLock(lock: string): string {
  try {
    return readFileSync(lock, 'utf8')
  } catch {
    return ''
  }
}
