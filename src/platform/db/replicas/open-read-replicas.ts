/**
 * The replicas that heavy reads go to. Each is watched every second; the first one that answers, follows the primary and
 * is not too far behind is read, and the primary where there is none. A dead replica costs no request a connect timeout:
 * requests use only what the watch found well.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { Kysely, PostgresDialect } from 'kysely'
import type pg from 'pg'
import type { Log } from '../../lib/log.ts'
import { createNaturalBatcher } from '../../lib/natural-batcher.ts'
import { splitHosts } from '../database-address.ts'
import type { Database } from '../open.ts'
import { queryPool } from '../query-pool.ts'
import type { Tables } from '../tables.ts'
import { readOnlyPool } from './fall-back-pool.ts'
import {
  readPrimaryPosition,
  openReadReplica,
  type PrimaryMoment,
  type ReadReplica,
  type ReplicaState,
} from './read-replica.ts'

export interface PickedReplica {
  readonly db: Database
  /** Every change committed before this time is in the answer. */
  readonly asOf: Date
}

export interface ReadReplicas {
  /** Undefined: the primary is to be read. */
  pick(): Promise<PickedReplica | undefined>
  /** The primary, with the limits of a replica: it refuses to write, and takes single statements only. */
  readonly primary: Database
  list(): readonly ReplicaState[]
  close(): Promise<void>
}

export function noReplicas(primary: pg.Pool): ReadReplicas {
  return {
    pick: async () => undefined,
    primary: openReadOnly(primary),
    list: () => [],
    close: async () => {},
  }
}

function openReadOnly(primary: pg.Pool): Database {
  return new Kysely<Tables>({ dialect: new PostgresDialect({ pool: readOnlyPool(primary) }) })
}

const WATCH_EVERY_MS = 1_000
/** How long a read waits for the primary's position; without it, the read does not wait for the replica either. */
const MOMENT_MS_MAX = 250
const CONFLICT_LOG_MS = 60_000
const ALL = 1_000_000

export function openReadReplicas(
  readUrl: string,
  { primary, ageMsMax, log }: { primary: pg.Pool; ageMsMax: number; log: Log },
): ReadReplicas {
  let conflictLoggedMs = -Infinity
  const replicas = splitHosts(readUrl).map((url) =>
    openReadReplica(url, {
      primary,
      ageMsMax,
      onDoubt: watch,
      onError: (error) => log.debug('replica_connection_failed', { error }),
      onChange: (state) => logChange(log, state),
      onConflict(replica, error) {
        if (performance.now() - conflictLoggedMs < CONFLICT_LOG_MS) return
        conflictLoggedMs = performance.now()
        log.info('replica_conflict', { replica, error })
      },
    }),
  )
  const ask = createNaturalBatcher<undefined, PrimaryMoment>(ALL, async (askers) => {
    const atMs = performance.now()
    const found = await readPrimaryPosition(
      async (text) => (await queryPool(primary, text)).rows[0],
    )
    const moment = { ...found, atMs }
    for (const replica of replicas) replica.primaryAt(moment)
    return askers.map(() => moment)
  })
  const nextMoment = (): Promise<PrimaryMoment | undefined> =>
    ask.submit(undefined).catch(() => undefined)

  let watching: Promise<unknown> | undefined
  function watch(): void {
    watching ??= nextMoment()
      .then((moment) => Promise.all(replicas.map((replica) => replica.watch(moment))))
      .finally(() => (watching = undefined))
  }
  watch()
  const timer = setInterval(watch, WATCH_EVERY_MS)

  const wellOne = (): ReadReplica | undefined => replicas.find(({ state }) => !state.trouble)
  return {
    async pick() {
      const wanted = wellOne()
      if (!wanted) return undefined
      const waited = sleep(MOMENT_MS_MAX, undefined, { ref: false })
      const moment = await Promise.race([nextMoment(), waited])
      if (moment && !(await wanted.catchUp(moment))) return undefined
      const { trouble, ageMs } = wanted.state
      if (trouble || ageMs === undefined) return undefined
      return { db: wanted.db, asOf: new Date(Date.now() - ageMs) }
    },
    primary: openReadOnly(primary),
    list: () => replicas.map(({ state }) => state),
    async close() {
      clearInterval(timer)
      await Promise.all(replicas.map((replica) => replica.close()))
      await watching
    },
  }
}

function logChange(log: Log, { name: replica, trouble, ageMs }: ReplicaState): void {
  const lagSeconds = ageMs === undefined ? undefined : Math.round(ageMs / 1000)
  if (trouble) log.warn('replica_left', { replica, trouble, lagSeconds })
  else log.info('replica_read', { replica })
}
