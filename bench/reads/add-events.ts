/**
 * Generates the calls of a period in the order of their time, with everything that the ledger stores of
 * them: events, hours, days that are already rolled up, sessions, accounts and top-ups.
 */
import type pg from 'pg'
import { PROMPT_TOKENS_MAX } from './history-models.ts'

export interface Stretch {
  readonly from: Date
  readonly to: Date
  readonly events: number
  /** The heavy customer's share of all calls. */
  readonly heavyShare: number
}

/** The mean of sessions of 1 to 40 calls. */
const SESSION_CALLS_MEAN = 20.5
const SESSION_SHARE = 1 / 3
const RELEASED_SHARE = 0.03

/** Runs in one transaction. Returns the number of added events, which is close to the requested one. */
export async function addEvents(client: pg.Client, stretch: Stretch): Promise<number> {
  await client.query('begin')
  try {
    await drawRuns(client, stretch)
    const added = await drawEvents(client, stretch)
    for (const statement of [INSERT_EVENTS, ...ROLL_UPS, ...MONEY]) await client.query(statement)
    // In the same transaction as the events, so that an interrupted generation resumes where it stopped.
    await client.query('update bench.history set until = $1', [stretch.to])
    await client.query('commit')
    return added
  } catch (error) {
    await client.query('rollback')
    throw error
  }
}

/** A session is a series of calls; a call without a session is a series of one. */
async function drawRuns(
  client: pg.Client,
  { from, to, events, heavyShare }: Stretch,
): Promise<void> {
  const sessions = Math.round((events * SESSION_SHARE) / SESSION_CALLS_MEAN)
  const singles = Math.max(1, Math.round(events - sessions * SESSION_CALLS_MEAN))
  await client.query(
    `create temp table runs on commit drop as
     select r.*, k.id as api_key_id, k.team_id, c.id as customer_id,
       case when is_session then gen_random_uuid()::text
         -- Of each saved prompt that was run, the call is a session of its own.
         when prompt_draw < 0.02 then 'prompt-' || p.id || '-' || floor(extract(epoch from started_at) * 1000)::int8 end as session_id
     from (
       select no <= $3 as is_session, case when no <= $3 then 1 + floor(40 * random())::int4 else 1 end as calls,
         $1::timestamptz + ($2::timestamptz - $1::timestamptz) * random() as started_at,
         2 + 118 * random() as pause_seconds, random() as key_draw, random() as model_draw, random() as prompt_draw,
         case when random() < $5::float8 then 1
           else 2 + floor(((select count(*) from bench.customers) - 1) * power(random(), 2))::int4 end as customer_no
       from generate_series(1, $3::int4 + $4::int4) as no
     ) r
     join bench.customers c on c.no = r.customer_no
     join (select customer_no, count(*) as keys from bench.keys group by 1) of_customer on of_customer.customer_no = r.customer_no
     join bench.keys k on k.customer_no = r.customer_no and k.key_no = 1 + floor(keys * power(key_draw, 2))::int4
     join (select customer_no, count(*) as prompts from bench.prompts group by 1) saved on saved.customer_no = r.customer_no
     join bench.prompts p on p.customer_no = r.customer_no and p.prompt_no = 1 + floor(prompts * power(prompt_draw / 0.02, 2))::int4 % prompts`,
    [from, to, sessions, singles, heavyShare],
  )
  await client.query('analyze runs')
}

async function drawEvents(client: pg.Client, { from, to }: Stretch): Promise<number> {
  const { rowCount } = await client.query(
    `create temp table events on commit drop as
     with calls as (
       select customer_id, api_key_id, team_id, session_id,
         started_at + make_interval(secs => (n - 1 + random()) * case when is_session then pause_seconds else 0 end) as created_at,
         -- Every customer has its favourites; most calls of a session are of one model.
         (customer_no * 5 + floor(12 * power(case when random() < 0.85 then model_draw else random() end, 2))::int4) % 12 as model_no,
         50 + floor((${PROMPT_TOKENS_MAX} - 50) * power(random(), 6))::int4 as prompt_tokens,
         case when random() < 0.4 then random() * 0.8 else 0 end as cached_share,
         1 + floor(1500 * power(random(), 2))::int4 as completion_tokens,
         case when random() < 0.2 then random() else 0 end as reasoning_share,
         1 + floor(600 * random())::int4 as seconds,
         random() as outcome_draw, random() < 0.5 as is_stream, (150 + 1500 * power(random(), 3))::int4 as first_byte_ms
       from runs, generate_series(1, calls) as n
     ), used as (
       select c.*, m.id as model_id, m.price_id, m.markup_e4, m.input, m.cached_input, m.output, m.reasoning, m.second,
         outcome_draw < ${RELEASED_SHARE} as is_released,
         case when outcome_draw < ${RELEASED_SHARE} or second is not null then 0 else c.prompt_tokens end as prompt,
         case when outcome_draw < ${RELEASED_SHARE} or not m.is_text then 0 else c.completion_tokens end as completion
       from calls c join bench.models m on m.no = c.model_no where c.created_at < $2
     ), costed as (
       select u.*, floor(prompt * cached_share)::int4 as cached, floor(completion * reasoning_share)::int4 as reasoned,
         (prompt - floor(prompt * cached_share)::int4) * input + floor(prompt * cached_share)::int4 * cached_input
           + (completion - floor(completion * reasoning_share)::int4) * output + floor(completion * reasoning_share)::int4 * reasoning
           + case when is_released then 0 else coalesce(seconds * second, 0) end as cost
       from used u
     )
     select c.*, f.id as fx_rate_id, f.rate_e4 as fx_rate_e4,
       floor((cost::numeric * f.rate_e4 * markup_e4 + 50000000000) / 100000000000)::int8 as billed,
       first_byte_ms + completion * 12 as duration_ms
     from costed c join (
       select day, r.id, r.rate_e4 from generate_series(date_trunc('day', $1::timestamptz), $2::timestamptz, interval '1 day') as day,
       lateral (select id, rate_e4 from fx_rates where rate_date <= day order by rate_date desc, id desc limit 1) r
     ) f on f.day = date_trunc('day', c.created_at)`,
    [from, to],
  )
  return rowCount ?? 0
}

const INSERT_EVENTS = `
  insert into usage_events (
    id, customer_id, api_key_id, team_id, request_id, session_id, model_id, upstream_id, is_stream, outcome, reason, usage_kind,
    prompt_tokens, cached_tokens, cache_write_tokens, completion_tokens, reasoning_tokens, held_nano_brl,
    cost_upstream_pico_usd, cost_billed_nano_brl, price_id, fx_rate_id, fx_rate_e4, markup_e4, first_byte_ms, duration_ms,
    created_at, settled_at, units, attempts)
  select uuidv7(created_at - clock_timestamp()), customer_id, api_key_id, team_id, gen_random_uuid(), session_id, model_id, 'bench', is_stream,
    (case when is_released then 'released' else 'charged' end)::call_outcome,
    case when is_released then 'upstream_failed' when outcome_draw > 0.99 then 'client_gone' end,
    (case when is_released then 'none' when outcome_draw > 0.99 then 'estimated' else 'exact' end)::usage_kind,
    prompt, cached, 0, completion, reasoned, billed * 2 + 1000000,
    cost, billed, price_id, fx_rate_id, fx_rate_e4, markup_e4, first_byte_ms, duration_ms,
    created_at, created_at + make_interval(secs => duration_ms / 1000.0),
    case when second is not null and not is_released then jsonb_build_object('audio_seconds', seconds) end,
    case when is_released then jsonb_build_array(jsonb_build_object('upstream', 'bench', 'outcome', 'failed')) end
  from events order by created_at`

const SUMS = `count(*) filter (where not is_released), count(*) filter (where is_released),
  sum(prompt), sum(completion), sum(cost), sum(billed)`
const ADDED = `charged_requests = u.charged_requests + excluded.charged_requests,
  released_requests = u.released_requests + excluded.released_requests,
  prompt_tokens = u.prompt_tokens + excluded.prompt_tokens,
  completion_tokens = u.completion_tokens + excluded.completion_tokens,
  cost_upstream_pico_usd = u.cost_upstream_pico_usd + excluded.cost_upstream_pico_usd,
  cost_billed_nano_brl = u.cost_billed_nano_brl + excluded.cost_billed_nano_brl`

const ROLL_UPS = [
  `insert into usage_hours as u
   select customer_id, date_trunc('hour', created_at) as hour_at, api_key_id, model_id, ${SUMS}
   from events group by 1, 2, 3, 4 order by 2
   on conflict (customer_id, hour_at, api_key_id, model_id) do update set ${ADDED}`,
  // Days that a server rolled up because it ran on this history at midnight.
  `insert into usage_days as u
   select customer_id, date_trunc('day', created_at, 'UTC'), api_key_id, model_id, ${SUMS}
   from events join accounts using (customer_id) where date_trunc('hour', created_at) < usage_days_until group by 1, 2, 3, 4
   on conflict (customer_id, day_at, api_key_id, model_id) do update set ${ADDED}`,
  `insert into usage_sessions
   select customer_id, session_id, count(*), sum(prompt), sum(completion), sum(billed), array_agg(distinct model_id),
     min(created_at), max(created_at)
   from events where not is_released and session_id is not null group by 1, 2 order by max(created_at)`,
  `insert into api_key_uses as u select api_key_id, max(created_at) from events group by 1
   on conflict (api_key_id) do update set last_used_at = greatest(u.last_used_at, excluded.last_used_at)`,
]

/** In whole reais, and slightly more than the customer spent, so that a balance is left. */
const MONEY = [
  `create temp table spent on commit drop as
   select customer_id, sum(billed)::int8 as billed, (ceil(sum(billed) / 1e9 * 1.05) + 20)::int8 * 1000000000 as paid, min(created_at) as at
   from events group by 1`,
  `insert into ledger_entries (id, customer_id, kind, reason, amount_nano_brl, reference, created_at)
   select uuidv7(at - clock_timestamp()), customer_id, 'credit', 'top_up', paid, 'bench ' || customer_id || ' ' || at, at from spent`,
  // Credited before the calls: no balance is ever below zero.
  `update accounts a set credited_nano_brl = credited_nano_brl + paid from spent s where s.customer_id = a.customer_id`,
  `update accounts a set charged_nano_brl = charged_nano_brl + billed from spent s where s.customer_id = a.customer_id`,
]
