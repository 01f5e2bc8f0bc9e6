-- A hold or a resolution that is alone in its batch, which is when its time is felt, as a function of plain values:
-- rows within arrays, and functions that call each other with rows, took a quarter of the time of both.

-- Told by the budgets themselves: whether a key has one is asked for every hold, and a column of a row that is read
-- anyway is had for less than a look into another table.
alter table api_keys add column has_budget bool not null default false;
update api_keys k set has_budget = true where exists (select from api_key_budgets b where b.api_key_id = k.id);
create function note_budget() returns trigger language plpgsql as $$
begin
  update api_keys set has_budget = tg_op = 'INSERT' where id = coalesce(new.api_key_id, old.api_key_id);
  return null;
end $$;
create trigger note_budget after insert or delete on api_key_budgets for each row execute function note_budget();

-- Settles what only some holds touch: roll-ups of days that were made already, sessions, budgets, the rate window.
create function settle_rest(g closed_holds, p_days_until timestamptz) returns void language plpgsql as $$
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
  if g.budget_held > 0 then
    update api_key_budgets
    set held_pico_usd = held_pico_usd - g.budget_held,
      spent_pico_usd = g.budget_spent + case
        when period_started_at = budget_period_start(period, timezone) then spent_pico_usd else 0 end,
      period_started_at = budget_period_start(period, timezone)
    where api_key_id = g.api_key_id;
  end if;
  if g.team_id is not null then
    update team_budgets
    set held_nano_brl = held_nano_brl - g.held,
      spent_nano_brl = g.billed + case
        when period_started_at = budget_period_start('month', timezone) then spent_nano_brl else 0 end,
      period_started_at = budget_period_start('month', timezone)
    where team_id = g.team_id;
  end if;
  if g.tokens_window_at is not null then
    update rate_windows set tokens = greatest(0, tokens + g.tokens_more)
    where subject = 'k:' || g.api_key_id and window_at = g.tokens_window_at;
  end if;
end $$;

-- Moves the money of resolved holds, and adds them to the roll-ups, budgets and the rate window.
create or replace function settle_holds(g closed_holds) returns void language plpgsql as $$
declare
  v_days_until timestamptz;
  v_balance int8;
begin
  update accounts
  set held_nano_brl = held_nano_brl - g.held, charged_nano_brl = charged_nano_brl + g.billed
  where customer_id = g.customer_id
  returning usage_days_until, credited_nano_brl - debited_nano_brl - charged_nano_brl into v_days_until, v_balance;
  if v_balance <= 0 and v_balance + g.billed > 0 then
    perform tell_balance(g.customer_id, v_balance);
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
  perform settle_rest(g, v_days_until);
end $$;

-- What `resolve_holds` and `settle_holds` do, for one hold. Returns `done`; or `gone`, where the hold was resolved
-- before; or `missing`, where there is no event of it either: it was never taken, or forgotten.
create function resolve_alone(
  p_id uuid, p_outcome call_outcome, p_reason text, p_upstream_id text, p_usage_kind usage_kind,
  p_prompt_tokens int4, p_cached_tokens int4, p_cache_write_tokens int4, p_completion_tokens int4, p_reasoning_tokens int4,
  p_cost int8, p_billed int8, p_billed_pico_usd int8, p_first_byte_ms int4, p_duration_ms int4,
  p_answered_price_id int4, p_units jsonb, p_attempts jsonb
) returns text language plpgsql as $$
declare
  h holds;
  v_charged int4 := case when p_outcome = 'charged' then 1 else 0 end;
  v_hour timestamptz;
  v_days_until timestamptz;
  v_balance int8;
begin
  delete from holds where id = p_id returning * into h;
  if not found then
    return case when exists (select from usage_events where id = p_id) then 'gone' else 'missing' end;
  end if;
  insert into usage_events (
    id, customer_id, api_key_id, team_id, request_id, session_id, model_id, upstream_id, is_stream,
    outcome, reason, usage_kind, prompt_tokens, cached_tokens, cache_write_tokens,
    completion_tokens, reasoning_tokens, held_nano_brl, cost_upstream_pico_usd,
    cost_billed_nano_brl, price_id, fx_rate_id, fx_rate_e4, markup_e4,
    first_byte_ms, duration_ms, created_at, settled_at, units, attempts)
  values (
    h.id, h.customer_id, h.api_key_id, h.team_id, h.request_id, h.session_id, h.model_id, p_upstream_id, h.is_stream,
    p_outcome, p_reason, p_usage_kind, p_prompt_tokens, p_cached_tokens, p_cache_write_tokens,
    p_completion_tokens, p_reasoning_tokens, h.amount_nano_brl, p_cost,
    p_billed, coalesce(p_answered_price_id, h.price_id), h.fx_rate_id, h.fx_rate_e4, h.markup_e4,
    p_first_byte_ms, p_duration_ms, h.created_at, clock_timestamp(), p_units, p_attempts);

  update accounts
  set held_nano_brl = held_nano_brl - h.amount_nano_brl, charged_nano_brl = charged_nano_brl + p_billed
  where customer_id = h.customer_id
  returning usage_days_until, credited_nano_brl - debited_nano_brl - charged_nano_brl into v_days_until, v_balance;
  if v_balance <= 0 and v_balance + p_billed > 0 then
    perform tell_balance(h.customer_id, v_balance);
  end if;
  v_hour := date_trunc('hour', h.created_at);
  insert into usage_hours as u (
    customer_id, hour_at, api_key_id, model_id, charged_requests, released_requests,
    prompt_tokens, completion_tokens, cost_upstream_pico_usd, cost_billed_nano_brl)
  values (h.customer_id, v_hour, h.api_key_id, h.model_id, v_charged, 1 - v_charged,
    p_prompt_tokens, p_completion_tokens, p_cost, p_billed)
  on conflict (customer_id, hour_at, api_key_id, model_id) do update set
    charged_requests = u.charged_requests + excluded.charged_requests,
    released_requests = u.released_requests + excluded.released_requests,
    prompt_tokens = u.prompt_tokens + excluded.prompt_tokens,
    completion_tokens = u.completion_tokens + excluded.completion_tokens,
    cost_upstream_pico_usd = u.cost_upstream_pico_usd + excluded.cost_upstream_pico_usd,
    cost_billed_nano_brl = u.cost_billed_nano_brl + excluded.cost_billed_nano_brl;
  if v_hour < v_days_until or h.session_id is not null or h.budget_pico_usd > 0 or h.team_id is not null
    or h.tokens_window_at is not null
  then
    perform settle_rest((
      h.customer_id, h.api_key_id, h.team_id, h.model_id, v_hour, h.tokens_window_at,
      1, v_charged, p_prompt_tokens, p_completion_tokens, p_cost, p_billed, h.amount_nano_brl,
      h.budget_pico_usd, p_billed_pico_usd, p_prompt_tokens + p_completion_tokens - h.tokens_counted,
      case when p_outcome = 'charged' and h.session_id is not null then
        array[(h.session_id, h.model_id, p_prompt_tokens, p_completion_tokens, p_billed, h.created_at)::session_use] end
    )::closed_holds, v_days_until);
  end if;
  return 'done';
end $$;

-- What `take_holds` does, for one attempt; it answers as that does, and is turned to for all but the usual one: a new
-- attempt of a key without a budget, a team or a limit of tokens, where the account has the money. Whether its commit
-- waits for the disk is for the caller to set, as `ledger_batch` does by its `p_may_lag`.
create function hold_alone(
  p_node_id uuid, p_ip_subject text, p_key_subject text,
  p_id uuid, p_is_repeated bool, p_customer_id uuid, p_api_key_id uuid, p_key_version int4,
  p_requests_per_minute int8, p_ip_requests_per_minute int8, p_tokens_per_minute int8,
  p_request_id uuid, p_session_id text, p_model_id text, p_is_stream bool,
  p_amount_nano_brl int8, p_budget_pico_usd int8, p_price_id int4, p_fx_rate_id int4, p_fx_rate_e4 int4, p_markup_e4 int4,
  p_prompt_tokens_estimated int4, p_tokens_counted int8
) returns text language plpgsql as $$
declare
  v_now timestamptz := clock_timestamp();
  v_minute timestamptz := date_trunc('minute', v_now);
  v_balance int8;
  v_held int8;
  v_ip_seq int8;
  v_key_seq int8;
  v_verdict text := 'held';
begin
  if p_tokens_per_minute is null and not p_is_repeated then
    -- The account is locked before the rate windows, as everywhere.
    update accounts c set held_nano_brl = c.held_nano_brl + p_amount_nano_brl
    from api_keys k
    where c.customer_id = p_customer_id
      and c.credited_nano_brl - c.debited_nano_brl - c.charged_nano_brl - c.held_nano_brl >= p_amount_nano_brl
      and k.id = p_api_key_id and k.version = p_key_version and k.team_id is null and not k.has_budget
      and k.revoked_at is null and (k.expires_at is null or k.expires_at > v_now)
    returning c.credited_nano_brl - c.debited_nano_brl - c.charged_nano_brl, c.held_nano_brl into v_balance, v_held;
  end if;
  if v_held is null then
    -- The address's window is locked before the key's: `i:` before `k:`.
    return take_holds(
      p_node_id, array[p_ip_subject, p_key_subject], array_fill(case when p_is_repeated then 0 else 1 end::int8, array[2]),
      array[(
        p_id, p_is_repeated, p_customer_id, p_api_key_id, p_key_version, 2, 0, 1, 0,
        p_requests_per_minute, p_ip_requests_per_minute, p_tokens_per_minute,
        p_request_id, p_session_id, p_model_id, p_is_stream, p_amount_nano_brl, p_budget_pico_usd,
        p_price_id, p_fx_rate_id, p_fx_rate_e4, p_markup_e4, p_prompt_tokens_estimated, p_tokens_counted
      )::ledger_attempt]);
  end if;

  insert into rate_windows as w (subject, window_at, requests, tokens) values (p_ip_subject, v_minute, 1, 0)
  on conflict (subject) do update set
    requests = excluded.requests + case when w.window_at >= excluded.window_at then w.requests else 0 end,
    tokens = case when w.window_at >= excluded.window_at then w.tokens else 0 end,
    window_at = greatest(w.window_at, excluded.window_at)
  returning w.requests into v_ip_seq;
  insert into rate_windows as w (subject, window_at, requests, tokens) values (p_key_subject, v_minute, 1, 0)
  on conflict (subject) do update set
    requests = excluded.requests + case when w.window_at >= excluded.window_at then w.requests else 0 end,
    tokens = case when w.window_at >= excluded.window_at then w.tokens else 0 end,
    window_at = greatest(w.window_at, excluded.window_at)
  returning w.requests into v_key_seq;

  if v_ip_seq > p_ip_requests_per_minute or v_key_seq > p_requests_per_minute then
    v_verdict := case when v_ip_seq > p_ip_requests_per_minute then 'ip_limited' else 'key_limited' end;
    update accounts set held_nano_brl = held_nano_brl - p_amount_nano_brl where customer_id = p_customer_id;
    v_held := v_held - p_amount_nano_brl;
  else
    insert into holds (
      id, customer_id, api_key_id, node_id, request_id, session_id, model_id, is_stream,
      amount_nano_brl, budget_pico_usd, price_id, fx_rate_id, fx_rate_e4, markup_e4,
      prompt_tokens_estimated, created_at)
    values (
      p_id, p_customer_id, p_api_key_id, p_node_id, p_request_id, p_session_id, p_model_id, p_is_stream,
      p_amount_nano_brl, 0, p_price_id, p_fx_rate_id, p_fx_rate_e4, p_markup_e4,
      p_prompt_tokens_estimated, v_now);
  end if;
  return (extract(epoch from v_now) * 1000)::int8 || ';' || v_verdict || ',' || v_key_seq || ',' || v_ip_seq
    || ',' || v_balance || ',' || v_held || ',,';
end $$;

-- Without what `resolve_alone` and `hold_alone` do now.
create or replace function resolve_holds(p_resolutions ledger_resolution[]) returns int4 language plpgsql as $$
declare
  v_now timestamptz := clock_timestamp();
  v_closed int4 := 0;
  g closed_holds;
begin
  for g in
    with closed as (
      delete from holds h using unnest(p_resolutions) as r
      where h.id = r.id
      returning h.customer_id, h.api_key_id, h.team_id, h.request_id, h.session_id, h.model_id, h.is_stream,
        h.amount_nano_brl, h.budget_pico_usd, h.price_id, h.fx_rate_id, h.fx_rate_e4, h.markup_e4,
        h.tokens_counted, h.tokens_window_at, h.created_at, r.*
    ), events as (
      insert into usage_events (
        id, customer_id, api_key_id, team_id, request_id, session_id, model_id, upstream_id, is_stream,
        outcome, reason, usage_kind, prompt_tokens, cached_tokens, cache_write_tokens,
        completion_tokens, reasoning_tokens, held_nano_brl, cost_upstream_pico_usd,
        cost_billed_nano_brl, price_id, fx_rate_id, fx_rate_e4, markup_e4,
        first_byte_ms, duration_ms, created_at, settled_at, units, attempts)
      select id, customer_id, api_key_id, team_id, request_id, session_id, model_id, upstream_id, is_stream,
        outcome, reason, usage_kind, prompt_tokens, cached_tokens, cache_write_tokens,
        completion_tokens, reasoning_tokens, amount_nano_brl, cost_pico_usd,
        billed_nano_brl, coalesce(answered_price_id, price_id), fx_rate_id, fx_rate_e4, markup_e4,
        first_byte_ms, duration_ms, created_at, v_now, units, attempts
      from closed
    )
    select customer_id, api_key_id, team_id, model_id, date_trunc('hour', created_at) as hour_at, tokens_window_at,
      count(*)::int4 as calls, (count(*) filter (where outcome = 'charged'))::int4 as charged,
      sum(prompt_tokens)::int8 as prompt_tokens, sum(completion_tokens)::int8 as completion_tokens,
      sum(cost_pico_usd)::int8 as cost, sum(billed_nano_brl)::int8 as billed,
      sum(amount_nano_brl)::int8 as held,
      sum(budget_pico_usd)::int8 as budget_held,
      (sum(billed_pico_usd) filter (where budget_pico_usd > 0))::int8 as budget_spent,
      (sum(prompt_tokens + completion_tokens - tokens_counted) filter (where tokens_window_at is not null))::int8 as tokens_more,
      array_agg((session_id, model_id, prompt_tokens, completion_tokens, billed_nano_brl, created_at)::session_use)
        filter (where outcome = 'charged' and session_id is not null) as session_uses
    from closed group by 1, 2, 3, 4, 5, 6
  loop
    v_closed := v_closed + g.calls;
    perform settle_holds(g);
  end loop;
  return cardinality(p_resolutions) - v_closed;
end $$;
drop function close_hold(ledger_resolution, timestamptz);

create or replace function ledger_batch(
  p_node_id uuid, p_customer_ids uuid[], p_resolutions ledger_resolution[], p_marks ledger_mark[],
  p_subjects text[], p_subject_requests int8[], p_attempts ledger_attempt[], p_may_lag bool
) returns text language plpgsql as $$
declare
  v_gone int4 := 0;
  v_missing text := '';
  v_marked int4 := 0;
  v_verdicts text := '';
begin
  if p_may_lag then
    perform set_config('synchronous_commit', 'off', true);
  end if;
  -- A lone account is locked where it is read or written first, which is before the rate windows.
  if cardinality(p_customer_ids) > 1 then
    perform 1 from accounts where customer_id = any (p_customer_ids) order by customer_id for no key update;
  end if;
  if p_marks is not null then
    v_marked := mark_holds(p_marks);
  end if;
  if p_resolutions is not null then
    v_gone := resolve_holds(p_resolutions);
    if v_gone > 0 then
      select coalesce(string_agg(r.id::text, ','), '') into v_missing
      from unnest(p_resolutions) as r
      where not exists (select from usage_events e where e.id = r.id);
    end if;
  end if;
  if p_attempts is not null then
    v_verdicts := ';' || take_holds(p_node_id, p_subjects, p_subject_requests, p_attempts);
  end if;
  return v_gone || ';' || v_missing || ';' || v_marked || v_verdicts;
end $$;
drop function take_lone_hold(uuid, text[], int8[], ledger_attempt);
