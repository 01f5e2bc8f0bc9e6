/** Checks of single usage events: the database repeats their arithmetic in `numeric`. */
import { sql, type RawBuilder } from 'kysely'

/** The queries for the rows that break an invariant, each under the name of its invariant. */
export type Checks = Readonly<Record<string, RawBuilder<unknown>>>

/** The amount of event `e` that counts against a budget, which is kept in USD. */
export const BILLED_PICO_USD = sql`(sign(e.cost_upstream_pico_usd)
  * div(abs(e.cost_upstream_pico_usd)::numeric * e.markup_e4 + 5000, 10000))`

/**
 * Returns the checks of events. `events` are the rows of `usage_events` to check, as a table or a query in brackets.
 */
export function eventChecks(events: RawBuilder<unknown>): Checks {
  return {
    'cost = tokens and units x price': sql`
      select e.id, e.cost_upstream_pico_usd from ${events} e
      left join prices p on p.id = e.price_id
      left join lateral (
        select (tier ->> 'input')::numeric as input, (tier ->> 'cached_input')::numeric as cached_input,
          (tier ->> 'cache_write')::numeric as cache_write, (tier ->> 'output')::numeric as output,
          (tier ->> 'reasoning')::numeric as reasoning
        from jsonb_array_elements(p.tiers) as tier
        where (tier ->> 'above_prompt_tokens')::int = 0
          -- A reversal has the negative tokens of what it reverses.
          or (tier ->> 'above_prompt_tokens')::int < abs(e.prompt_tokens)
        order by (tier ->> 'above_prompt_tokens')::int desc limit 1
      ) t on true
      left join lateral (
        -- A unit without a price makes no sum, and so a breach.
        select case when count(*) = count(p.units ->> unit) then coalesce(sum(used::numeric * (p.units ->> unit)::numeric), 0) end as cost
        from jsonb_each_text(e.units) as each(unit, used)
      ) u on true
      where e.cost_upstream_pico_usd is distinct from
        (e.prompt_tokens - e.cached_tokens - e.cache_write_tokens) * t.input + e.cached_tokens * t.cached_input
        + e.cache_write_tokens * t.cache_write
        + (e.completion_tokens - e.reasoning_tokens) * t.output + e.reasoning_tokens * t.reasoning + u.cost`,
    'charge = cost x exchange rate x markup, rounded half up once': sql`
      select e.id, e.cost_billed_nano_brl from ${events} e
      where e.cost_billed_nano_brl <> sign(e.cost_upstream_pico_usd)
        * floor((abs(e.cost_upstream_pico_usd)::numeric * e.fx_rate_e4 * e.markup_e4 + 50000000000) / 100000000000)`,
    'the exchange rate of a charge is a stored rate': sql`
      select e.id, e.fx_rate_e4 from ${events} e left join fx_rates f on f.id = e.fx_rate_id
      where f.rate_e4 is distinct from e.fx_rate_e4`,
    'a release charges nothing': sql`
      select e.id from ${events} e
      where e.outcome = 'released' and (e.cost_billed_nano_brl <> 0 or e.cost_upstream_pico_usd <> 0)`,
    'only reversals are negative, and each names the event that it reverses': sql`
      select e.id, e.reason, e.corrects_id, e.cost_billed_nano_brl from ${events} e
      where case when e.reason = 'reversal'
        then e.corrects_id is null or e.outcome <> 'charged' or e.cost_billed_nano_brl > 0 or e.cost_upstream_pico_usd > 0
        else least(e.prompt_tokens, e.cached_tokens, e.cache_write_tokens, e.completion_tokens, e.reasoning_tokens) < 0
          or e.cost_upstream_pico_usd < 0 or e.cost_billed_nano_brl < 0 end`,
    // One search for all ids: it reads each index once, and leaves that of another month at the nearest id.
    'a hold is resolved once': sql`
      select id, max(created_at) as created_at from (
        select e.id, e.created_at from ${events} e
        union
        select o.id, o.created_at from usage_events o where o.id = any (array(select e.id from ${events} e))
      ) outcomes
      group by id having count(*) > 1`,
    'every correcting event belongs to a correction': sql`
      select e.id, e.corrects_id from ${events} e
      where e.corrects_id is not null and not exists (
        select from charge_corrections c
        where c.hold_id = e.corrects_id and c.customer_id = e.customer_id and e.id in (c.reversal_event_id, c.event_id))`,
  }
}

/**
 * Returns the checks of corrections. `corrections` are the rows of `charge_corrections` to check, as a table or a query
 * in brackets.
 */
export function correctionChecks(corrections: RawBuilder<unknown>): Checks {
  return {
    'a correction reverses exactly the first outcome of its hold': sql`
      select c.hold_id, c.reversal_event_id from ${corrections} c
      left join usage_events f on f.id = c.hold_id and f.corrects_id is null
      left join usage_events r on r.id = c.reversal_event_id
      where (f.customer_id, f.outcome, f.cost_billed_nano_brl)
          is distinct from (c.customer_id, c.first_outcome, c.first_billed_nano_brl)
        or (c.first_outcome = 'charged') <> (c.reversal_event_id is not null)
        or (c.reversal_event_id is not null and (
          r.corrects_id, r.customer_id, r.api_key_id, r.team_id, r.model_id, r.outcome, r.reason,
          r.prompt_tokens, r.cached_tokens, r.cache_write_tokens, r.completion_tokens, r.reasoning_tokens,
          r.cost_upstream_pico_usd, r.cost_billed_nano_brl, r.held_nano_brl,
          r.price_id, r.fx_rate_id, r.fx_rate_e4, r.markup_e4, coalesce(r.units, '{}')
        ) is distinct from (
          c.hold_id, f.customer_id, f.api_key_id, f.team_id, f.model_id, 'charged'::call_outcome, 'reversal'::text,
          -f.prompt_tokens, -f.cached_tokens, -f.cache_write_tokens, -f.completion_tokens, -f.reasoning_tokens,
          -f.cost_upstream_pico_usd, -f.cost_billed_nano_brl, 0::nano_brl,
          f.price_id, f.fx_rate_id, f.fx_rate_e4, f.markup_e4,
          (select coalesce(jsonb_object_agg(unit, -used::numeric), '{}') from jsonb_each_text(f.units) as each(unit, used))
        ))
        -- Of an earlier period, or another budget, it counts in none.
        or (r.in_budget and not f.in_budget)`,
    "a correction's event has the correction's charge": sql`
      select c.hold_id, c.event_id, c.billed_nano_brl from ${corrections} c
      left join usage_events f on f.id = c.hold_id and f.corrects_id is null
      left join usage_events t on t.id = c.event_id
      left join usage_events r on r.id = c.reversal_event_id
      where (c.outcome = 'charged') <> (c.event_id is not null)
        or (c.outcome = 'released' and c.billed_nano_brl <> 0)
        or c.event_id = c.reversal_event_id
        or (c.event_id is not null and ((
          t.corrects_id, t.outcome, t.cost_billed_nano_brl, t.held_nano_brl,
          t.customer_id, t.api_key_id, t.team_id, t.model_id, t.fx_rate_id, t.fx_rate_e4, t.markup_e4
        ) is distinct from (
          c.hold_id, 'charged'::call_outcome, c.billed_nano_brl, 0::nano_brl,
          f.customer_id, f.api_key_id, f.team_id, f.model_id, f.fx_rate_id, f.fx_rate_e4, f.markup_e4
        ) or t.reason = 'reversal'
          or (r.id is not null and (t.in_budget, t.in_cap) <> (r.in_budget, r.in_cap))))`,
  }
}
