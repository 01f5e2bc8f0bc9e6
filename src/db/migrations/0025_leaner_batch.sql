-- The statement that moves the money, leaner for a call that is alone in it, which is when its time is felt: a
-- lone resolution goes without the grouping, teams are read for keys of teams only, the answer is plain text and
-- not JSON, and holds do not make the database look at the trigger that tells of balances. Nor does a hold of a
-- plain answer wait for the disk any more: see `p_may_lag`.

-- Only a charge moves `charged_nano_brl`, and only down through zero: `settle_holds` tells that itself. Looking at
-- the condition costs a trigger as much as a statement.
create function tell_balance(p_customer_id uuid, p_balance int8) returns void language plpgsql as $$
begin
  insert into events (id, customer_id, type, data)
  select gen_random_uuid(), c.id, case when p_balance > 0 then 'balance.restored' else 'balance.depleted' end,
    jsonb_build_object('balance_brl', trim_scale(p_balance::numeric / 1000000000)::text)
  from customers c where c.id = p_customer_id and c.deleted_at is null;
end $$;
create or replace function tell_balance_turned() returns trigger language plpgsql as $$
begin
  perform tell_balance(new.customer_id, new.credited_nano_brl - new.debited_nano_brl - new.charged_nano_brl);
  return null;
end $$;
drop trigger tell_balance_turned on accounts;
create trigger tell_balance_turned after update of credited_nano_brl, debited_nano_brl on accounts for each row
  when (
    (old.credited_nano_brl - old.debited_nano_brl - old.charged_nano_brl > 0)
      <> (new.credited_nano_brl - new.debited_nano_brl - new.charged_nano_brl > 0)
    and new.debited_nano_brl + new.charged_nano_brl > 0
  ) execute function tell_balance_turned();

-- Resolved holds of one key, model, hour and rate window: what the rows of the customer change by.
create type closed_holds as (
  customer_id uuid, api_key_id uuid, team_id uuid, model_id text, hour_at timestamptz, tokens_window_at timestamptz,
  calls int4, charged int4, prompt_tokens int8, completion_tokens int8, cost int8, billed int8, held int8,
  budget_held int8, budget_spent int8, tokens_more int8, session_uses session_use[]
);

-- Closes one hold and writes its event, as `resolve_holds` does for many. `calls` is null where it is gone.
create function close_hold(r ledger_resolution, p_now timestamptz) returns closed_holds language plpgsql as $$
declare
  h holds;
  g closed_holds;
begin
  delete from holds where id = r.id returning * into h;
  if h.id is null then
    return g;
  end if;
  insert into usage_events (
    id, customer_id, api_key_id, team_id, request_id, session_id, model_id, upstream_id, is_stream,
    outcome, reason, usage_kind, prompt_tokens, cached_tokens, cache_write_tokens,
    completion_tokens, reasoning_tokens, held_nano_brl, cost_upstream_pico_usd,
    cost_billed_nano_brl, price_id, fx_rate_id, fx_rate_e4, markup_e4,
    first_byte_ms, duration_ms, created_at, settled_at, units, attempts)
  values (
    h.id, h.customer_id, h.api_key_id, h.team_id, h.request_id, h.session_id, h.model_id, r.upstream_id, h.is_stream,
    r.outcome, r.reason, r.usage_kind, r.prompt_tokens, r.cached_tokens, r.cache_write_tokens,
    r.completion_tokens, r.reasoning_tokens, h.amount_nano_brl, r.cost_pico_usd,
    r.billed_nano_brl, coalesce(r.answered_price_id, h.price_id), h.fx_rate_id, h.fx_rate_e4, h.markup_e4,
    r.first_byte_ms, r.duration_ms, h.created_at, p_now, r.units, r.attempts);
  g := (h.customer_id, h.api_key_id, h.team_id, h.model_id, date_trunc('hour', h.created_at), h.tokens_window_at,
    1, case when r.outcome = 'charged' then 1 else 0 end, r.prompt_tokens, r.completion_tokens,
    r.cost_pico_usd, r.billed_nano_brl, h.amount_nano_brl,
    h.budget_pico_usd, r.billed_pico_usd, r.prompt_tokens + r.completion_tokens - h.tokens_counted,
    case when r.outcome = 'charged' and h.session_id is not null then
      array[(h.session_id, h.model_id, r.prompt_tokens, r.completion_tokens, r.billed_nano_brl, h.created_at)::session_use] end);
  return g;
end $$;

-- Moves the money of resolved holds, and adds them to the roll-ups, budgets and the rate window.
create function settle_holds(g closed_holds) returns void language plpgsql as $$
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
end $$;

-- Returns how many of the resolutions found no hold.
create or replace function resolve_holds(p_resolutions ledger_resolution[]) returns int4 language plpgsql as $$
declare
  v_now timestamptz := clock_timestamp();
  v_closed int4 := 0;
  g closed_holds;
begin
  if cardinality(p_resolutions) = 1 then
    g := close_hold(p_resolutions[1], v_now);
    if g.calls is null then
      return 1;
    end if;
    perform settle_holds(g);
    return 0;
  end if;
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

drop function mark_holds(ledger_mark[]);
-- Returns how many of them were there.
create function mark_holds(p_marks ledger_mark[]) returns int4 language plpgsql as $$
declare
  v_marked int4;
begin
  update holds h
  set dispatched_at = coalesce(h.dispatched_at, now()),
    output_began_at = case when m.output_tokens_seen > 0 then coalesce(h.output_began_at, now()) else h.output_began_at end,
    output_tokens_seen = greatest(h.output_tokens_seen, m.output_tokens_seen)
  from unnest(p_marks) as m
  where h.id = m.id;
  get diagnostics v_marked = row_count;
  return v_marked;
end $$;

drop function ledger_batch(uuid, uuid[], ledger_resolution[], ledger_mark[], text[], int8[], ledger_attempt[]);
drop function take_holds(uuid, text[], int8[], ledger_attempt[]);

-- Returns when it was, in milliseconds since 1970, and the verdicts in the order of the attempts, each after a
-- `;`: verdict, sequence of the key and of the address, balance, held, what is left of the budget and of the
-- team's cap, with commas between. Where there are several accounts they must be locked. The attempts must come
-- sorted by customer and key. `key_place` and `ip_place` are the places of an attempt's subjects in
-- `p_subjects`, which must come sorted: that is the order of their locks. `key_offset` and `ip_offset` say how
-- many new requests of this batch come after it in their windows, as a number from 0 down. What the verdicts
-- mean is said in 0002_ledger_batch.sql and, of short_team, in 0006_rollups_and_caps.sql.
create function take_holds(
  p_node_id uuid, p_subjects text[], p_subject_requests int8[], p_attempts ledger_attempt[]
) returns text language plpgsql as $$
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
  v_key_team_id uuid;
  v_budget_left int8;
  v_team_id uuid;
  v_team_left int8;
  v_tokens int8;
  a ledger_attempt;
  v_key_seq int8;
  v_ip_seq int8;
  v_verdict text;
  v_verdicts text[] := '{}';
  -- By the place of the attempt; null where it is not so.
  v_place int4 := 0;
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
    v_place := v_place + 1;
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
      v_team_id := null;
      v_team_left := null;
      select k.version, k.team_id, b.limit_pico_usd - b.held_pico_usd - case
        when b.period_started_at = budget_period_start(b.period, b.timezone) then b.spent_pico_usd else 0 end
      into v_key_version, v_key_team_id, v_budget_left
      from api_keys k left join api_key_budgets b on b.api_key_id = k.id
      where k.id = v_api_key_id and k.revoked_at is null and (k.expires_at is null or k.expires_at > v_now);
      if v_key_team_id is not null then
        select team_id, limit_nano_brl - held_nano_brl - case
          when period_started_at = budget_period_start('month', timezone) then spent_nano_brl else 0 end
        into v_team_id, v_team_left
        from team_budgets where team_id = v_key_team_id;
      end if;
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
      v_is_held[v_place] := true;
      v_held := v_held + a.amount_nano_brl;
      if v_budget_left is not null then
        v_has_budget[v_place] := true;
        v_budget_left := v_budget_left - a.budget_pico_usd;
        update api_key_budgets set held_pico_usd = held_pico_usd + a.budget_pico_usd where api_key_id = v_api_key_id;
      end if;
      if v_team_id is not null then
        v_team_ids[v_place] := v_team_id;
        v_team_left := v_team_left - a.amount_nano_brl;
        update team_budgets set held_nano_brl = held_nano_brl + a.amount_nano_brl where team_id = v_team_id;
      end if;
      if a.tokens_per_minute is not null then
        v_tokens := v_tokens + a.tokens_counted;
        update rate_windows set tokens = v_tokens where subject = 'k:' || v_api_key_id;
      end if;
    end if;
    v_verdicts := v_verdicts || array_to_string(
      array[v_verdict, v_key_seq::text, v_ip_seq::text, v_balance::text, v_held::text, v_budget_left::text, v_team_left::text],
      ',', '');
  end loop;
  if v_held <> v_held_before then
    update accounts set held_nano_brl = v_held where customer_id = v_customer_id;
  end if;

  if v_is_held <> '{}' then
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
  return (extract(epoch from v_now) * 1000)::int8 || ';' || array_to_string(v_verdicts, ';');
end $$;

-- `p_may_lag`: the commit does not wait for the disk. What it did holds at once for everybody, and only a crash of
-- the database itself, within its next moment, forgets it whole. Whoever asks for that must be sure not to have
-- answered by it before a commit that waited: a resolution that is not `missing`, or a mark that was found.
--
-- Returns, with a `;` between: how many of the resolutions found no hold; the ids, with commas between, of those
-- of them that are missing, which have no event either (never taken, or forgotten); how many marks found their
-- hold; and where there are attempts what `take_holds` does.
create function ledger_batch(
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
