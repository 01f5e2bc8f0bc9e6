import { sql } from 'kysely'
import type { Database } from '../../platform/db/open.ts'
import { isCounted, type RefusalFilter } from './refusal-filter.ts'

export type RefusalStep = 'hour' | 'day'

export interface RefusalSums {
  /** The most frequent first. */
  readonly reasons: readonly {
    readonly code: string
    readonly status: number
    readonly refusals: bigint
    readonly firstAt: Date
    readonly lastAt: Date
  }[]
  /** The oldest first; parts without refusals are left out. */
  readonly parts: readonly { readonly startsAt: Date; readonly refusals: bigint }[]
}

interface Row {
  readonly code: string | null
  readonly status: number
  readonly startsAt: Date | null
  readonly refusals: bigint
  readonly firstAt: Date
  readonly lastAt: Date
}

/** A day is one of the time zone, as far as it consists of whole hours of UTC. */
export async function sumRefusals(
  db: Database,
  customerId: string,
  { filter, step, timezone }: { filter: RefusalFilter; step: RefusalStep; timezone: string },
): Promise<RefusalSums> {
  const { rows } = await sql<Row>`
    with counted as (
      select code, status, date_trunc(${step}::text, hour_at, ${timezone}::text) as starts_at,
        refusals, first_at, last_at
      from usage_refusals where ${isCounted(customerId, filter)}
    )
    select code, status, starts_at as "startsAt", sum(refusals)::int8 as refusals,
      min(first_at) as "firstAt", max(last_at) as "lastAt"
    from counted group by grouping sets ((code, status), (starts_at))
    order by starts_at, sum(refusals) desc, code, status`.execute(db)
  return {
    reasons: rows.flatMap(({ code, status, refusals, firstAt, lastAt }) =>
      code === null ? [] : [{ code, status, refusals, firstAt, lastAt }],
    ),
    parts: rows.flatMap(({ startsAt, refusals }) => (startsAt ? [{ startsAt, refusals }] : [])),
  }
}
