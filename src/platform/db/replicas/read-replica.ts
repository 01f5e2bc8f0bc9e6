/** One replica: its pool, how old its data is, and whether it may be read. */
import { setTimeout as sleep } from 'node:timers/promises'
import { Kysely, PostgresDialect } from 'kysely'
import pg from 'pg'
import { createNaturalBatcher } from '../../lib/natural-batcher.ts'
import { readDatabaseAddress } from '../database-address.ts'
import { DatabaseClient } from '../database-client.ts'
import { destroyClient } from '../destroy-client.ts'
import { isDatabaseUnavailable } from '../database-errors.ts'
import { connectionConfig, openPool, POOL_MAX, type Database } from '../open.ts'
import type { Tables } from '../tables.ts'
import { fallBackPool } from './fall-back-pool.ts'
import { ReplicaLag, type Position } from './replica-lag.ts'

interface PrimaryPosition {
  readonly position: Position
  /** Names the cluster and the database in it; a copy has the same name. */
  readonly system: string
}

interface ReplicaPosition extends PrimaryPosition {
  /** It follows another database. */
  readonly follows: boolean
}

/** Runs one statement and returns its only row. */
type AskRow = (text: string) => Promise<unknown>

const SYSTEM = `(select concat_ws('/', system_identifier, oid)
    from pg_control_system(), pg_database where datname = current_database()) as system`

/** Whatever was acknowledged before is flushed, so the replica has it when it has replayed this position. */
export async function readPrimaryPosition(askPrimary: AskRow): Promise<PrimaryPosition> {
  const row = (await askPrimary(
    `select (pg_current_wal_flush_lsn() - '0/0'::pg_lsn)::text as position, ${SYSTEM}`,
  )) as { position: string; system: string }
  return { ...row, position: BigInt(row.position) }
}

async function readReplicaPosition(askReplica: AskRow): Promise<ReplicaPosition> {
  const row = (await askReplica(
    `select pg_is_in_recovery() as follows,
      (coalesce(pg_last_wal_replay_lsn(), '0/0') - '0/0'::pg_lsn)::text as position, ${SYSTEM}`,
  )) as { follows: boolean; position: string; system: string }
  return { ...row, position: BigInt(row.position) }
}

/** Why a replica is not read. */
export type ReplicaTrouble = 'starting' | 'unreachable' | 'behind' | 'takes_writes' | 'other_system'

export interface ReplicaState {
  /** `host:port` */
  readonly name: string
  /** Undefined: it is read. */
  readonly trouble: ReplicaTrouble | undefined
  /** Undefined before it has caught up with this process's start. */
  readonly ageMs: number | undefined
  /** Statements that the primary answered instead, since the start. */
  readonly fellBack: Readonly<Record<'conflict' | 'unavailable', number>>
}

export interface PrimaryMoment extends PrimaryPosition {
  /** Before the primary was asked. */
  readonly atMs: number
}

export interface ReadReplica {
  readonly db: Database
  readonly state: ReplicaState
  /** In the order of the moments. */
  primaryAt(moment: PrimaryMoment): void
  /** Measures the lag and updates the state; without a moment if the primary does not answer. */
  watch(moment: PrimaryMoment | undefined): Promise<void>
  /**
   * Waits at most 250 ms for the replica to replay the primary's position of this moment. False if the replica did not
   * answer at all: the watch finds out whether it is lost, and the request does not wait for that.
   */
  catchUp(moment: PrimaryMoment): Promise<boolean>
  close(): Promise<void>
}

/** A replica that does not answer within this time is left, and its statements with it. */
const ANSWER_MS_MAX = 2_000
const CATCH_UP_MS_MAX = 250
const POLL_MS = 5
/** A replica that is further behind will not catch up within that time. */
const CATCHES_UP_MS_MAX = 2_000
/** Canceled because replay had to go on, or because a lock of the primary is replayed. */
const CONFLICTS: ReadonlySet<string> = new Set(['40001', '40P01', '55P03'])
/** A statement that takes too long would take so long at the primary too; one that writes has no place here. */
const OWN_FAULTS: ReadonlySet<string> = new Set(['57014', '25006'])
const ALL = 1_000_000

export function openReadReplica(
  databaseUrl: string,
  options: {
    readonly primary: pg.Pool
    readonly ageMsMax: number
    readonly onChange: (replica: ReplicaState) => void
    readonly onConflict: (name: string, error: unknown) => void
    /** A statement failed as it would if the replica were gone. */
    readonly onDoubt: () => void
    readonly onError: (error: Error) => void
  },
): ReadReplica {
  const { primary, ageMsMax } = options
  const config = { ...readConfig(databaseUrl), connectionTimeoutMillis: ANSWER_MS_MAX }
  const { host, port } = new pg.Client({ connectionString: config.connectionString })
  const name = `${host}:${port}`
  const pool = openPool(config, { max: POOL_MAX, onError: options.onError })
  const clients = new Set<pg.Client>()
  pool.on('connect', (client) => clients.add(client))
  pool.on('remove', (client) => clients.delete(client))
  const lag = new ReplicaLag()
  const fellBack = { conflict: 0, unavailable: 0 }
  let seen: Exclude<ReplicaTrouble, 'behind'> | undefined = 'starting'
  let reported: ReplicaTrouble | undefined = 'starting'
  let watcher: pg.Client | undefined
  let isClosed = false

  function stateNow(): ReplicaState {
    const ageMs = lag.ageMs(performance.now())
    const ofAge = ageMs === undefined ? 'starting' : ageMs > ageMsMax ? 'behind' : undefined
    return { name, ageMs, fellBack, trouble: seen ?? ofAge }
  }

  function report(): void {
    const state = stateNow()
    if (state.trouble === reported || isClosed) return
    reported = state.trouble
    options.onChange(state)
  }

  /** Its statements under way fail, and are answered by the primary. */
  function leave(): void {
    if (isClosed) return
    seen = 'unreachable'
    lag.replicaLeft()
    for (const client of clients) destroyClient(client)
    if (watcher) destroyClient(watcher)
    watcher = undefined
    report()
  }

  function isOfReplica(error: unknown): boolean {
    const code = error instanceof pg.DatabaseError ? (error.code ?? '') : ''
    if (isClosed || OWN_FAULTS.has(code) || !isDatabaseUnavailable(error)) return false
    const isConflict = CONFLICTS.has(code)
    fellBack[isConflict ? 'conflict' : 'unavailable'] += 1
    if (isConflict) options.onConflict(name, error)
    else options.onDoubt()
    return true
  }

  async function askRow(text: string): Promise<unknown> {
    if (!watcher) {
      const client = new DatabaseClient({ ...config, query_timeout: ANSWER_MS_MAX })
      client.on('error', () => {})
      watcher = client
      await client.connect()
    }
    return (await watcher.query(text)).rows[0]
  }

  const position = createNaturalBatcher<undefined, ReplicaPosition>(ALL, async (askers) => {
    const found = await readReplicaPosition(askRow)
    lag.replicaAt(found.position, performance.now())
    return askers.map(() => found)
  })

  function judge({ follows, system }: ReplicaPosition, moment: PrimaryMoment | undefined): void {
    if (!follows) seen = 'takes_writes'
    else if (lag.isAhead || (moment && moment.system !== system)) seen = 'other_system'
    else if (moment || seen !== 'other_system') seen = undefined
    report()
  }

  return {
    db: new Kysely<Tables>({
      dialect: new PostgresDialect({ pool: fallBackPool(pool, primary, isOfReplica) }),
    }),
    get state() {
      return stateNow()
    },
    primaryAt: ({ position, atMs }) => lag.primaryAt(position, atMs),
    async watch(moment) {
      try {
        judge(await position.submit(undefined), moment)
      } catch {
        leave()
      }
    },
    async catchUp(moment) {
      const { trouble, ageMs = Infinity } = stateNow()
      if (trouble || ageMs > CATCHES_UP_MS_MAX) return true
      const late = sleep(CATCH_UP_MS_MAX, 'late' as const, { ref: false })
      let isAlive = false
      for (;;) {
        const asked = position.submit(undefined).catch(() => 'failed' as const)
        const found = await Promise.race([asked, late])
        if (found === 'failed') return false
        // A replica that has answered is behind, not frozen.
        if (found === 'late') return isAlive
        isAlive = true
        // It may have been promoted since it was watched.
        judge(found, moment)
        if (seen || found.position >= moment.position) return true
        await sleep(POLL_MS)
      }
    },
    async close() {
      isClosed = true
      if (watcher) destroyClient(watcher)
      await pool.end()
    },
  }
}

function readConfig(databaseUrl: string): ReturnType<typeof connectionConfig> {
  // Through a pooler the settings are those of a transaction that has begun.
  const readOnly = readDatabaseAddress(databaseUrl).isPooled
    ? 'transaction_read_only'
    : 'default_transaction_read_only'
  return connectionConfig(databaseUrl, { statement_timeout: '10000', [readOnly]: 'on' })
}
