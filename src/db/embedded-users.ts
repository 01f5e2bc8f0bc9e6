/** Which processes use an embedded database, and a lock around starting and stopping it. */
import {
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

/** Longer than a start may take. */
const LOCK_MS_MAX = 150_000

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
  const mine = `${lock}.${processIdentity()}-${Math.random().toString(36).slice(2)}`
  for (const deadline = Date.now() + LOCK_MS_MAX; ;) {
    try {
      // Written before it has its name, so that nobody sees a lock without its holder.
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

/** Of two that see a dead holder one takes its lock away; a lock that a living one took since goes back. */
function breakLock(lock: string, aside: string): void {
  try {
    renameSync(lock, aside)
    if (isRunning(readLock(aside))) linkSync(aside, lock)
  } catch {
    // Somebody else was faster.
  }
}

function readLock(lock: string): string {
  try {
    return readFileSync(lock, 'utf8')
  } catch {
    return ''
  }
}
