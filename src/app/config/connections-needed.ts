import { splitHosts } from '../../platform/db/database-address.ts'
import { POOL_MAX } from '../../platform/db/open.ts'
import type { Config } from './config.ts'

/** The pool for reading, the heartbeat and the listener. */
const PER_PROCESS = POOL_MAX + 1 + 1
/** The pool, and the watch. */
const PER_REPLICA = POOL_MAX + 1
/** One that holds and charges, and one for the accounts that another transaction keeps locked. */
const PER_LANE = 2
/** Of pg-boss. */
const FOR_JOBS = 3

/** Returns the most database connections that a server with this configuration opens. */
export function connectionsNeeded({
  workers,
  ledgerLanes,
}: Pick<Config, 'workers' | 'ledgerLanes'>): number {
  const processes = workers > 1 ? workers + 1 : 1
  return processes * (PER_PROCESS + PER_LANE * ledgerLanes) + FOR_JOBS
}

/** Returns the most connections to replicas that one process opens. */
export function replicaConnections({ databaseReadUrl }: Pick<Config, 'databaseReadUrl'>): number {
  return databaseReadUrl === undefined ? 0 : PER_REPLICA * splitHosts(databaseReadUrl).length
}
