-- Every kind of model call: what is billed beside text tokens, prices that differ by route, the upstreams
-- that were tried, and images that wait to be fetched.

-- Pico-USD of one unit, by its name: {"audio_seconds": "100000000"}.
alter table prices add column units jsonb;

-- How many of each unit were used, by the names of the price; null where only text tokens were.
alter table usage_events add column units jsonb;
-- For the operator: every upstream that was tried and how it went; null where the first one answered.
alter table usage_events add column attempts jsonb;

alter type ledger_resolution
  -- Of the route that answered; null: the price of the hold.
  add attribute answered_price_id int4,
  add attribute units jsonb,
  add attribute attempts jsonb;

-- Returns how many of the resolutions found no hold.
create or replace function resolve_holds(p_resolutions ledger_resolution[]) returns int4 language plpgsql as $$
declare
  v_now timestamptz := clock_timestamp();
  v_closed int4 := 0;
  g record;
begin
  for g in
    with closed as (
      delete from holds h using unnest(p_resolutions) as r
      where h.id = r.id
      returning h.customer_id, h.api_key_id, h.request_id, h.session_id, h.model_id, h.is_stream,
        h.amount_nano_brl, h.budget_pico_usd, h.price_id, h.fx_rate_id, h.fx_rate_e4, h.markup_e4,
        h.tokens_counted, h.tokens_window_at, h.created_at, r.*
    ), events as (
      insert into usage_events (
        id, customer_id, api_key_id, request_id, session_id, model_id, upstream_id, is_stream,
        outcome, reason, usage_kind, prompt_tokens, cached_tokens, cache_write_tokens,
        completion_tokens, reasoning_tokens, held_nano_brl, cost_upstream_pico_usd,
        cost_billed_nano_brl, price_id, fx_rate_id, fx_rate_e4, markup_e4,
        first_byte_ms, duration_ms, created_at, settled_at, units, attempts)
      select id, customer_id, api_key_id, request_id, session_id, model_id, upstream_id, is_stream,
        outcome, reason, usage_kind, prompt_tokens, cached_tokens, cache_write_tokens,
        completion_tokens, reasoning_tokens, amount_nano_brl, cost_pico_usd,
        billed_nano_brl, coalesce(answered_price_id, price_id), fx_rate_id, fx_rate_e4, markup_e4,
        first_byte_ms, duration_ms, created_at, v_now, units, attempts
      from closed
    )
    select customer_id, api_key_id, model_id, date_trunc('hour', created_at) as hour_at, tokens_window_at,
      count(*)::int4 as calls, count(*) filter (where outcome = 'charged') as charged,
      sum(prompt_tokens) as prompt_tokens, sum(completion_tokens) as completion_tokens,
      sum(cost_pico_usd)::int8 as cost, sum(billed_nano_brl)::int8 as billed,
      sum(amount_nano_brl)::int8 as held,
      sum(budget_pico_usd)::int8 as budget_held,
      (sum(billed_pico_usd) filter (where budget_pico_usd > 0))::int8 as budget_spent,
      (sum(prompt_tokens + completion_tokens - tokens_counted) filter (where tokens_window_at is not null))::int8 as tokens_more
    from closed group by 1, 2, 3, 4, 5
  loop
    v_closed := v_closed + g.calls;
    update accounts
    set held_nano_brl = held_nano_brl - g.held, charged_nano_brl = charged_nano_brl + g.billed
    where customer_id = g.customer_id;
    insert into usage_hours as u (
      customer_id, hour_at, api_key_id, model_id, charged_requests, released_requests,
      prompt_tokens, completion_tokens, cost_upstream_pico_usd, cost_billed_nano_brl)
    values (g.customer_id, g.hour_at, g.api_key_id, g.model_id, g.charged, g.calls - g.charged,
      g.prompt_tokens, g.completion_tokens, g.cost, g.billed)
    on conflict (customer_id, hour_at, api_key_id, model_id) do update set
      charged_requests = u.charged_requests + excluded.charged_requests,
      released_requests = u.released_requests + excluded.released_requests,
      prompt_tokens = u.prompt_tokens + excluded.prompt_tokens,
      completion_tokens = u.completion_tokens + excluded.completion_tokens,
      cost_upstream_pico_usd = u.cost_upstream_pico_usd + excluded.cost_upstream_pico_usd,
      cost_billed_nano_brl = u.cost_billed_nano_brl + excluded.cost_billed_nano_brl;
    if g.budget_held > 0 then
      update api_key_budgets
      set held_pico_usd = held_pico_usd - g.budget_held,
        spent_pico_usd = g.budget_spent + case
          when period_started_at = budget_period_start(period, timezone) then spent_pico_usd else 0 end,
        period_started_at = budget_period_start(period, timezone)
      where api_key_id = g.api_key_id;
    end if;
    if g.tokens_window_at is not null then
      update rate_windows set tokens = greatest(0, tokens + g.tokens_more)
      where subject = 'k:' || g.api_key_id and window_at = g.tokens_window_at;
    end if;
  end loop;
  return cardinality(p_resolutions) - v_closed;
end $$;

-- Images that an answer gave the address of. The id is a secret: whoever knows it may see the image,
-- until it expires.
create table generated_images (
  id text primary key,
  customer_id uuid not null references customers (id),
  media_type text not null,
  bytes bytea not null,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null
);
-- Compressed already.
alter table generated_images alter column bytes set storage external;
create index generated_images_by_expiry on generated_images (expires_at);
