import { statfs } from 'node:fs/promises'
import { sql } from 'kysely'
import type { Database } from '../db/open.ts'

/** A database that does not answer in this time counts as unavailable. */
const DATABASE_TIMEOUT_MS = 2_000
/** Anybody may ask, so concurrent requests share one query. */
const running = new WeakMap<Database, Promise<boolean>>()

export function answersInTime(db: Database): Promise<boolean> {
  const shared = running.get(db)
  if (shared) return shared
  const answer = askDatabase(db).finally(() => running.delete(db))
  running.set(db, answer)
  return answer
}

async function askDatabase(db: Database): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined
  const timeout = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), DATABASE_TIMEOUT_MS)
  })
  const answer = sql`select 1`.execute(db).then(
    () => true,
    () => false,
  )
  try {
    return await Promise.race([answer, timeout])
  } finally {
    clearTimeout(timer)
  }
}

/** Why a balancer should send no request here. Anybody may read it, so it names no address and no setting. */
export type UnreadyReason = 'starting' | 'draining' | 'database' | 'disk' | 'lease' | 'no_worker'

export interface Readiness {
  /** Empty: requests are answered. */
  findUnready(): Promise<readonly UnreadyReason[]>
  /** The process is about to stop. */
  startDraining(): void
}

/** A segment of PostgreSQL's log of changes: a database that cannot make one stops. */
const FREE_BYTES_MIN = 16 * 1024 ** 2

export function createReadiness(
  db: Database,
  holdsLease: () => boolean,
  /** A database elsewhere needs no room on the disk of `dataDir`: when that is full, calls go on. */
  { databaseUrl, dataDir }: { readonly databaseUrl: string | undefined; readonly dataDir: string },
): Readiness {
  let isDraining = false
  return {
    async findUnready() {
      const reasons: UnreadyReason[] = []
      if (isDraining) reasons.push('draining')
      if (!(await answersInTime(db))) reasons.push('database')
      if (databaseUrl === undefined && (await isFull(dataDir))) reasons.push('disk')
      // Without it no hold is taken.
      if (!holdsLease()) reasons.push('lease')
      return reasons
    },
    startDraining() {
      isDraining = true
    },
  }
}

/** A disk that cannot be measured does not count as full. */
async function isFull(folder: string): Promise<boolean> {
  return statfs(folder).then(
    ({ bavail, bsize }) => bavail * bsize < FREE_BYTES_MIN,
    () => false,
  )
}
