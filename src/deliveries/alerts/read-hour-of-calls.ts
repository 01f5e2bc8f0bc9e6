import { sql } from 'kysely'
import type { Database } from '../../platform/db/open.ts'

export interface HourOfCalls {
  readonly keyId: string
  /** Not whole numbers: the oldest hour counts by its share. */
  readonly calls: number
  readonly failedCalls: number
}

const HOUR_MS = 3_600_000

/**
 * The calls of each key in the last 60 minutes, estimated from the sums of whole hours: the previous hour
 * counts by the share of it that lies within the 60 minutes, as if its calls were spread evenly. The events
 * would be exact, but they are up to an hour of calls to read every half minute.
 */
export async function readHourOfCalls(
  db: Database,
  customerId: string,
  now: Date,
): Promise<HourOfCalls[]> {
  const sinceFullHour = now.getTime() % HOUR_MS
  const hourAt = new Date(now.getTime() - sinceFullHour)
  const share = 1 - sinceFullHour / HOUR_MS
  const { rows } = await sql<{
    api_key_id: string
    is_current: boolean
    charged: bigint
    released: bigint
  }>`
    select api_key_id, hour_at = ${hourAt} as is_current,
      sum(charged_requests)::int8 as charged, sum(released_requests)::int8 as released
    from usage_hours
    where customer_id = ${customerId} and hour_at >= ${new Date(hourAt.getTime() - HOUR_MS)}
      and hour_at <= ${hourAt}
    group by 1, 2`.execute(db)
  return rows.map((row) => {
    const weight = row.is_current ? 1 : share
    return {
      keyId: row.api_key_id,
      calls: weight * Number(row.charged + row.released),
      failedCalls: weight * Number(row.released),
    }
  })
}
