import { sql, type RawBuilder } from 'kysely'

/**
 * A time with all its digits, as ISO text in UTC: `2026-01-31T02:59:59.999999Z`. PostgreSQL stores microseconds and a
 * `Date` only milliseconds, so a `Date` may not find its own row again: cursors of lists are written and compared as
 * this text, `where (created_at, id) < (${at}::timestamptz, ${id}::uuid)`.
 */
export function exactTime(column: string): RawBuilder<string> {
  return sql<string>`to_char(${sql.ref(column)} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`
}

/** Returns the same time to the millisecond, as a `Date` writes it. */
export function toMilliseconds(exact: string): string {
  return `${exact.slice(0, 23)}Z`
}
