import { sql } from 'kysely'
import type { Database } from '../../platform/db/open.ts'
import type { NanoBrl } from '../../platform/lib/money.ts'

/**
 * What the event `e` would have cost more without caches: its tokens that the provider read from a cache, as plain input;
 * or all of it, if it was answered from the account's own cached answers.
 */
export const CACHE_SAVED_NANO_BRL = sql`coalesce((
  select floor((greatest(0, case when p.share_of is null then e.cached_tokens * (t.input - t.cached_input)
      else (e.prompt_tokens - e.cached_tokens - e.cache_write_tokens) * t.input + e.cached_tokens * t.cached_input
        + e.cache_write_tokens * t.cache_write + (e.completion_tokens - e.reasoning_tokens) * t.output
        + e.reasoning_tokens * t.reasoning + coalesce((
          select sum(used::numeric * (whole.units ->> unit)::numeric) from jsonb_each_text(e.units) as each(unit, used)), 0)
        - e.cost_upstream_pico_usd end)
    * e.fx_rate_e4 * e.markup_e4 + 50000000000) / 100000000000)
  from prices p
  join prices whole on whole.id = coalesce(p.share_of, p.id)
  cross join lateral (
    select (tier ->> 'input')::numeric as input, (tier ->> 'cached_input')::numeric as cached_input,
      (tier ->> 'cache_write')::numeric as cache_write, (tier ->> 'output')::numeric as output,
      (tier ->> 'reasoning')::numeric as reasoning
    from jsonb_array_elements(whole.tiers) as tier
    where (tier ->> 'above_prompt_tokens')::int = 0 or (tier ->> 'above_prompt_tokens')::int < e.prompt_tokens
    order by (tier ->> 'above_prompt_tokens')::int desc limit 1
  ) t
  where p.id = e.price_id), 0)::int8`

/** Single calls are read up to this number. */
const CALLS_MAX = 50_000

/** What caches saved the customer in the last days, of the newest calls: beyond their number, those before do not count. */
export async function sumCacheSavings(
  db: Database,
  customerId: string,
  days: number,
): Promise<NanoBrl> {
  const { rows } = await sql<{ saved: NanoBrl }>`
    select coalesce(sum(${CACHE_SAVED_NANO_BRL}), 0)::int8 as saved
    from (
      select * from usage_events
      where customer_id = ${customerId} and outcome = 'charged' and created_at >= archived_until()
        and created_at > now() - make_interval(days => ${days})
      order by created_at desc limit ${CALLS_MAX}
    ) e`.execute(db)
  return (rows[0] as { saved: NanoBrl }).saved
}
