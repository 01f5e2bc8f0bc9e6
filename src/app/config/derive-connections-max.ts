import { readFileSync } from 'node:fs'
import type { Log } from '../../platform/lib/log.ts'
import type { Config } from './config.ts'
import { splitHosts } from '../../platform/db/database-address.ts'
import { POOL_MAX } from '../../platform/db/open.ts'

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
function replicaConnections({ databaseReadUrl }: Pick<Config, 'databaseReadUrl'>): number {
  return databaseReadUrl === undefined ? 0 : PER_REPLICA * splitHosts(databaseReadUrl).length
}

/** Log, spool, delivery notes, event loop, webhooks, mails, uploads, and the connections that are only refused. */
const FOR_THE_REST = 96
/** The client's and the upstream's; in sandbox mode the upstream runs in this process, and has the other end. */
const PER_CALL = { live: 2, sandbox: 3 }
const FEW = 1_000

type DescriptorUse = Pick<Config, 'mode' | 'connectionsMax' | 'ledgerLanes' | 'databaseReadUrl'>

/**
 * Returns how many open client connections this process can serve: each may run a call, which takes further
 * descriptors. Above the limit of descriptors nothing is served at all, because no upstream can be reached.
 */
export function deriveConnectionsMax(
  config: DescriptorUse,
  descriptors: number | undefined,
): number | undefined {
  const { connectionsMax, mode } = config
  if (descriptors === undefined) return connectionsMax
  const ofDatabases = connectionsNeeded({ ...config, workers: 1 }) + replicaConnections(config)
  const left = descriptors - ofDatabases - FOR_THE_REST
  const affordable = Math.max(1, Math.floor(left / PER_CALL[mode]))
  return Math.min(connectionsMax ?? affordable, affordable)
}

/**
 * Returns how many descriptors this process may open; undefined where the system does not say it (not Linux) or sets no
 * limit. Node.js has raised its own limit to the highest that is allowed.
 */
export function readDescriptorLimit(file = '/proc/self/limits'): number | undefined {
  try {
    const found = /^Max open files\s+(\d+)/m.exec(readFileSync(file, 'utf8'))
    return found ? Number(found[1]) : undefined
  } catch {
    return undefined
  }
}

/** Warns once for each server, at its start, if it may open few descriptors. */
export function warnOfFewDescriptors(config: DescriptorUse, log: Log): void {
  const descriptors = readDescriptorLimit()
  const affordable = deriveConnectionsMax({ ...config, connectionsMax: undefined }, descriptors)
  if (affordable === undefined || affordable >= Math.min(config.connectionsMax ?? FEW, FEW)) return
  const note = `this process may open ${descriptors} files and connections, so each process serves ${affordable} client connections at once: raise the limit (ulimit -n, LimitNOFILE)`
  log.warn('few_descriptors', { descriptors, connectionsMax: affordable, note })
}
