-- A resolution that found no hold. Returns
--   missing     there is no event of it either: the hold was never taken, or a crash of the database lost it
--   repeated    this same resolution resolved it before
--   superseded  it was resolved otherwise; the stored outcome and the billed nano-BRL follow, each after a `:`
--   corrected   it was resolved otherwise, and this resolution, which is final, took the place of that one
create function resolve_again(r ledger_resolution) returns text language plpgsql as $$
declare
  v_now timestamptz;
  e usage_events;
  c charge_corrections;
begin
  perform 1 from accounts where customer_id = r.customer_id for no key update;
  v_now := clock_timestamp();
  select * into e from usage_events where id = r.id and customer_id = r.customer_id;
  if not found then
    return 'missing';
  end if;
  select * into c from charge_corrections where hold_id = r.id;
  if found then
    return case when (c.outcome, c.billed_nano_brl) = (r.outcome, r.billed_nano_brl) then 'repeated'
      else 'superseded:' || c.outcome || ':' || c.billed_nano_brl end;
  end if;
  if (e.outcome, e.cost_billed_nano_brl, e.cost_upstream_pico_usd, e.prompt_tokens, e.completion_tokens)
    = (r.outcome, r.billed_nano_brl, r.cost_pico_usd, r.prompt_tokens, r.completion_tokens)
  then
    return 'repeated';
  end if;
  if r.is_final is not true then
    return 'superseded:' || e.outcome || ':' || e.cost_billed_nano_brl;
  end if;

  insert into charge_corrections (
    hold_id, customer_id, first_outcome, first_billed_nano_brl, outcome, billed_nano_brl, reversal_event_id, event_id,
    paid_back_nano_brl)
  values (
    r.id, r.customer_id, e.outcome, e.cost_billed_nano_brl, r.outcome, r.billed_nano_brl,
    case when e.outcome = 'charged' then gen_random_uuid() end, case when r.outcome = 'charged' then gen_random_uuid() end,
    case when e.outcome = 'charged' then (
      select least(promotional_at_charged_nano_brl, e.cost_billed_nano_brl) from accounts where customer_id = r.customer_id)
    else 0 end)
  returning * into c;
  -- A budget or a cap takes back only charges that it counted. A charge of an earlier period, or of a budget that was
  -- removed since, is corrected outside of it: taking back more would make room that nobody granted.
  if e.outcome = 'charged' then
    e.in_budget := e.in_budget and exists (
      select from api_key_budgets b
      cross join greatest(b.period_started_at, budget_period_start(b.period, b.timezone, v_now)) as period_start
      where b.api_key_id = e.api_key_id
        and e.settled_at >= case when b.spent_since >= period_start then b.counted_since else period_start end);
    e.in_cap := exists (
      select from team_budgets b where b.team_id = e.team_id
        and e.settled_at >= greatest(b.spent_since, b.period_started_at, budget_period_start('month', b.timezone, v_now)));
    if e.in_caps <> 0 then
      e.in_caps := e.in_caps & (
        coalesce((
          select sum(cap_bit(b.period)) from key_caps b
          cross join greatest(b.period_started_at, budget_period_start(b.period, b.timezone, v_now)) as period_start
          where b.api_key_id = e.api_key_id
            and e.settled_at >= case when b.spent_since >= period_start then b.counted_since else period_start end), 0)
        + case when exists (
            select from task_spends t
            where t.api_key_id = e.api_key_id and t.session_id = e.session_id and e.settled_at >= t.spent_since)
          then 4 else 0 end)::int2;
    end if;
    -- A reversal returns to paid money what charges took from it, and the rest to promotional credit.
    update accounts set promotional_at_charged_nano_brl = promotional_at_charged_nano_brl - c.paid_back_nano_brl
    where customer_id = r.customer_id;
  end if;
  e.corrects_id := e.id;
  e.held_nano_brl := 0;
  e.created_at := v_now;
  e.settled_at := v_now;
  if c.reversal_event_id is not null then
    e.id := c.reversal_event_id;
    e.reason := 'reversal';
    e.prompt_tokens := -e.prompt_tokens;
    e.cached_tokens := -e.cached_tokens;
    e.cache_write_tokens := -e.cache_write_tokens;
    e.completion_tokens := -e.completion_tokens;
    e.reasoning_tokens := -e.reasoning_tokens;
    e.cost_upstream_pico_usd := -e.cost_upstream_pico_usd;
    e.cost_billed_nano_brl := -e.cost_billed_nano_brl;
    e.units := (select jsonb_object_agg(unit, -used::numeric) from jsonb_each_text(e.units) as each(unit, used));
    perform add_correction_event(e, -1);
  end if;
  if c.event_id is not null then
    e.id := c.event_id;
    e.outcome := r.outcome;
    e.reason := coalesce(r.reason, 'late_charge');
    e.upstream_id := r.upstream_id;
    e.usage_kind := r.usage_kind;
    e.prompt_tokens := r.prompt_tokens;
    e.cached_tokens := r.cached_tokens;
    e.cache_write_tokens := r.cache_write_tokens;
    e.completion_tokens := r.completion_tokens;
    e.reasoning_tokens := r.reasoning_tokens;
    e.cost_upstream_pico_usd := r.cost_pico_usd;
    e.cost_billed_nano_brl := r.billed_nano_brl;
    e.held_price_id := coalesce(e.held_price_id, e.price_id);
    e.price_id := coalesce(r.answered_price_id, e.held_price_id);
    e.held_price_id := nullif(e.held_price_id, e.price_id);
    e.first_byte_ms := r.first_byte_ms;
    e.duration_ms := r.duration_ms;
    e.units := r.units;
    e.attempts := r.attempts;
    perform add_correction_event(e, 1);
  end if;
  perform empty_deleted_account(r.customer_id, r.id::text);
  return 'corrected';
end $$;

-- Adds one event of a correction and moves its money. `p_requests` is -1 for a reversal.
create function add_correction_event(e usage_events, p_requests int4) returns void language plpgsql as $$
declare
  g closed_holds;
begin
  insert into usage_events (
    id, customer_id, api_key_id, team_id, request_id, session_id, model_id, upstream_id, is_stream,
    outcome, reason, usage_kind, prompt_tokens, cached_tokens, cache_write_tokens,
    completion_tokens, reasoning_tokens, held_nano_brl, cost_upstream_pico_usd,
    cost_billed_nano_brl, price_id, fx_rate_id, fx_rate_e4, markup_e4,
    first_byte_ms, duration_ms, created_at, settled_at, units, attempts, corrects_id, in_budget, in_cap, in_caps,
    held_price_id)
  values (
    e.id, e.customer_id, e.api_key_id, e.team_id, e.request_id, e.session_id, e.model_id, e.upstream_id, e.is_stream,
    e.outcome, e.reason, e.usage_kind, e.prompt_tokens, e.cached_tokens, e.cache_write_tokens,
    e.completion_tokens, e.reasoning_tokens, e.held_nano_brl, e.cost_upstream_pico_usd,
    e.cost_billed_nano_brl, e.price_id, e.fx_rate_id, e.fx_rate_e4, e.markup_e4,
    e.first_byte_ms, e.duration_ms, e.created_at, e.settled_at, e.units, e.attempts, e.corrects_id, e.in_budget, e.in_cap, e.in_caps,
    e.held_price_id);
  g.customer_id := e.customer_id;
  g.api_key_id := e.api_key_id;
  g.team_id := case when e.in_cap then e.team_id end;
  g.model_id := e.model_id;
  g.hour_at := date_trunc('hour', e.created_at);
  g.calls := p_requests;
  g.charged := p_requests;
  g.prompt_tokens := e.prompt_tokens;
  g.completion_tokens := e.completion_tokens;
  g.cost := e.cost_upstream_pico_usd;
  g.billed := e.cost_billed_nano_brl;
  g.held := 0;
  g.budget_held := 0;
  g.budget_spent := case when e.in_budget then
    sign(e.cost_upstream_pico_usd) * div(abs(e.cost_upstream_pico_usd)::numeric * e.markup_e4 + 5000, 10000) else 0 end;
  if e.session_id is not null then
    g.session_uses := array[(e.session_id, e.model_id, e.prompt_tokens, e.completion_tokens, e.cost_billed_nano_brl,
      e.created_at, p_requests)::session_use];
  end if;
  g.overrun_ids := array[e.corrects_id];
  g.in_caps := e.in_caps;
  g.task_session_id := case when e.in_caps & 4 <> 0 then e.session_id end;
  perform settle_holds(g, e.settled_at, 'correction');
end $$;
