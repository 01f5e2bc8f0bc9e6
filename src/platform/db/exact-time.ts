import { sql, type RawBuilder } from 'kysely'

/**
 * A time with all its digits, as ISO text in UTC: `2026-01-31T02:59:59.999999Z`. PostgreSQL stores microseconds and a
 * `Date` only milliseconds, so a `Date` may not find its own row again: cursors of lists are written and compared as
 * this text (`isBefore`).
 */
export function exactTime(column: string): RawBuilder<string> {
  return sql<string>`to_char(${sql.ref(column)} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`
}

/** Returns the same time to the millisecond, as a `Date` writes it. */
export function toMilliseconds(exact: string): string {
  return `${exact.slice(0, 23)}Z`
}

/** The condition on the rows of a list, newest first, that follow its row `last`. */
export function isBefore(
  last: { readonly at: string; readonly id: string },
  timeColumn = 'created_at',
  idColumn = 'id',
): RawBuilder<boolean> {
  return sql<boolean>`(${sql.ref(timeColumn)}, ${sql.ref(idColumn)}) < (${last.at}::timestamptz, ${last.id}::uuid)`
}
