-- One round trip resolves, marks and takes holds for a whole batch of calls.
-- Every function here is PL/pgSQL, whose plans are kept for the session: before PostgreSQL 18 a function
-- in SQL is planned again at every call.
--
-- Locks are taken in one order everywhere: accounts by customer id, then rate windows by subject. Every
-- other row belongs to one customer. Two nodes that resolve one hold at once may still cross each other
-- (hold, account); the one that the database then ends has changed nothing and is run again.
--
-- p_resolutions: how held calls ended. One whose hold is gone was resolved before: it changes nothing
--   and is counted in `gone`, so repeating a batch is harmless.
-- p_marks: checkpoints of running calls.
-- p_subjects, p_subject_requests: how many new requests each rate window gets.
-- p_attempts: calls that ask for a hold; one without `id` only counts against the limits, one that
--   `is_repeated` was counted before and is not counted again. They are judged one after another in
--   their order within each customer, so what fits is exactly what is held.
--
-- An attempt's verdict is one of
--   held                          the money is set aside
--   counted                       (without id) counted, nothing held
--   ip_limited, key_limited, tokens_limited
--   stale_key                     the key was changed or revoked since the node read it
--   short_balance, short_budget   it does not fit beside what is held already
-- Rows come as arrays of these: reading JSON took a quarter of the database's time.
create type ledger_attempt as (
  id uuid, is_repeated bool, customer_id uuid, api_key_id uuid, key_version int4,
  key_place int4, key_offset int4, ip_place int4, ip_offset int4,
  requests_per_minute int8, ip_requests_per_minute int8, tokens_per_minute int8,
  request_id uuid, session_id text, model_id text, is_stream bool,
  amount_nano_brl int8, budget_pico_usd int8, price_id int4, fx_rate_id int4,
  fx_rate_e4 int4, markup_e4 int4, prompt_tokens_estimated int4, tokens_counted int8
);
create type ledger_resolution as (
  id uuid, outcome call_outcome, reason text, upstream_id text, usage_kind usage_kind,
  prompt_tokens int4, cached_tokens int4, cache_write_tokens int4,
  completion_tokens int4, reasoning_tokens int4,
  cost_pico_usd int8, billed_nano_brl int8, billed_pico_usd int8,
  first_byte_ms int4, duration_ms int4
);
create type ledger_mark as (id uuid, output_tokens_seen int4);

create function ledger_batch(
  p_node_id uuid, p_customer_ids uuid[], p_resolutions ledger_resolution[], p_marks ledger_mark[],
  p_subjects text[], p_subject_requests int8[], p_attempts ledger_attempt[]
) returns json language plpgsql as $$
begin
  -- A lone account is locked where it is read or written first, which is before the rate windows.
  if cardinality(p_customer_ids) > 1 then
    perform 1 from accounts where customer_id = any (p_customer_ids) order by customer_id for no key update;
  end if;
  if p_marks is not null then
    perform mark_holds(p_marks);
  end if;
  return json_build_object(
    'gone', case when p_resolutions is not null then resolve_holds(p_resolutions) end,
    'verdicts', case when p_attempts is not null then take_holds(p_node_id, p_subjects, p_subject_requests, p_attempts) end);
end $$;

create function mark_holds(p_marks ledger_mark[]) returns void language plpgsql as $$
begin
  update holds h
  set dispatched_at = coalesce(h.dispatched_at, now()),
    output_began_at = case when m.output_tokens_seen > 0 then coalesce(h.output_began_at, now()) else h.output_began_at end,
    output_tokens_seen = greatest(h.output_tokens_seen, m.output_tokens_seen)
  from unnest(p_marks) as m
  where h.id = m.id;
end $$;

-- Returns how many of the resolutions found no hold.
create function resolve_holds(p_resolutions ledger_resolution[]) returns int4 language plpgsql as $$
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
        first_byte_ms, duration_ms, created_at, settled_at)
      select id, customer_id, api_key_id, request_id, session_id, model_id, upstream_id, is_stream,
        outcome, reason, usage_kind, prompt_tokens, cached_tokens, cache_write_tokens,
        completion_tokens, reasoning_tokens, amount_nano_brl, cost_pico_usd,
        billed_nano_brl, price_id, fx_rate_id, fx_rate_e4, markup_e4,
        first_byte_ms, duration_ms, created_at, v_now
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

-- Where there are several accounts they must be locked. Returns the verdicts in the order of the attempts, which must
-- come sorted by customer and key. `key_place` and `ip_place` are the places of an attempt's subjects in
-- `p_subjects`, which must come sorted: that is the order of their locks. `key_offset` and `ip_offset` say
-- how many new requests of this batch come after it in their windows, as a number from 0 down.
create function take_holds(
  p_node_id uuid, p_subjects text[], p_subject_requests int8[], p_attempts ledger_attempt[]
) returns json language plpgsql as $$
declare
  v_now timestamptz := clock_timestamp();
  v_minute timestamptz := date_trunc('minute', v_now);
  -- Of the current minute, by subject: requests with those of this batch, and tokens before it.
  v_requests int8[] := '{}';
  v_tokens_before int8[] := '{}';
  v_windows_at timestamptz[] := '{}';
  v_window record;
  -- What the rows say, carried on from attempt to attempt.
  v_customer_id uuid;
  v_balance int8;
  v_held int8;
  v_held_before int8;
  v_api_key_id uuid;
  v_key_version int4;
  v_budget_left int8;
  v_tokens int8;
  a ledger_attempt;
  v_key_seq int8;
  v_ip_seq int8;
  v_verdict text;
  v_verdicts json[] := '{}';
  -- By the place of the attempt.
  v_is_held bool[] := '{}';
  v_has_budget bool[] := '{}';
begin
  -- Locked before the rate windows; the loop goes on from here.
  v_customer_id := p_attempts[1].customer_id;
  select credited_nano_brl - debited_nano_brl - charged_nano_brl, held_nano_brl, held_nano_brl
  into v_balance, v_held, v_held_before
  from accounts where customer_id = v_customer_id for no key update;

  for i in 1 .. cardinality(p_subjects) loop
    insert into rate_windows as w (subject, window_at, requests, tokens)
    values (p_subjects[i], v_minute, p_subject_requests[i], 0)
    on conflict (subject) do update set
      requests = excluded.requests + case when w.window_at >= excluded.window_at then w.requests else 0 end,
      tokens = case when w.window_at >= excluded.window_at then w.tokens else 0 end,
      window_at = greatest(w.window_at, excluded.window_at)
    returning w.requests, w.tokens, w.window_at into v_window;
    v_requests := v_requests || v_window.requests;
    v_tokens_before := v_tokens_before || v_window.tokens;
    v_windows_at := v_windows_at || v_window.window_at;
  end loop;

  foreach a in array p_attempts loop
    if a.customer_id is distinct from v_customer_id then
      if v_held <> v_held_before then
        update accounts set held_nano_brl = v_held where customer_id = v_customer_id;
      end if;
      v_customer_id := a.customer_id;
      select credited_nano_brl - debited_nano_brl - charged_nano_brl, held_nano_brl, held_nano_brl
      into v_balance, v_held, v_held_before
      from accounts where customer_id = v_customer_id;
    end if;
    if a.api_key_id is distinct from v_api_key_id then
      v_api_key_id := a.api_key_id;
      v_tokens := v_tokens_before[a.key_place];
      select k.version, b.limit_pico_usd - b.held_pico_usd - case
        when b.period_started_at = budget_period_start(b.period, b.timezone) then b.spent_pico_usd else 0 end
      into v_key_version, v_budget_left
      from api_keys k left join api_key_budgets b on b.api_key_id = k.id
      where k.id = v_api_key_id and k.revoked_at is null and (k.expires_at is null or k.expires_at > v_now);
    end if;
    v_key_seq := v_requests[a.key_place] + a.key_offset;
    v_ip_seq := v_requests[a.ip_place] + a.ip_offset;

    v_verdict := case
      when not a.is_repeated and v_ip_seq > a.ip_requests_per_minute then 'ip_limited'
      when not a.is_repeated and v_key_seq > a.requests_per_minute then 'key_limited'
      when a.id is null then 'counted'
      when v_key_version is distinct from a.key_version then 'stale_key'
      when v_tokens + a.tokens_counted > a.tokens_per_minute then 'tokens_limited'
      when v_balance is null or a.amount_nano_brl > v_balance - v_held then 'short_balance'
      when a.budget_pico_usd > v_budget_left then 'short_budget'
      else 'held'
    end;

    if v_verdict = 'held' then
      v_held := v_held + a.amount_nano_brl;
      if v_budget_left is not null then
        v_budget_left := v_budget_left - a.budget_pico_usd;
        update api_key_budgets set held_pico_usd = held_pico_usd + a.budget_pico_usd where api_key_id = v_api_key_id;
      end if;
      if a.tokens_per_minute is not null then
        v_tokens := v_tokens + a.tokens_counted;
        update rate_windows set tokens = v_tokens where subject = 'k:' || v_api_key_id;
      end if;
    end if;
    v_is_held := v_is_held || (v_verdict = 'held');
    v_has_budget := v_has_budget || (v_budget_left is not null);
    v_verdicts := v_verdicts || json_build_object(
      'verdict', v_verdict, 'key_seq', v_key_seq, 'ip_seq', v_ip_seq,
      'balance', v_balance::text, 'held', v_held::text, 'budget_left', v_budget_left::text);
  end loop;
  if v_held <> v_held_before then
    update accounts set held_nano_brl = v_held where customer_id = v_customer_id;
  end if;

  if true = any (v_is_held) then
    insert into holds (
      id, customer_id, api_key_id, node_id, request_id, session_id, model_id, is_stream,
      amount_nano_brl, budget_pico_usd, price_id, fx_rate_id, fx_rate_e4, markup_e4,
      prompt_tokens_estimated, tokens_counted, tokens_window_at, created_at)
    select id, customer_id, api_key_id, p_node_id, request_id, session_id, model_id, is_stream,
      amount_nano_brl, case when v_has_budget[place] then budget_pico_usd else 0 end,
      price_id, fx_rate_id, fx_rate_e4, markup_e4, prompt_tokens_estimated,
      case when tokens_per_minute is not null then tokens_counted end,
      case when tokens_per_minute is not null then v_windows_at[key_place] end, v_now
    from rows from (unnest(p_attempts)) with ordinality as held(
      id, is_repeated, customer_id, api_key_id, key_version, key_place, key_offset, ip_place, ip_offset,
      requests_per_minute, ip_requests_per_minute, tokens_per_minute, request_id, session_id, model_id,
      is_stream, amount_nano_brl, budget_pico_usd, price_id, fx_rate_id, fx_rate_e4, markup_e4,
      prompt_tokens_estimated, tokens_counted, place)
    where v_is_held[place];
  end if;
  return json_build_object('at', v_now, 'list', array_to_json(v_verdicts));
end $$;
