import { sql, type RawBuilder } from 'kysely'
import type { Database } from '../../platform/db/open.ts'
import type { NanoBrl } from '../../platform/lib/money.ts'

/** Selects the tier of a row of `prices` that applies to the prompt of event `e`. */
function tierOf(price: string): RawBuilder<unknown> {
  return sql`(
    select (tier ->> 'input')::numeric as input, (tier ->> 'cached_input')::numeric as cached_input,
      (tier ->> 'cache_write')::numeric as cache_write, (tier ->> 'output')::numeric as output,
      (tier ->> 'reasoning')::numeric as reasoning
    from jsonb_array_elements(${sql.ref(`${price}.tiers`)}) as tier
    where (tier ->> 'above_prompt_tokens')::int = 0 or (tier ->> 'above_prompt_tokens')::int < e.prompt_tokens
    order by (tier ->> 'above_prompt_tokens')::int desc limit 1)`
}

/** Selects what the usage of event `e` costs at a price, in pico-USD; a unit without a price there costs nothing. */
function costAt(priceId: string): RawBuilder<unknown> {
  return sql`(
    select (e.prompt_tokens - e.cached_tokens - e.cache_write_tokens) * t.input + e.cached_tokens * t.cached_input
      + e.cache_write_tokens * t.cache_write + (e.completion_tokens - e.reasoning_tokens) * t.output
      + e.reasoning_tokens * t.reasoning + coalesce((
        select sum(used::numeric * (other.units ->> unit)::numeric) from jsonb_each_text(e.units) as each(unit, used)), 0)
    from prices other cross join lateral ${tierOf('other')} t where other.id = ${sql.ref(priceId)})`
}

/** What event `e` saves at the price `p` of its charge, if this is above zero, by the charge's own conversion. */
function savedNanoBrl(picoUsd: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`coalesce((
    select floor((greatest(0, ${picoUsd}) * e.fx_rate_e4 * e.markup_e4 + 50000000000) / 100000000000)
    from prices p cross join lateral ${tierOf('p')} t where p.id = e.price_id), 0)::int8`
}

/**
 * What the event `e` would have cost more without caches: its tokens that the provider read from a cache, as plain input;
 * or all of it, if it was answered from the account's own cached answers.
 */
export const CACHE_SAVED_NANO_BRL = savedNanoBrl(sql`case when p.share_of is null
  then e.cached_tokens * (t.input - t.cached_input)
  else ${costAt('p.share_of')} - e.cost_upstream_pico_usd end`)

/**
 * What the same usage would have cost more at the price of the hold: the highest that could apply to the call, of any route
 * that the caller let answer, at any time of its span. A cached answer saves by the cache alone.
 */
export const ROUTING_SAVED_NANO_BRL =
  savedNanoBrl(sql`case when p.share_of is null and e.held_price_id is not null
  then ${costAt('e.held_price_id')} - e.cost_upstream_pico_usd else 0 end`)

/** Single calls are read up to this number. */
const CALLS_MAX = 20_000

export interface Savings {
  readonly byCaches: NanoBrl
  readonly byRouting: NanoBrl
}

/** What the customer saved in the last days, of the newest calls: beyond their number, those before do not count. */
export async function sumSavings(db: Database, customerId: string, days: number): Promise<Savings> {
  const { rows } = await sql<Savings>`
    select coalesce(sum(${CACHE_SAVED_NANO_BRL}), 0)::int8 as "byCaches",
      coalesce(sum(${ROUTING_SAVED_NANO_BRL}), 0)::int8 as "byRouting"
    from (
      select * from usage_events
      where customer_id = ${customerId} and outcome = 'charged' and created_at >= archived_until()
        and created_at > now() - make_interval(days => ${days})
      order by created_at desc limit ${CALLS_MAX}
    ) e`.execute(db)
  return rows[0] as Savings
}
