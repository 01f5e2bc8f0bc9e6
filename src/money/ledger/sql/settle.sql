-- Updates the rows that only some settlements touch: roll-ups of days that were already summed up, usage sessions, budgets
-- and caps. `p_now` is read from the clock after the account is locked, and is the `settled_at` of the events.
create function settle_rest(g closed_holds, p_days_until timestamptz, p_now timestamptz) returns void language plpgsql as $$
begin
  if g.hour_at < p_days_until then
    insert into usage_days as u (
      customer_id, day_at, api_key_id, model_id, charged_requests, released_requests,
      prompt_tokens, completion_tokens, cost_upstream_pico_usd, cost_billed_nano_brl)
    values (g.customer_id, date_trunc('day', g.hour_at, 'UTC'), g.api_key_id, g.model_id, g.charged, g.calls - g.charged,
      g.prompt_tokens, g.completion_tokens, g.cost, g.billed)
    on conflict (customer_id, day_at, api_key_id, model_id) do update set
      charged_requests = u.charged_requests + excluded.charged_requests,
      released_requests = u.released_requests + excluded.released_requests,
      prompt_tokens = u.prompt_tokens + excluded.prompt_tokens,
      completion_tokens = u.completion_tokens + excluded.completion_tokens,
      cost_upstream_pico_usd = u.cost_upstream_pico_usd + excluded.cost_upstream_pico_usd,
      cost_billed_nano_brl = u.cost_billed_nano_brl + excluded.cost_billed_nano_brl;
  end if;
  if g.session_uses is not null then
    perform add_session_uses(g.customer_id, g.session_uses);
  end if;
  if g.budget_held > 0 or g.budget_spent <> 0 then
    update api_key_budgets
    set held_pico_usd = held_pico_usd - g.budget_held,
      spent_pico_usd = coalesce(g.budget_spent, 0) + case
        when period_started_at >= budget_period_start(period, timezone, p_now) then spent_pico_usd else 0 end,
      period_started_at = greatest(period_started_at, budget_period_start(period, timezone, p_now))
    where api_key_id = g.api_key_id;
  end if;
  if g.team_id is not null then
    update team_budgets
    set held_nano_brl = held_nano_brl - g.held,
      spent_nano_brl = g.billed + case
        when period_started_at >= budget_period_start('month', timezone, p_now) then spent_nano_brl else 0 end,
      period_started_at = greatest(period_started_at, budget_period_start('month', timezone, p_now))
    where team_id = g.team_id;
  end if;
  if g.in_caps <> 0 then
    update key_caps
    set held_nano_brl = held_nano_brl - g.held,
      spent_nano_brl = g.billed + case
        when period_started_at >= budget_period_start(period, timezone, p_now) then spent_nano_brl else 0 end,
      period_started_at = greatest(period_started_at, budget_period_start(period, timezone, p_now))
    where api_key_id = g.api_key_id and cap_bit(period) & g.in_caps <> 0;
    if g.task_session_id is not null then
      update task_spends set held_nano_brl = held_nano_brl - g.held, spent_nano_brl = spent_nano_brl + g.billed
      where api_key_id = g.api_key_id and session_id = g.task_session_id;
    end if;
  end if;
end $$;

-- Moves the money of resolved holds of one customer, key, model, hour, rate window and caps, and adds them to the roll-ups.
-- `p_cause` is the cause of a resulting debt: `overrun` or `correction`.
create function settle_holds(g closed_holds, p_now timestamptz, p_cause text) returns void language plpgsql as $$
declare
  v_days_until timestamptz;
  v_balance int8;
  v_free int8;
begin
  update accounts
  set held_nano_brl = held_nano_brl - g.held, charged_nano_brl = charged_nano_brl + g.billed
  where customer_id = g.customer_id
  returning usage_days_until, credited_nano_brl - debited_nano_brl - charged_nano_brl,
    credited_nano_brl - debited_nano_brl - charged_nano_brl - held_nano_brl
  into v_days_until, v_balance, v_free;
  if (v_balance > 0) <> (v_balance + g.billed > 0) then
    perform emit_balance_turned(g.customer_id, v_balance);
  end if;
  if v_free < 0 or v_free + g.billed - g.held < 0 then
    perform note_debt(g.customer_id, v_free + g.billed - g.held, v_free, p_cause, g.overrun_ids);
  end if;
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
  perform settle_rest(g, v_days_until, p_now);
end $$;

-- Adds charges to the sums of their usage sessions.
create function add_session_uses(p_customer_id uuid, p_uses session_use[]) returns void language plpgsql as $$
begin
  insert into usage_sessions as s (
    customer_id, session_id, requests, prompt_tokens, completion_tokens, cost_billed_nano_brl,
    model_ids, first_request_at, last_request_at)
  select p_customer_id, session_id, sum(requests), sum(prompt_tokens), sum(completion_tokens), sum(billed_nano_brl),
    array_agg(distinct model_id), min(at), max(at)
  from unnest(p_uses) group by session_id
  on conflict (customer_id, session_id) do update set
    requests = s.requests + excluded.requests,
    prompt_tokens = s.prompt_tokens + excluded.prompt_tokens,
    completion_tokens = s.completion_tokens + excluded.completion_tokens,
    cost_billed_nano_brl = s.cost_billed_nano_brl + excluded.cost_billed_nano_brl,
    model_ids = case when s.model_ids @> excluded.model_ids then s.model_ids
      else (select array_agg(distinct id order by id) from unnest(s.model_ids || excluded.model_ids) as id) end,
    first_request_at = least(s.first_request_at, excluded.first_request_at),
    last_request_at = greatest(s.last_request_at, excluded.last_request_at);
end $$;

-- Resolves the holds of a batch, whose accounts are locked. `words` lists, separated by commas,
-- `<place in p_resolutions, from 1>:<word>` for each resolution that found no hold, in the words of `resolve_again`.
-- `windows` are the changes to the tokens of rate windows: the caller locks these windows in order, together with the ones
-- in which it counts requests.
create function resolve_holds(p_resolutions ledger_resolution[], out words text, out windows window_tokens[])
language plpgsql as $$
declare
  v_now timestamptz := clock_timestamp();
  -- Places in `p_resolutions`: if two resolve the same hold, only one of them closes it.
  v_closed int8[] := '{}';
  v_group record;
  g closed_holds;
begin
  words := '';
  windows := '{}';
  for v_group in
    with closed as (
      delete from holds h using rows from (unnest(p_resolutions)) with ordinality as r(
        id, outcome, reason, upstream_id, usage_kind, prompt_tokens, cached_tokens, cache_write_tokens,
        completion_tokens, reasoning_tokens, cost_pico_usd, billed_nano_brl, billed_pico_usd, first_byte_ms, duration_ms,
        answered_price_id, units, attempts, customer_id, is_final, place)
      where h.id = r.id and h.customer_id = r.customer_id
      returning h.customer_id, h.api_key_id, h.team_id, h.request_id, h.session_id, h.model_id, h.is_stream,
        h.amount_nano_brl, h.budget_pico_usd, h.price_id, h.fx_rate_id, h.fx_rate_e4, h.markup_e4,
        h.tokens_counted, h.tokens_window_at, h.created_at, h.in_caps,
        r.id, r.outcome, r.reason, r.upstream_id, r.usage_kind, r.prompt_tokens, r.cached_tokens, r.cache_write_tokens,
        r.completion_tokens, r.reasoning_tokens, r.cost_pico_usd, r.billed_nano_brl, r.billed_pico_usd,
        r.first_byte_ms, r.duration_ms, r.answered_price_id, r.units, r.attempts, r.place
    ), events as (
      insert into usage_events (
        id, customer_id, api_key_id, team_id, request_id, session_id, model_id, upstream_id, is_stream,
        outcome, reason, usage_kind, prompt_tokens, cached_tokens, cache_write_tokens,
        completion_tokens, reasoning_tokens, held_nano_brl, cost_upstream_pico_usd,
        cost_billed_nano_brl, price_id, fx_rate_id, fx_rate_e4, markup_e4,
        first_byte_ms, duration_ms, created_at, settled_at, units, attempts, in_budget, in_caps, held_price_id)
      select id, customer_id, api_key_id, team_id, request_id, session_id, model_id, upstream_id, is_stream,
        outcome, reason, usage_kind, prompt_tokens, cached_tokens, cache_write_tokens,
        completion_tokens, reasoning_tokens, amount_nano_brl, cost_pico_usd,
        billed_nano_brl, coalesce(answered_price_id, price_id), fx_rate_id, fx_rate_e4, markup_e4,
        first_byte_ms, duration_ms, created_at, v_now, units, attempts, budget_pico_usd > 0, in_caps,
        case when answered_price_id <> price_id then price_id end
      from closed
    )
    select (customer_id, api_key_id, team_id, model_id, date_trunc('hour', created_at), tokens_window_at,
      count(*)::int4, (count(*) filter (where outcome = 'charged'))::int4,
      sum(prompt_tokens)::int8, sum(completion_tokens)::int8,
      sum(cost_pico_usd)::int8, sum(billed_nano_brl)::int8, sum(amount_nano_brl)::int8, sum(budget_pico_usd)::int8,
      (sum(billed_pico_usd) filter (where budget_pico_usd > 0))::int8,
      (sum(prompt_tokens + completion_tokens - tokens_counted) filter (where tokens_window_at is not null))::int8,
      array_agg((session_id, model_id, prompt_tokens, completion_tokens, billed_nano_brl, created_at, 1)::session_use)
        filter (where outcome = 'charged' and session_id is not null),
      sum(greatest(0, billed_nano_brl - amount_nano_brl))::int8,
      array_agg(id) filter (where billed_nano_brl > amount_nano_brl),
      in_caps, case when in_caps & 4 <> 0 then session_id end)::closed_holds as sums,
      array_agg(place) as places
    from closed group by customer_id, api_key_id, team_id, model_id, date_trunc('hour', created_at), tokens_window_at,
      in_caps, case when in_caps & 4 <> 0 then session_id end
  loop
    v_closed := v_closed || v_group.places;
    g := v_group.sums;
    perform settle_holds(g, v_now, 'overrun');
    if g.tokens_window_at is not null then
      windows := windows || ('k:' || g.api_key_id, g.tokens_window_at, g.tokens_more)::window_tokens;
    end if;
  end loop;
  if cardinality(v_closed) < cardinality(p_resolutions) then
    for i in 1 .. cardinality(p_resolutions) loop
      if not i = any (v_closed) then
        words := words || case when words = '' then '' else ',' end
          || i || ':' || resolve_again(p_resolutions[i]);
      end if;
    end loop;
  end if;
end $$;
