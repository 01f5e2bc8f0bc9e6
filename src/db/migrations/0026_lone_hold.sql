-- The usual attempt, alone in its batch, in fewer statements: most of the time of a statement is setting it up.

-- Takes the hold of an attempt whose key has no budget, no team and no limit of tokens, where the account has the
-- money; the line is that of `take_holds`. Null for any other, which `take_holds` is to judge: nothing was done.
create function take_lone_hold(
  p_node_id uuid, p_subjects text[], p_subject_requests int8[], a ledger_attempt
) returns text language plpgsql as $$
declare
  v_now timestamptz := clock_timestamp();
  v_minute timestamptz := date_trunc('minute', v_now);
  v_balance int8;
  v_held int8;
  v_requests_now int8;
  -- Of the current minute, by subject, with this one.
  v_requests int8[] := '{}';
  v_key_seq int8;
  v_ip_seq int8;
  v_verdict text := 'held';
begin
  if a.id is null or a.tokens_per_minute is not null then
    return null;
  end if;
  -- The account is locked before the rate windows, as everywhere.
  update accounts c set held_nano_brl = c.held_nano_brl + a.amount_nano_brl
  from api_keys k
  where c.customer_id = a.customer_id
    and c.credited_nano_brl - c.debited_nano_brl - c.charged_nano_brl - c.held_nano_brl >= a.amount_nano_brl
    and k.id = a.api_key_id and k.version = a.key_version and k.team_id is null
    and k.revoked_at is null and (k.expires_at is null or k.expires_at > v_now)
    and not exists (select from api_key_budgets b where b.api_key_id = k.id)
  returning c.credited_nano_brl - c.debited_nano_brl - c.charged_nano_brl, c.held_nano_brl into v_balance, v_held;
  if v_held is null then
    return null;
  end if;

  for i in 1 .. cardinality(p_subjects) loop
    insert into rate_windows as w (subject, window_at, requests, tokens)
    values (p_subjects[i], v_minute, p_subject_requests[i], 0)
    on conflict (subject) do update set
      requests = excluded.requests + case when w.window_at >= excluded.window_at then w.requests else 0 end,
      tokens = case when w.window_at >= excluded.window_at then w.tokens else 0 end,
      window_at = greatest(w.window_at, excluded.window_at)
    returning w.requests into v_requests_now;
    v_requests := v_requests || v_requests_now;
  end loop;
  v_key_seq := v_requests[a.key_place];
  v_ip_seq := v_requests[a.ip_place];

  if not a.is_repeated and (v_ip_seq > a.ip_requests_per_minute or v_key_seq > a.requests_per_minute) then
    v_verdict := case when v_ip_seq > a.ip_requests_per_minute then 'ip_limited' else 'key_limited' end;
    update accounts set held_nano_brl = held_nano_brl - a.amount_nano_brl where customer_id = a.customer_id;
    v_held := v_held - a.amount_nano_brl;
  else
    insert into holds (
      id, customer_id, api_key_id, node_id, request_id, session_id, model_id, is_stream,
      amount_nano_brl, budget_pico_usd, price_id, fx_rate_id, fx_rate_e4, markup_e4,
      prompt_tokens_estimated, created_at)
    values (
      a.id, a.customer_id, a.api_key_id, p_node_id, a.request_id, a.session_id, a.model_id, a.is_stream,
      a.amount_nano_brl, 0, a.price_id, a.fx_rate_id, a.fx_rate_e4, a.markup_e4,
      a.prompt_tokens_estimated, v_now);
  end if;
  return (extract(epoch from v_now) * 1000)::int8 || ';' || v_verdict || ',' || v_key_seq || ',' || v_ip_seq
    || ',' || v_balance || ',' || v_held || ',,';
end $$;

create or replace function ledger_batch(
  p_node_id uuid, p_customer_ids uuid[], p_resolutions ledger_resolution[], p_marks ledger_mark[],
  p_subjects text[], p_subject_requests int8[], p_attempts ledger_attempt[], p_may_lag bool
) returns text language plpgsql as $$
declare
  v_gone int4 := 0;
  v_missing text := '';
  v_marked int4 := 0;
  v_taken text;
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
    if cardinality(p_attempts) = 1 then
      v_taken := take_lone_hold(p_node_id, p_subjects, p_subject_requests, p_attempts[1]);
    end if;
    v_verdicts := ';' || coalesce(v_taken, take_holds(p_node_id, p_subjects, p_subject_requests, p_attempts));
  end if;
  return v_gone || ';' || v_missing || ';' || v_marked || v_verdicts;
end $$;
