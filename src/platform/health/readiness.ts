import { statfs } from 'node:fs/promises'
import type { Database } from '../db/open.ts'
import { answersInTime } from './answers-in-time.ts'

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
