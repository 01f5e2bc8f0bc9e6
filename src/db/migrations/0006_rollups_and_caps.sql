-- Roll-ups of days and of sessions, and the monthly cap of a team: kept by the statement that moves the
-- money.

alter table holds add column team_id uuid;
alter table usage_events add column team_id uuid;

-- Sums of usage_hours over days of UTC, made when a day is over. Up to `accounts.usage_days_until` they
-- are complete: what is settled later for an hour before it is added to both.
create table usage_days (
  customer_id uuid not null,
  day_at timestamptz not null,
  api_key_id uuid not null,
  model_id text not null,
  charged_requests int8 not null,
  released_requests int8 not null,
  prompt_tokens int8 not null,
  completion_tokens int8 not null,
  cost_upstream_pico_usd int8 not null,
  cost_billed_nano_brl int8 not null,
  primary key (customer_id, day_at, api_key_id, model_id)
);
alter table accounts add column usage_days_until timestamptz not null default '-infinity';

-- Charged calls that named a session. Sorted by bytes, so that sessions whose names begin alike are found
-- together.
create table usage_sessions (
  customer_id uuid not null,
  session_id text collate "C" not null,
  requests int8 not null,
  prompt_tokens int8 not null,
  completion_tokens int8 not null,
  cost_billed_nano_brl int8 not null,
  model_ids text[] not null,
  first_request_at timestamptz not null,
  last_request_at timestamptz not null,
  primary key (customer_id, session_id)
) with (fillfactor = 60);
create index usage_sessions_by_time on usage_sessions (customer_id, last_request_at desc, session_id desc);
insert into usage_sessions
select customer_id, session_id, count(*), sum(prompt_tokens), sum(completion_tokens), sum(cost_billed_nano_brl),
  array_agg(distinct model_id), min(created_at), max(created_at)
from usage_events where outcome = 'charged' and session_id is not null group by 1, 2;

create index usage_events_by_session on usage_events (customer_id, session_id, created_at, id)
  where session_id is not null;

create type session_use as (
  session_id text, model_id text, prompt_tokens int4, completion_tokens int4, billed_nano_brl int8, at timestamptz
);

-- Returns how many of the resolutions found no hold.
create or replace function resolve_holds(p_resolutions ledger_resolution[]) returns int4 language plpgsql as $$
declare
  v_now timestamptz := clock_timestamp();
  v_closed int4 := 0;
  v_days_until timestamptz;
  g record;
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
      count(*)::int4 as calls, count(*) filter (where outcome = 'charged') as charged,
      sum(prompt_tokens) as prompt_tokens, sum(completion_tokens) as completion_tokens,
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
    update accounts
    set held_nano_brl = held_nano_brl - g.held, charged_nano_brl = charged_nano_brl + g.billed
    where customer_id = g.customer_id
    returning usage_days_until into v_days_until;
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
    if g.hour_at < v_days_until then
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
  end loop;
  return cardinality(p_resolutions) - v_closed;
end $$;

-- The customer's account must be locked.
create function add_session_uses(p_customer_id uuid, p_uses session_use[]) returns void language plpgsql as $$
begin
  insert into usage_sessions as s (
    customer_id, session_id, requests, prompt_tokens, completion_tokens, cost_billed_nano_brl,
    model_ids, first_request_at, last_request_at)
  select p_customer_id, session_id, count(*), sum(prompt_tokens), sum(completion_tokens), sum(billed_nano_brl),
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

-- An attempt of a team's key may also get the verdict short_team: it does not fit in what is left of the team's cap.
-- Where there are several accounts they must be locked. Returns the verdicts in the order of the attempts, which must
-- come sorted by customer and key. `key_place` and `ip_place` are the places of an attempt's subjects in
-- `p_subjects`, which must come sorted: that is the order of their locks. `key_offset` and `ip_offset` say
-- how many new requests of this batch come after it in their windows, as a number from 0 down.
create or replace function take_holds(
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
  v_team_id uuid;
  v_team_left int8;
  v_tokens int8;
  a ledger_attempt;
  v_key_seq int8;
  v_ip_seq int8;
  v_verdict text;
  v_verdicts json[] := '{}';
  -- By the place of the attempt.
  v_is_held bool[] := '{}';
  v_has_budget bool[] := '{}';
  v_team_ids uuid[] := '{}';
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
        when b.period_started_at = budget_period_start(b.period, b.timezone) then b.spent_pico_usd else 0 end,
        t.team_id, t.limit_nano_brl - t.held_nano_brl - case
        when t.period_started_at = budget_period_start('month', t.timezone) then t.spent_nano_brl else 0 end
      into v_key_version, v_budget_left, v_team_id, v_team_left
      from api_keys k left join api_key_budgets b on b.api_key_id = k.id left join team_budgets t on t.team_id = k.team_id
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
      when a.amount_nano_brl > v_team_left then 'short_team'
      when a.budget_pico_usd > v_budget_left then 'short_budget'
      else 'held'
    end;

    if v_verdict = 'held' then
      v_held := v_held + a.amount_nano_brl;
      if v_budget_left is not null then
        v_budget_left := v_budget_left - a.budget_pico_usd;
        update api_key_budgets set held_pico_usd = held_pico_usd + a.budget_pico_usd where api_key_id = v_api_key_id;
      end if;
      if v_team_id is not null then
        v_team_left := v_team_left - a.amount_nano_brl;
        update team_budgets set held_nano_brl = held_nano_brl + a.amount_nano_brl where team_id = v_team_id;
      end if;
      if a.tokens_per_minute is not null then
        v_tokens := v_tokens + a.tokens_counted;
        update rate_windows set tokens = v_tokens where subject = 'k:' || v_api_key_id;
      end if;
    end if;
    v_is_held := v_is_held || (v_verdict = 'held');
    v_has_budget := v_has_budget || (v_budget_left is not null);
    v_team_ids := v_team_ids || v_team_id;
    v_verdicts := v_verdicts || json_build_object(
      'verdict', v_verdict, 'key_seq', v_key_seq, 'ip_seq', v_ip_seq,
      'balance', v_balance::text, 'held', v_held::text, 'budget_left', v_budget_left::text, 'team_left', v_team_left::text);
  end loop;
  if v_held <> v_held_before then
    update accounts set held_nano_brl = v_held where customer_id = v_customer_id;
  end if;

  if true = any (v_is_held) then
    insert into holds (
      id, customer_id, api_key_id, team_id, node_id, request_id, session_id, model_id, is_stream,
      amount_nano_brl, budget_pico_usd, price_id, fx_rate_id, fx_rate_e4, markup_e4,
      prompt_tokens_estimated, tokens_counted, tokens_window_at, created_at)
    select id, customer_id, api_key_id, v_team_ids[place], p_node_id, request_id, session_id, model_id, is_stream,
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

-- Sums up the days that are over, a month of them at most: the account's lock keeps settlements out, and
-- they must not wait for long. Each of them either is in the hours that are read here, or finds
-- `usage_days_until` moved and adds to the days itself.
create function roll_usage_days(p_customer_id uuid) returns void language plpgsql as $$
declare
  v_from timestamptz;
  v_until timestamptz := date_trunc('day', now(), 'UTC');
begin
  select usage_days_until into v_from from accounts where customer_id = p_customer_id for no key update;
  select min(hour_at) into v_from from usage_hours
  where customer_id = p_customer_id and hour_at >= v_from and hour_at < v_until;
  if v_from is null then
    return;
  end if;
  v_until := least(v_until, date_trunc('day', v_from, 'UTC') + interval '31 days');
  insert into usage_days
  select customer_id, date_trunc('day', hour_at, 'UTC'), api_key_id, model_id,
    sum(charged_requests), sum(released_requests), sum(prompt_tokens), sum(completion_tokens),
    sum(cost_upstream_pico_usd), sum(cost_billed_nano_brl)
  from usage_hours where customer_id = p_customer_id and hour_at >= v_from and hour_at < v_until
  group by 1, 2, 3, 4;
  update accounts set usage_days_until = v_until where customer_id = p_customer_id;
end $$;

-- What a customer used from `p_from` until before `p_to`, to the microsecond: whole days from usage_days,
-- whole hours around them from usage_hours, and the events of the hours that are cut. Several rows for
-- the same key and model: whoever reads adds them up. `infinity` is a good end: then nothing is cut there.
create function usage_between(p_customer_id uuid, p_from timestamptz, p_to timestamptz)
returns table (
  api_key_id uuid, model_id text, charged_requests int8, released_requests int8,
  prompt_tokens int8, completion_tokens int8, cost_upstream_pico_usd int8, cost_billed_nano_brl int8
) language plpgsql stable as $$
declare
  v_hours_from timestamptz := date_trunc('hour', p_from + interval '1 hour' - interval '1 microsecond');
  v_hours_to timestamptz := greatest(v_hours_from, date_trunc('hour', p_to));
  v_days_from timestamptz := date_trunc('day', p_from + interval '1 day' - interval '1 microsecond', 'UTC');
  v_days_to timestamptz;
begin
  select least(date_trunc('day', p_to, 'UTC'), a.usage_days_until) into v_days_to
  from accounts a where a.customer_id = p_customer_id;
  if v_days_to > v_days_from then
    return query select d.api_key_id, d.model_id, d.charged_requests, d.released_requests,
      d.prompt_tokens, d.completion_tokens, d.cost_upstream_pico_usd, d.cost_billed_nano_brl
    from usage_days d where d.customer_id = p_customer_id and d.day_at >= v_days_from and d.day_at < v_days_to;
  else
    v_days_from := v_hours_from;
    v_days_to := v_hours_from;
  end if;
  return query select h.api_key_id, h.model_id, h.charged_requests, h.released_requests,
    h.prompt_tokens, h.completion_tokens, h.cost_upstream_pico_usd, h.cost_billed_nano_brl
  from usage_hours h where h.customer_id = p_customer_id and h.hour_at >= v_hours_from and h.hour_at < v_days_from
  union all
  select h.api_key_id, h.model_id, h.charged_requests, h.released_requests,
    h.prompt_tokens, h.completion_tokens, h.cost_upstream_pico_usd, h.cost_billed_nano_brl
  from usage_hours h where h.customer_id = p_customer_id and h.hour_at >= v_days_to and h.hour_at < v_hours_to;
  return query select e.api_key_id, e.model_id, (e.outcome = 'charged')::int4::int8, (e.outcome = 'released')::int4::int8,
    e.prompt_tokens::int8, e.completion_tokens::int8, e.cost_upstream_pico_usd::int8, e.cost_billed_nano_brl::int8
  from usage_events e
  where e.customer_id = p_customer_id and e.created_at >= p_from and e.created_at < least(v_hours_from, p_to)
  union all
  select e.api_key_id, e.model_id, (e.outcome = 'charged')::int4::int8, (e.outcome = 'released')::int4::int8,
    e.prompt_tokens::int8, e.completion_tokens::int8, e.cost_upstream_pico_usd::int8, e.cost_billed_nano_brl::int8
  from usage_events e
  where e.customer_id = p_customer_id and e.created_at >= v_hours_to and e.created_at < p_to;
end $$;

-- Midnight of the first of the last `p_days` days in this zone, today included.
create function first_day_start(p_timezone text, p_days int4) returns timestamptz
language sql stable as $$
  select (date_trunc('day', now() at time zone p_timezone) - make_interval(days => p_days - 1)) at time zone p_timezone
$$;
