import type { Position } from './replica-lag.ts'

export interface PrimaryPosition {
  readonly position: Position
  /** Names the cluster and the database in it; a copy has the same name. */
  readonly system: string
}

export interface ReplicaPosition extends PrimaryPosition {
  /** It follows another database. */
  readonly follows: boolean
}

/** Runs one statement and returns its only row. */
export type AskRow = (text: string) => Promise<unknown>

const SYSTEM = `(select concat_ws('/', system_identifier, oid)
    from pg_control_system(), pg_database where datname = current_database()) as system`

/** Whatever was acknowledged before is flushed, so the replica has it when it has replayed this position. */
export async function readPrimaryPosition(askPrimary: AskRow): Promise<PrimaryPosition> {
  const row = (await askPrimary(
    `select (pg_current_wal_flush_lsn() - '0/0'::pg_lsn)::text as position, ${SYSTEM}`,
  )) as { position: string; system: string }
  return { ...row, position: BigInt(row.position) }
}

export async function readReplicaPosition(askReplica: AskRow): Promise<ReplicaPosition> {
  const row = (await askReplica(
    `select pg_is_in_recovery() as follows,
      (coalesce(pg_last_wal_replay_lsn(), '0/0') - '0/0'::pg_lsn)::text as position, ${SYSTEM}`,
  )) as { follows: boolean; position: string; system: string }
  return { ...row, position: BigInt(row.position) }
}
