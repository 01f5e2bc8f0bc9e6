import { sql } from 'kysely'
import type { Database } from '../../platform/db/open.ts'

/** Thrown when a month stays where it is; the message says in one line why. */
export class ArchiveFault extends Error {}

/** A month in UTC, as `2025-03`. */
export type Month = string

export function isMonth(text: string): boolean {
  return /^\d{4}-(0[1-9]|1[0-2])$/.test(text)
}

/** Returns the first day of a month, as the database writes it. */
export function firstDay(month: Month): string {
  return `${month}-01`
}

/** Returns the exact times of a month's begin and end; `toAt` is exclusive. */
export function boundsOf(month: Month): { readonly fromAt: string; readonly toAt: string } {
  return { fromAt: `${month}-01T00:00:00Z`, toAt: `${addMonths(month, 1)}-01T00:00:00Z` }
}

export function addMonths(month: Month, count: number): Month {
  const [year, number] = month.split('-').map(Number) as [number, number]
  return new Date(Date.UTC(year, number - 1 + count)).toISOString().slice(0, 7)
}

interface ListedMonth {
  /** `2025-03` in UTC; `older` for events before the first partition. */
  readonly month: string
  /** Sealed events that were settled in it. */
  readonly events: bigint
  /** Of its partition, or of its files. */
  readonly bytes: bigint
  readonly isSealed: boolean
  readonly place: 'database' | 'being archived' | 'files and database' | 'files'
  readonly files: number
}

/** Returns the months with a partition or with files, the oldest first. */
export async function listMonths(db: Database): Promise<ListedMonth[]> {
  const { rows } = await sql<ListedMonth>`
    with parts as (
      select replace(substring(c.relname from 'usage_events_(.*)'), '_', '-') as month,
        pg_total_relation_size(c.oid) as bytes
      from pg_inherits i join pg_class c on c.oid = i.inhrelid where i.inhparent = 'usage_events'::regclass
    ), seals as (
      select to_char(from_at at time zone 'UTC', 'YYYY-MM') as month, sum(events)::int8 as events from audit_seals group by 1
    ), files as (
      select to_char(month, 'YYYY-MM') as month, sum(bytes)::int8 as bytes, count(*)::int4 as files
      from archived_files group by 1
    ), archived as (
      select to_char(month, 'YYYY-MM') as month, archived_at, removed_at from archived_months
    ), months as (
      select case month when 'past' then 'older' else month end as month, bytes from parts
    )
    select month, coalesce(s.events, 0) as events,
      case when a.removed_at is null then coalesce(m.bytes, 0) else coalesce(f.bytes, 0) end as bytes,
      month <> 'older' and coalesce((select max(to_at) from audit_seals), '-infinity')
        >= (case when month = 'older' then 'infinity' else (to_date(month, 'YYYY-MM') + interval '1 month') at time zone 'UTC' end)
        as "isSealed",
      case when a.removed_at is not null then 'files' when a.archived_at is not null then 'files and database'
        when a.month is not null then 'being archived' else 'database' end as place,
      coalesce(f.files, 0) as files
    from months m full join seals s using (month) full join archived a using (month) left join files f using (month)
    order by month = 'older' desc, month`.execute(db)
  return rows
}
