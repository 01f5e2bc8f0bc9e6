-- A verdict as `readVerdict` in src/money/ledger/lane/run-batch.ts parses it; test/ledger/ledger-fields.test.ts compares the
-- order of the fields.
-- The verdicts:
--   held            the hold is taken
--   counted         the request was only to be counted
--   ip_limited, key_limited, tokens_limited   a rate limit is reached
--   stale_key       the key was revoked, changed or expired since the node read it
--   short_balance, short_team, short_budget   the amount does not fit
--   short_minute, short_day, short_task   the amount does not fit a cap of the key
-- `p_cap_left`: the least that a cap of the key has left; `p_cap_limit` and `p_cap_until` are that cap's limit and the end of
-- its period, in milliseconds since 1970 (a task has none).
create function verdict_text(
  p_verdict text, p_key_sequence int8, p_ip_sequence int8, p_balance int8, p_held int8, p_budget_left int8, p_team_left int8,
  p_cap_left int8, p_cap_limit int8, p_cap_until int8
) returns text language sql stable as $$
  select array_to_string(array[
    p_verdict, p_key_sequence::text, p_ip_sequence::text, p_balance::text, p_held::text, p_budget_left::text,
    p_team_left::text, p_cap_left::text, p_cap_limit::text, p_cap_until::text], ',', '')
$$;

-- Milliseconds since 1970, rounded down: rounded to the nearest, the last half millisecond of a minute would belong to the
-- next one, in which the request was not counted. `stable`, as `extract` is: an `immutable` one is not inlined, and costs
-- 12 µs a call.
create function epoch_ms(p_at timestamptz) returns int8 language sql stable as $$
  select floor(extract(epoch from p_at) * 1000)::int8
$$;

-- Counts the requests of a batch in the windows of this minute, by subject. `requests` includes this batch's, `tokens` are
-- those before it.
create function count_requests(
  p_subjects text[], p_subject_requests int8[], p_minute timestamptz,
  out requests int8[], out tokens int8[], out windows_at timestamptz[]
) language plpgsql as $$
declare
  v_window record;
begin
  requests := '{}';
  tokens := '{}';
  windows_at := '{}';
  for i in 1 .. cardinality(p_subjects) loop
    insert into rate_windows as w (subject, window_at, requests, tokens)
    values (p_subjects[i], p_minute, p_subject_requests[i], 0)
    on conflict (subject) do update set
      requests = excluded.requests + case when w.window_at >= excluded.window_at then w.requests else 0 end,
      tokens = case when w.window_at >= excluded.window_at then w.tokens else 0 end,
      window_at = greatest(w.window_at, excluded.window_at)
    returning w.requests, w.tokens, w.window_at into v_window;
    requests := requests || v_window.requests;
    tokens := tokens || v_window.tokens;
    windows_at := windows_at || v_window.window_at;
  end loop;
end $$;

-- Reads what a key may still hold; its version is null if it may hold nothing.
create function read_key_room(p_api_key_id uuid, p_now timestamptz) returns key_room language plpgsql as $$
declare
  k key_room;
begin
  select a.id, a.version, a.team_id, null, b.limit_pico_usd - b.held_pico_usd - case
      when b.period_started_at >= budget_period_start(b.period, b.timezone, p_now) then b.spent_pico_usd else 0 end,
    a.has_caps
  into k.api_key_id, k.version, k.team_id, k.team_left, k.budget_left, k.has_caps
  from api_keys a left join api_key_budgets b on b.api_key_id = a.id
  where a.id = p_api_key_id and a.revoked_at is null and (a.expires_at is null or a.expires_at > p_now);
  k.api_key_id := p_api_key_id;
  if k.team_id is not null then
    -- A changed cap does not lock the account. With this lock it comes before the hold, which then sees it, or after.
    select team_id, limit_nano_brl - held_nano_brl - case
      when period_started_at >= budget_period_start('month', timezone, p_now) then spent_nano_brl else 0 end
    into k.team_id, k.team_left
    from team_budgets where team_id = k.team_id for no key update;
  end if;
  if k.has_caps then
    select min(c.limit_nano_brl) filter (where c.period = 'minute'), min(c.left_nano_brl) filter (where c.period = 'minute'),
      min(c.until) filter (where c.period = 'minute'),
      min(c.limit_nano_brl) filter (where c.period = 'day'), min(c.left_nano_brl) filter (where c.period = 'day'),
      min(c.until) filter (where c.period = 'day')
    into k.minute_limit, k.minute_left, k.minute_until, k.day_limit, k.day_left, k.day_until
    from (
      select period, limit_nano_brl, cap_period_end(period, timezone, p_now) as until,
        limit_nano_brl - held_nano_brl - case
          when period_started_at >= budget_period_start(period, timezone, p_now) then spent_nano_brl else 0 end
          as left_nano_brl
      from key_caps where api_key_id = p_api_key_id) c;
  end if;
  return k;
end $$;

-- The cap of a key or of its task that has the least left; all null if there is none.
create function least_cap(a ledger_attempt, k key_room) returns cap_room language plpgsql as $$
declare
  v_least cap_room;
  v_task_left int8;
begin
  if a.task_limit_nano_brl is not null then
    select a.task_limit_nano_brl - t.held_nano_brl - t.spent_nano_brl into v_task_left
    from task_spends t where t.api_key_id = a.api_key_id and t.session_id = a.session_id;
    v_task_left := coalesce(v_task_left, a.task_limit_nano_brl);
  end if;
  select c.* into v_least
  from (values
    ('task', a.task_limit_nano_brl, v_task_left, null::timestamptz),
    ('day', k.day_limit, k.day_left, k.day_until),
    ('minute', k.minute_limit, k.minute_left, k.minute_until)) as c (cap, limit_nano_brl, left_nano_brl, until)
  where c.left_nano_brl is not null order by c.left_nano_brl limit 1;
  return v_least;
end $$;

-- Holds an amount in the caps of a key and of its task. Returns the caps that have it, as `holds.in_caps` does.
create function hold_in_caps(a ledger_attempt, k key_room) returns int2 language plpgsql as $$
begin
  if k.has_caps then
    update key_caps set held_nano_brl = held_nano_brl + a.amount_nano_brl where api_key_id = a.api_key_id;
  end if;
  if a.task_limit_nano_brl is not null then
    insert into task_spends as t (api_key_id, session_id, customer_id, limit_nano_brl, held_nano_brl)
    values (a.api_key_id, a.session_id, a.customer_id, a.task_limit_nano_brl, a.amount_nano_brl)
    on conflict (api_key_id, session_id) do update set
      limit_nano_brl = excluded.limit_nano_brl,
      held_nano_brl = t.held_nano_brl + excluded.held_nano_brl,
      last_held_at = excluded.last_held_at;
  end if;
  return case when k.minute_left is null then 0 else 1 end + case when k.day_left is null then 0 else 2 end
    + case when a.task_limit_nano_brl is null then 0 else 4 end;
end $$;

-- Judges the attempts of a batch one after another and takes the holds that fit. The attempts come sorted by customer and
-- key, and `p_subjects`, the rate windows, sorted too: that is the order of their locks.
--
-- An attempt without an `ip_place` is not counted for its address.
--
-- Returns the time, in milliseconds since 1970 and within the minute of the counts, and the verdicts in the order of the
-- attempts, separated by `;`.
create function take_holds(
  p_node_id uuid, p_subjects text[], p_subject_requests int8[], p_attempts ledger_attempt[]
) returns text language plpgsql as $$
declare
  v_now timestamptz := clock_timestamp();
  v_minute timestamptz := date_trunc('minute', v_now);
  v_counted record;
  -- The values of the rows, carried from attempt to attempt.
  v_customer_id uuid;
  v_balance int8;
  v_held int8;
  -- The sum of the holds that the attempts of this customer have taken so far.
  v_taken int8 := 0;
  v_tokens int8;
  k key_room;
  v_cap cap_room;
  a ledger_attempt;
  v_key_seq int8;
  v_ip_seq int8;
  v_verdict text;
  v_verdicts text[] := '{}';
  -- Indexed by the place of the attempt; null means false.
  v_place int4 := 0;
  v_is_held bool[] := '{}';
  v_has_budget bool[] := '{}';
  v_team_ids uuid[] := '{}';
  v_in_caps int2[] := '{}';
begin
  v_counted := count_requests(p_subjects, p_subject_requests, v_minute);
  foreach a in array p_attempts loop
    v_place := v_place + 1;
    if a.customer_id is distinct from v_customer_id then
      if v_taken > 0 then
        update accounts set held_nano_brl = held_nano_brl + v_taken where customer_id = v_customer_id;
        v_taken := 0;
      end if;
      v_customer_id := a.customer_id;
      -- `ledger_batch` has already locked the account; for every other caller this read locks it.
      select credited_nano_brl - debited_nano_brl - charged_nano_brl, held_nano_brl
      into v_balance, v_held
      from accounts where customer_id = v_customer_id for no key update;
    end if;
    -- A request that is only counted has no lock of an account, and so may take none of a cap.
    if a.id is not null and a.api_key_id is distinct from k.api_key_id then
      k := read_key_room(a.api_key_id, v_now);
      v_tokens := v_counted.tokens[a.key_place];
    end if;
    v_cap := case when a.id is not null and (k.has_caps or a.task_limit_nano_brl is not null) then least_cap(a, k) end;
    v_key_seq := v_counted.requests[a.key_place] + a.key_offset;
    v_ip_seq := v_counted.requests[a.ip_place] + a.ip_offset;

    v_verdict := case
      when not a.is_repeated and v_ip_seq > a.ip_requests_per_minute then 'ip_limited'
      when not a.is_repeated and v_key_seq > a.requests_per_minute then 'key_limited'
      when a.id is null then 'counted'
      when k.version is distinct from a.key_version then 'stale_key'
      when v_tokens + a.tokens_counted > a.tokens_per_minute then 'tokens_limited'
      when v_balance is null or a.amount_nano_brl > v_balance - v_held then 'short_balance'
      when a.amount_nano_brl > k.team_left then 'short_team'
      when a.budget_pico_usd > k.budget_left then 'short_budget'
      when a.amount_nano_brl > v_cap.left_nano_brl then 'short_' || v_cap.cap
      else 'held'
    end;

    if v_verdict = 'held' then
      v_is_held[v_place] := true;
      v_held := v_held + a.amount_nano_brl;
      v_taken := v_taken + a.amount_nano_brl;
      if k.budget_left is not null then
        v_has_budget[v_place] := true;
        k.budget_left := k.budget_left - a.budget_pico_usd;
        update api_key_budgets set held_pico_usd = held_pico_usd + a.budget_pico_usd where api_key_id = a.api_key_id;
      end if;
      if k.team_id is not null then
        v_team_ids[v_place] := k.team_id;
        k.team_left := k.team_left - a.amount_nano_brl;
        update team_budgets set held_nano_brl = held_nano_brl + a.amount_nano_brl where team_id = k.team_id;
      end if;
      if v_cap.cap is not null then
        v_in_caps[v_place] := hold_in_caps(a, k);
        v_cap.left_nano_brl := v_cap.left_nano_brl - a.amount_nano_brl;
        k.minute_left := k.minute_left - a.amount_nano_brl;
        k.day_left := k.day_left - a.amount_nano_brl;
      end if;
      if a.tokens_per_minute is not null then
        v_tokens := v_tokens + a.tokens_counted;
        update rate_windows set tokens = v_tokens where subject = 'k:' || a.api_key_id;
      end if;
    end if;
    v_verdicts := v_verdicts || verdict_text(v_verdict, v_key_seq, v_ip_seq, v_balance, v_held,
      case when a.id is not null then k.budget_left end, case when a.id is not null then k.team_left end,
      v_cap.left_nano_brl, v_cap.limit_nano_brl, epoch_ms(v_cap.until));
  end loop;
  if v_taken > 0 then
    update accounts set held_nano_brl = held_nano_brl + v_taken where customer_id = v_customer_id;
  end if;

  if v_is_held <> '{}' then
    insert into holds (
      id, customer_id, api_key_id, team_id, node_id, request_id, session_id, model_id, is_stream,
      amount_nano_brl, budget_pico_usd, price_id, fx_rate_id, fx_rate_e4, markup_e4,
      prompt_tokens_estimated, tokens_counted, tokens_window_at, created_at, in_caps)
    select id, customer_id, api_key_id, v_team_ids[place], p_node_id, request_id, session_id, model_id, is_stream,
      amount_nano_brl, case when v_has_budget[place] then budget_pico_usd else 0 end,
      price_id, fx_rate_id, fx_rate_e4, markup_e4, prompt_tokens_estimated,
      case when tokens_per_minute is not null then tokens_counted end,
      case when tokens_per_minute is not null then v_counted.windows_at[key_place] end, v_now, coalesce(v_in_caps[place], 0)
    from rows from (unnest(p_attempts)) with ordinality as held(
      id, is_repeated, customer_id, api_key_id, key_version, key_place, key_offset, ip_place, ip_offset,
      requests_per_minute, ip_requests_per_minute, tokens_per_minute, request_id, session_id, model_id,
      is_stream, amount_nano_brl, budget_pico_usd, price_id, fx_rate_id, fx_rate_e4, markup_e4,
      prompt_tokens_estimated, tokens_counted, task_limit_nano_brl, place)
    where v_is_held[place];
  end if;
  return epoch_ms(least(v_now, v_minute + interval '59.999 s')) || ';' || array_to_string(v_verdicts, ';');
end $$;
