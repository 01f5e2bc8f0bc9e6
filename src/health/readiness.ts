import type { Database } from '../db/open.ts'
import { answersInTime } from './answers-in-time.ts'

/** Why a balancer should send no request here. Anybody may read it, so it names no address and no setting. */
export type UnreadyReason = 'starting' | 'draining' | 'database' | 'lease' | 'no_worker'

export interface Readiness {
  /** Empty: requests are answered. */
  findUnready(): Promise<readonly UnreadyReason[]>
  /** The process is about to stop. */
  startDraining(): void
}

export function createReadiness(db: Database, holdsLease: () => boolean): Readiness {
  let isDraining = false
  return {
    async findUnready() {
      const reasons: UnreadyReason[] = []
      if (isDraining) reasons.push('draining')
      if (!(await answersInTime(db))) reasons.push('database')
      // Without it no hold is taken.
      if (!holdsLease()) reasons.push('lease')
      return reasons
    },
    startDraining() {
      isDraining = true
    },
  }
}
