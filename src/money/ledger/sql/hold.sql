-- A verdict as `readVerdict` in src/money/ledger/lane/read-verdict.ts parses it; test/ledger/ledger-fields.test.ts compares the
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
-- next one, in which the request was not counted.
create function epoch_ms(p_at timestamptz) returns int8 language sql immutable as $$
  select floor(extract(epoch from p_at) * 1000)::int8
$$;

-- Judges the attempts of a batch one after another and takes the holds that fit. The attempts come sorted by customer and
-- key, and `p_subjects`, the rate windows, sorted too: that is the order of their locks.
--
-- An attempt without an `ip_place` is not counted for its address.
--
-- `p_minute`: the minute in which the caller has already counted the requests; null for the current minute.
--
-- Returns the time, in milliseconds since 1970 and within the minute of the counts, and the verdicts in the order of the attempts, separated by `;`.
create function take_holds(
  p_node_id uuid, p_subjects text[], p_subject_requests int8[], p_attempts ledger_attempt[],
  p_minute timestamptz default null
) returns text language plpgsql as $$
declare
  v_now timestamptz := clock_timestamp();
  v_minute timestamptz := coalesce(p_minute, date_trunc('minute', v_now));
  -- The counts of the current minute, by subject: requests including this batch's, and tokens before this batch.
  v_requests int8[] := '{}';
  v_tokens_before int8[] := '{}';
  v_windows_at timestamptz[] := '{}';
  v_window record;
  -- The values of the rows, carried from attempt to attempt.
  v_customer_id uuid;
  v_balance int8;
  v_held int8;
  -- The sum of the holds that the attempts of this customer have taken so far.
  v_taken int8 := 0;
  v_api_key_id uuid;
  v_key_version int4;
  v_key_team_id uuid;
  v_budget_left int8;
  v_team_id uuid;
  v_team_left int8;
  v_has_caps bool;
  v_minute_limit int8;
  v_minute_left int8;
  v_minute_until timestamptz;
  v_day_limit int8;
  v_day_left int8;
  v_day_until timestamptz;
  v_task_left int8;
  -- The cap with the least left.
  v_cap text;
  v_cap_limit int8;
  v_cap_left int8;
  v_cap_until timestamptz;
  v_tokens int8;
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
    if a.id is not null and a.api_key_id is distinct from v_api_key_id then
      v_api_key_id := a.api_key_id;
      v_tokens := v_tokens_before[a.key_place];
      v_team_id := null;
      v_team_left := null;
      v_minute_left := null;
      v_day_left := null;
      select k.version, k.team_id, k.has_caps, b.limit_pico_usd - b.held_pico_usd - case
        when b.period_started_at >= budget_period_start(b.period, b.timezone, v_now) then b.spent_pico_usd else 0 end
      into v_key_version, v_key_team_id, v_has_caps, v_budget_left
      from api_keys k left join api_key_budgets b on b.api_key_id = k.id
      where k.id = v_api_key_id and k.revoked_at is null and (k.expires_at is null or k.expires_at > v_now);
      if v_key_team_id is not null then
        -- A changed cap does not lock the account. With this lock it comes before the hold, which then sees it, or after.
        select team_id, limit_nano_brl - held_nano_brl - case
          when period_started_at >= budget_period_start('month', timezone, v_now) then spent_nano_brl else 0 end
        into v_team_id, v_team_left
        from team_budgets where team_id = v_key_team_id for no key update;
      end if;
      if v_has_caps then
        select min(c.limit_nano_brl) filter (where c.period = 'minute'), min(c.left_nano_brl) filter (where c.period = 'minute'),
          min(c.until) filter (where c.period = 'minute'),
          min(c.limit_nano_brl) filter (where c.period = 'day'), min(c.left_nano_brl) filter (where c.period = 'day'),
          min(c.until) filter (where c.period = 'day')
        into v_minute_limit, v_minute_left, v_minute_until, v_day_limit, v_day_left, v_day_until
        from (
          select period, limit_nano_brl, cap_period_end(period, timezone, v_now) as until,
            limit_nano_brl - held_nano_brl - case
              when period_started_at >= budget_period_start(period, timezone, v_now) then spent_nano_brl else 0 end
              as left_nano_brl
          from key_caps where api_key_id = v_api_key_id) c;
      end if;
    end if;
    if v_cap is not null then
      v_cap := null;
      v_cap_limit := null;
      v_cap_left := null;
      v_cap_until := null;
    end if;
    if a.id is not null and (v_has_caps or a.task_limit_nano_brl is not null) then
      v_task_left := a.task_limit_nano_brl;
      if v_task_left is not null then
        select v_task_left - held_nano_brl - spent_nano_brl into v_task_left
        from task_spends where api_key_id = a.api_key_id and session_id = a.session_id;
        v_task_left := coalesce(v_task_left, a.task_limit_nano_brl);
      end if;
      select cap, limit_nano_brl, left_nano_brl, until into v_cap, v_cap_limit, v_cap_left, v_cap_until
      from (values
        ('task', a.task_limit_nano_brl, v_task_left, null::timestamptz),
        ('day', v_day_limit, v_day_left, v_day_until),
        ('minute', v_minute_limit, v_minute_left, v_minute_until)) as caps (cap, limit_nano_brl, left_nano_brl, until)
      where left_nano_brl is not null order by left_nano_brl limit 1;
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
      when a.amount_nano_brl > v_cap_left then 'short_' || v_cap
      else 'held'
    end;

    if v_verdict = 'held' then
      v_is_held[v_place] := true;
      v_held := v_held + a.amount_nano_brl;
      v_taken := v_taken + a.amount_nano_brl;
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
      if v_cap is not null then
        v_cap_left := v_cap_left - a.amount_nano_brl;
        v_in_caps[v_place] := case when v_minute_left is null then 0 else 1 end + case when v_day_left is null then 0 else 2 end
          + case when a.task_limit_nano_brl is null then 0 else 4 end;
        if v_has_caps then
          v_minute_left := v_minute_left - a.amount_nano_brl;
          v_day_left := v_day_left - a.amount_nano_brl;
          update key_caps set held_nano_brl = held_nano_brl + a.amount_nano_brl where api_key_id = v_api_key_id;
        end if;
        if a.task_limit_nano_brl is not null then
          insert into task_spends as t (api_key_id, session_id, customer_id, limit_nano_brl, held_nano_brl)
          values (a.api_key_id, a.session_id, a.customer_id, a.task_limit_nano_brl, a.amount_nano_brl)
          on conflict (api_key_id, session_id) do update set
            limit_nano_brl = excluded.limit_nano_brl,
            held_nano_brl = t.held_nano_brl + excluded.held_nano_brl,
            last_held_at = excluded.last_held_at;
        end if;
      end if;
      if a.tokens_per_minute is not null then
        v_tokens := v_tokens + a.tokens_counted;
        update rate_windows set tokens = v_tokens where subject = 'k:' || v_api_key_id;
      end if;
    end if;
    v_verdicts := v_verdicts || verdict_text(v_verdict, v_key_seq, v_ip_seq, v_balance, v_held,
      case when a.id is not null then v_budget_left end, case when a.id is not null then v_team_left end,
      v_cap_left, v_cap_limit, epoch_ms(v_cap_until));
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
      case when tokens_per_minute is not null then v_windows_at[key_place] end, v_now, coalesce(v_in_caps[place], 0)
    from rows from (unnest(p_attempts)) with ordinality as held(
      id, is_repeated, customer_id, api_key_id, key_version, key_place, key_offset, ip_place, ip_offset,
      requests_per_minute, ip_requests_per_minute, tokens_per_minute, request_id, session_id, model_id,
      is_stream, amount_nano_brl, budget_pico_usd, price_id, fx_rate_id, fx_rate_e4, markup_e4,
      prompt_tokens_estimated, tokens_counted, task_limit_nano_brl, place)
    where v_is_held[place];
  end if;
  return epoch_ms(least(v_now, v_minute + interval '59.999 s')) || ';' || array_to_string(v_verdicts, ';');
end $$;

-- `take_holds` for one attempt, with the same result, in plain values: arrays of rows, and functions that pass rows to each
-- other, take a quarter of the time of a single hold. It handles the usual attempt itself: a first attempt with a key that
-- has no budget, cap, team or token limit, on an account that covers the amount. For all others it calls `take_holds`. Without
-- a `p_ip_subject` the attempt is not counted for its address. The
-- caller sets whether the commit waits for the disk, as `ledger_batch` does by `p_commits_asynchronously`.
create function take_hold(
  p_node_id uuid, p_ip_subject text, p_key_subject text,
  p_id uuid, p_is_repeated bool, p_customer_id uuid, p_api_key_id uuid, p_key_version int4,
  p_requests_per_minute int8, p_ip_requests_per_minute int8, p_tokens_per_minute int8,
  p_request_id uuid, p_session_id text, p_model_id text, p_is_stream bool,
  p_amount_nano_brl int8, p_budget_pico_usd int8, p_price_id int4, p_fx_rate_id int4, p_fx_rate_e4 int4, p_markup_e4 int4,
  p_prompt_tokens_estimated int4, p_tokens_counted int8, p_task_limit_nano_brl int8
) returns text language plpgsql as $$
declare
  v_now timestamptz := clock_timestamp();
  v_minute timestamptz := date_trunc('minute', v_now);
  v_balance int8;
  v_held int8;
  v_ip_seq int8;
  v_key_seq int8;
  v_verdict text := 'held';
  -- The address's window is locked before the key's: `i:` before `k:`.
  v_subjects text[] := array_remove(array[p_ip_subject, p_key_subject], null);
  v_ip_place int4 := case when p_ip_subject is not null then 1 end;
begin
  if p_tokens_per_minute is null and p_task_limit_nano_brl is null and not p_is_repeated then
    -- The account is locked before the rate windows, as in every transaction.
    update accounts set held_nano_brl = held_nano_brl + p_amount_nano_brl
    where customer_id = p_customer_id
      and credited_nano_brl - debited_nano_brl - charged_nano_brl - held_nano_brl >= p_amount_nano_brl
    returning credited_nano_brl - debited_nano_brl - charged_nano_brl, held_nano_brl into v_balance, v_held;
  end if;
  if v_held is null then
    -- As above, the account is locked before the rate windows.
    perform 1 from accounts where customer_id = p_customer_id for no key update;
    return take_holds(
      p_node_id, v_subjects,
      array_fill(case when p_is_repeated then 0 else 1 end::int8, array[cardinality(v_subjects)]),
      array[(
        p_id, p_is_repeated, p_customer_id, p_api_key_id, p_key_version, cardinality(v_subjects), 0, v_ip_place, 0,
        p_requests_per_minute, p_ip_requests_per_minute, p_tokens_per_minute,
        p_request_id, p_session_id, p_model_id, p_is_stream, p_amount_nano_brl, p_budget_pico_usd,
        p_price_id, p_fx_rate_id, p_fx_rate_e4, p_markup_e4, p_prompt_tokens_estimated, p_tokens_counted, p_task_limit_nano_brl
      )::ledger_attempt]);
  end if;

  if p_ip_subject is not null then
    insert into rate_windows as w (subject, window_at, requests, tokens) values (p_ip_subject, v_minute, 1, 0)
    on conflict (subject) do update set
      requests = excluded.requests + case when w.window_at >= excluded.window_at then w.requests else 0 end,
      tokens = case when w.window_at >= excluded.window_at then w.tokens else 0 end,
      window_at = greatest(w.window_at, excluded.window_at)
    returning w.requests into v_ip_seq;
  end if;
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
    -- The key is read after the account is locked, so this sees every change of the key that held the lock before.
    insert into holds (
      id, customer_id, api_key_id, node_id, request_id, session_id, model_id, is_stream,
      amount_nano_brl, budget_pico_usd, price_id, fx_rate_id, fx_rate_e4, markup_e4,
      prompt_tokens_estimated, created_at)
    select
      p_id, p_customer_id, p_api_key_id, p_node_id, p_request_id, p_session_id, p_model_id, p_is_stream,
      p_amount_nano_brl, 0, p_price_id, p_fx_rate_id, p_fx_rate_e4, p_markup_e4,
      p_prompt_tokens_estimated, v_now
    from api_keys k
    where k.id = p_api_key_id and k.customer_id = p_customer_id and k.version = p_key_version
      and k.team_id is null and not k.has_budget and not k.has_caps
      and k.revoked_at is null and (k.expires_at is null or k.expires_at > v_now);
    if not found then
      -- Not the usual attempt. Its request has already been counted.
      update accounts set held_nano_brl = held_nano_brl - p_amount_nano_brl where customer_id = p_customer_id;
      return take_holds(
        p_node_id, v_subjects, array_fill(0::int8, array[cardinality(v_subjects)]),
        array[(
          p_id, true, p_customer_id, p_api_key_id, p_key_version, cardinality(v_subjects), 0, v_ip_place, 0,
          p_requests_per_minute, p_ip_requests_per_minute, p_tokens_per_minute,
          p_request_id, p_session_id, p_model_id, p_is_stream, p_amount_nano_brl, p_budget_pico_usd,
          p_price_id, p_fx_rate_id, p_fx_rate_e4, p_markup_e4, p_prompt_tokens_estimated, p_tokens_counted, p_task_limit_nano_brl
        )::ledger_attempt], v_minute);
    end if;
  end if;
  return epoch_ms(v_now) || ';'
    || verdict_text(v_verdict, v_key_seq, v_ip_seq, v_balance, v_held, null, null, null, null, null);
end $$;
