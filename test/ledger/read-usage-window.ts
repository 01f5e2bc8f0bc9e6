import { sql } from 'kysely'
import type { Database } from '../../src/platform/db/open.ts'

/** The sums of a customer's usage in the last hour, to the microsecond, as every report reads them. */
export async function readUsageWindow(
  db: Database,
  customerId: string,
): Promise<{ requests: bigint; completionTokens: bigint; billed: bigint }> {
  const { rows } = await sql<{ requests: bigint; completionTokens: bigint; billed: bigint }>`
    select sum(charged_requests)::int8 as requests, sum(completion_tokens)::int8 as "completionTokens",
      sum(cost_billed_nano_brl)::int8 as billed
    from usage_between(${customerId}, now() - interval '1 hour', now() + interval '1 second')`.execute(
    db,
  )
  return rows[0] as { requests: bigint; completionTokens: bigint; billed: bigint }
}
