import { sql } from 'kysely'
import type { Database } from '../db/open.ts'
import { toSums, type SumsRow, type UsageSums } from './usage-windows.ts'

export interface DayUsage extends UsageSums {
  /** `YYYY-MM-DD`, of the customer's zone. */
  readonly day: string
}

/** Each of the last days, today included and the oldest first; days without use too. */
export async function sumUsageByDay(
  db: Database,
  customerId: string,
  days: number,
): Promise<DayUsage[]> {
  const { rows } = await sql<SumsRow & { day: string }>`
    select to_char((now() at time zone c.timezone)::date - back, 'YYYY-MM-DD') as day,
      coalesce(sum(u.charged_requests), 0) as requests,
      coalesce(sum(u.released_requests), 0) as failed_requests,
      coalesce(sum(u.prompt_tokens), 0) as prompt_tokens,
      coalesce(sum(u.completion_tokens), 0) as completion_tokens,
      coalesce(sum(u.cost_billed_nano_brl), 0) as cost_billed_nano_brl,
      coalesce(sum(u.cost_upstream_pico_usd), 0) as cost_upstream_pico_usd
    from customers c
      cross join generate_series(0, ${days - 1}::int4) as back
      left join lateral usage_between(
        c.id,
        first_day_start(c.timezone, back + 1),
        case when back = 0 then 'infinity' else first_day_start(c.timezone, back) end
      ) u on true
    where c.id = ${customerId}
    group by c.timezone, back order by back desc`.execute(db)
  return rows.map((row) => ({ day: row.day, ...toSums(row) }))
}
