import { sql } from 'kysely'
import type { Database } from './open.ts'

export interface OldSnapshot {
  /** The holder, as the operator can find it. */
  readonly holder: string
  /** Null for a replication slot, whose age the database does not know. */
  readonly ageSeconds: number | null
}

/** Shorter snapshots do not slow calls down noticeably. */
const AGE_SECONDS_MIN = 60

/**
 * Finds transactions, prepared transactions and replication slots that are older than a minute: they keep the database
 * from removing the dead rows that calls leave.
 */
export async function findOldSnapshots(
  db: Database,
  ageSecondsMin: number = AGE_SECONDS_MIN,
): Promise<OldSnapshot[]> {
  const { rows } = await sql<OldSnapshot>`
    select concat(coalesce(nullif(application_name, ''), 'a connection'), ' (pid ', pid, ', ', usename, ')') as holder,
      extract(epoch from clock_timestamp() - xact_start)::float8 as "ageSeconds"
    from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid()
      and (backend_xmin is not null or backend_xid is not null)
      and xact_start < clock_timestamp() - make_interval(secs => ${ageSecondsMin})
    union all
    select concat('the prepared transaction ', gid), extract(epoch from clock_timestamp() - prepared)::float8
    from pg_prepared_xacts
    where database = current_database() and prepared < clock_timestamp() - make_interval(secs => ${ageSecondsMin})
    union all
    select concat('the replication slot ', slot_name), null from pg_replication_slots
    where xmin is not null and not active
    order by 2 desc nulls last`.execute(db)
  return rows
}
