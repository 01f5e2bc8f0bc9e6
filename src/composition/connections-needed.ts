import type { Config } from './config.ts'

/** The pool for reading (`db/open.ts`), the heartbeat and the listener. */
const PER_PROCESS = 10 + 1 + 1
/** One that holds and charges, and one for the accounts that another transaction keeps locked. */
const PER_LANE = 2
/** Of pg-boss. */
const FOR_JOBS = 3

/** The most database connections that a server with this configuration opens. */
export function connectionsNeeded({
  workers,
  ledgerLanes,
}: Pick<Config, 'workers' | 'ledgerLanes'>): number {
  const processes = workers > 1 ? workers + 1 : 1
  return processes * (PER_PROCESS + PER_LANE * ledgerLanes) + FOR_JOBS
}
