-- Makes the promise hold when nodes fall silent: a node has a lease and is fenced before others resolve its holds, and
-- an outcome that arrives late corrects the first one, once. Locks and increments of accounts are in these functions
-- alone; what a caller sorts or leaves out cannot weaken them. This file is the living text of the functions that move
-- money: it replaces those of 0025 to 0027.
--
-- Locks are taken in one order: accounts by customer id, then rate windows by subject; every other row belongs to one
-- customer. Every read of an account that a write depends on is a locking read, and every write is an increment.

-- A node that was fenced has lost its lease for good: it registers again under a new id.
alter table nodes add column fenced_at timestamptz;

alter table usage_events
  -- The event whose outcome this one corrects; null for the first outcome of a hold. A correction is one event or two:
  -- the reversal of what was charged first, with negative amounts, and the true charge.
  add column corrects_id uuid,
  -- The billed amount counts against the budget of the key.
  add column in_budget bool not null default false,
  -- The billed amount counts against the cap of the team, where there is a team.
  add column in_cap bool not null default true,
  -- Reversals are negative.
  alter column cost_upstream_pico_usd type int8,
  alter column cost_billed_nano_brl type int8;
create index usage_events_by_corrected on usage_events (corrects_id) where corrects_id is not null;

-- One row for each hold whose first outcome was corrected: at most one correction takes effect.
create table charge_corrections (
  hold_id uuid primary key,
  customer_id uuid not null,
  first_outcome call_outcome not null,
  first_billed_nano_brl int8 not null,
  outcome call_outcome not null,
  billed_nano_brl int8 not null,
  -- Null where the first outcome had charged nothing.
  reversal_event_id uuid,
  -- Null where the true outcome is a release.
  event_id uuid,
  created_at timestamptz not null default now()
);
create index charge_corrections_by_customer on charge_corrections (customer_id, created_at);

-- Every change of a customer's debt, which is max(0, held + charged + debited - credited). A hold and a debit are never
-- taken out of more than there is, so a debt can only come from an upstream that reported more than its ceiling
-- (`overrun`), from a correction, or from a debit that may overdraw (`debit`: a charge-back).
create table account_debts (
  id int8 generated always as identity primary key,
  customer_id uuid not null,
  -- Positive where the debt grows.
  amount_nano_brl int8 not null check (amount_nano_brl <> 0),
  cause text not null check (cause in ('overrun', 'correction', 'debit', 'repaid', 'opening')),
  -- The calls that overran or were corrected.
  hold_ids uuid[],
  created_at timestamptz not null default clock_timestamp()
);
create index account_debts_by_customer on account_debts (customer_id);
insert into account_debts (customer_id, amount_nano_brl, cause)
select customer_id, held_nano_brl + charged_nano_brl + debited_nano_brl - credited_nano_brl, 'opening'
from accounts where held_nano_brl + charged_nano_brl + debited_nano_brl > credited_nano_brl;

-- Notes how a debt changed when what is free went from `p_before` to `p_after`.
create function note_debt(p_customer_id uuid, p_before int8, p_after int8, p_cause text, p_hold_ids uuid[]) returns void
language plpgsql as $$
declare
  v_change int8 := greatest(0, -p_after) - greatest(0, -p_before);
begin
  if v_change <> 0 then
    insert into account_debts (customer_id, amount_nano_brl, cause, hold_ids)
    values (p_customer_id, v_change, case when v_change < 0 then 'repaid' else p_cause end, p_hold_ids);
  end if;
end $$;

-- Credits and debits change a debt too. Charges and holds note theirs themselves: a condition costs a trigger as much
-- as a statement.
create function note_debt_of_entry() returns trigger language plpgsql as $$
begin
  perform note_debt(new.customer_id,
    old.credited_nano_brl - old.debited_nano_brl - old.charged_nano_brl - old.held_nano_brl,
    new.credited_nano_brl - new.debited_nano_brl - new.charged_nano_brl - new.held_nano_brl, 'debit', null);
  return null;
end $$;
create trigger note_debt_of_entry after update of credited_nano_brl, debited_nano_brl on accounts for each row
  when (
    old.credited_nano_brl - old.debited_nano_brl - old.charged_nano_brl - old.held_nano_brl < 0
    or new.credited_nano_brl - new.debited_nano_brl - new.charged_nano_brl - new.held_nano_brl < 0
  ) execute function note_debt_of_entry();

-- When the period of a budget that contains `p_at` began. `p_at` is read from the clock after the account is locked:
-- the start of a transaction may lie in the period before.
create function budget_period_start(period text, timezone text, p_at timestamptz) returns timestamptz
language sql stable as $$
  select case period
    when 'lifetime' then '-infinity'::timestamptz
    else date_trunc(period, p_at at time zone timezone) at time zone timezone
  end
$$;
create or replace function budget_period_start(period text, timezone text) returns timestamptz
language sql volatile as $$ select budget_period_start(period, timezone, clock_timestamp()) $$;

-- `spent_pico_usd` is `spent_before_pico_usd` (where `spent_since` lies in the current period) and the billed amounts
-- of events `in_budget` that were settled since both.
alter table api_key_budgets
  add column spent_since timestamptz not null default clock_timestamp(),
  add column spent_before_pico_usd int8 not null default 0;
update api_key_budgets set spent_before_pico_usd = spent_pico_usd;
alter table team_budgets
  add column spent_since timestamptz not null default clock_timestamp(),
  add column spent_before_nano_brl int8 not null default 0;
update team_budgets set spent_before_nano_brl = spent_nano_brl;

drop function ledger_batch(uuid, uuid[], ledger_resolution[], ledger_mark[], text[], int8[], ledger_attempt[], bool);
drop function resolve_holds(ledger_resolution[]);
drop function resolve_alone(uuid, call_outcome, text, text, usage_kind, int4, int4, int4, int4, int4, int8, int8, int8, int4, int4, int4, jsonb, jsonb);
drop function settle_holds(closed_holds);
drop function settle_rest(closed_holds, timestamptz);
drop function mark_holds(ledger_mark[]);

alter type ledger_resolution
  add attribute customer_id uuid,
  -- The node that ran the call says so: where the hold was resolved otherwise, this outcome corrects that one.
  add attribute is_final bool;
alter type session_use
  -- 1, or -1 for a reversal.
  add attribute requests int4;
alter type closed_holds
  -- By how much the charges were above their holds, and of which calls.
  add attribute overrun int8,
  add attribute overrun_ids uuid[];

-- Settles what only some holds touch: roll-ups of days that were made already, sessions, budgets and caps.
-- `p_now` is read from the clock after the account is locked, and is the `settled_at` of the events.
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
end $$;

-- Moves the money of resolved holds of one customer, key, model, hour and rate window, and adds them to the roll-ups.
-- `p_cause` is the cause of a debt that comes of it: `overrun`, or `correction`.
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
    perform tell_balance(g.customer_id, v_balance);
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

create or replace function add_session_uses(p_customer_id uuid, p_uses session_use[]) returns void language plpgsql as $$
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
    first_byte_ms, duration_ms, created_at, settled_at, units, attempts, corrects_id, in_budget, in_cap)
  values (
    e.id, e.customer_id, e.api_key_id, e.team_id, e.request_id, e.session_id, e.model_id, e.upstream_id, e.is_stream,
    e.outcome, e.reason, e.usage_kind, e.prompt_tokens, e.cached_tokens, e.cache_write_tokens,
    e.completion_tokens, e.reasoning_tokens, e.held_nano_brl, e.cost_upstream_pico_usd,
    e.cost_billed_nano_brl, e.price_id, e.fx_rate_id, e.fx_rate_e4, e.markup_e4,
    e.first_byte_ms, e.duration_ms, e.created_at, e.settled_at, e.units, e.attempts, e.corrects_id, e.in_budget, e.in_cap);
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
  perform settle_holds(g, e.settled_at, 'correction');
end $$;

-- A resolution that found no hold. Returns
--   missing     there is no event of it either: the hold was never taken, or was lost in a crash of the database
--   repeated    it was resolved by this same resolution before
--   superseded  it was resolved otherwise, as `:` and the outcome and `:` and the billed nano-BRL that are stored say
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
    hold_id, customer_id, first_outcome, first_billed_nano_brl, outcome, billed_nano_brl, reversal_event_id, event_id)
  values (
    r.id, r.customer_id, e.outcome, e.cost_billed_nano_brl, r.outcome, r.billed_nano_brl,
    case when e.outcome = 'charged' then gen_random_uuid() end, case when r.outcome = 'charged' then gen_random_uuid() end)
  returning * into c;
  -- A budget or a cap takes back what it counted. A charge of an earlier period, or of a budget that was removed since,
  -- is corrected outside of it, or what was never counted would make room.
  if e.outcome = 'charged' then
    e.in_budget := e.in_budget and exists (
      select from api_key_budgets b where b.api_key_id = e.api_key_id
        and e.settled_at >= greatest(b.spent_since, b.period_started_at, budget_period_start(b.period, b.timezone, v_now)));
    e.in_cap := exists (
      select from team_budgets b where b.team_id = e.team_id
        and e.settled_at >= greatest(b.spent_since, b.period_started_at, budget_period_start('month', b.timezone, v_now)));
    -- So that what is left of promotional credit never grows beyond what was granted.
    update accounts set promotional_at_charged_nano_brl =
      least(promotional_at_charged_nano_brl, charged_nano_brl - e.cost_billed_nano_brl)
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
    e.price_id := coalesce(r.answered_price_id, e.price_id);
    e.first_byte_ms := r.first_byte_ms;
    e.duration_ms := r.duration_ms;
    e.units := r.units;
    e.attempts := r.attempts;
    perform add_correction_event(e, 1);
  end if;
  return 'corrected';
end $$;

-- Resolves the holds of a batch. Returns, with commas between, `<place in p_resolutions, from 1>:<word>` for each that
-- found no hold; the words are those of `resolve_again`. The accounts are locked. `windows` are what the tokens of rate
-- windows change by: the caller locks them in their order, together with those that it counts requests in.
create type window_tokens as (subject text, window_at timestamptz, tokens_more int8);
create function resolve_holds(p_resolutions ledger_resolution[], out words text, out windows window_tokens[])
language plpgsql as $$
declare
  v_now timestamptz := clock_timestamp();
  -- Places in `p_resolutions`: of two for one hold, only one closes it.
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
        h.tokens_counted, h.tokens_window_at, h.created_at,
        r.id, r.outcome, r.reason, r.upstream_id, r.usage_kind, r.prompt_tokens, r.cached_tokens, r.cache_write_tokens,
        r.completion_tokens, r.reasoning_tokens, r.cost_pico_usd, r.billed_nano_brl, r.billed_pico_usd,
        r.first_byte_ms, r.duration_ms, r.answered_price_id, r.units, r.attempts, r.place
    ), events as (
      insert into usage_events (
        id, customer_id, api_key_id, team_id, request_id, session_id, model_id, upstream_id, is_stream,
        outcome, reason, usage_kind, prompt_tokens, cached_tokens, cache_write_tokens,
        completion_tokens, reasoning_tokens, held_nano_brl, cost_upstream_pico_usd,
        cost_billed_nano_brl, price_id, fx_rate_id, fx_rate_e4, markup_e4,
        first_byte_ms, duration_ms, created_at, settled_at, units, attempts, in_budget)
      select id, customer_id, api_key_id, team_id, request_id, session_id, model_id, upstream_id, is_stream,
        outcome, reason, usage_kind, prompt_tokens, cached_tokens, cache_write_tokens,
        completion_tokens, reasoning_tokens, amount_nano_brl, cost_pico_usd,
        billed_nano_brl, coalesce(answered_price_id, price_id), fx_rate_id, fx_rate_e4, markup_e4,
        first_byte_ms, duration_ms, created_at, v_now, units, attempts, budget_pico_usd > 0
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
      array_agg(id) filter (where billed_nano_brl > amount_nano_brl))::closed_holds as sums,
      array_agg(place) as places
    from closed group by customer_id, api_key_id, team_id, model_id, date_trunc('hour', created_at), tokens_window_at
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

-- `resolve_holds` for one hold. Returns `done`, or a word of `resolve_again`.
create function resolve_alone(
  p_id uuid, p_outcome call_outcome, p_reason text, p_upstream_id text, p_usage_kind usage_kind,
  p_prompt_tokens int4, p_cached_tokens int4, p_cache_write_tokens int4, p_completion_tokens int4, p_reasoning_tokens int4,
  p_cost int8, p_billed int8, p_billed_pico_usd int8, p_first_byte_ms int4, p_duration_ms int4,
  p_answered_price_id int4, p_units jsonb, p_attempts jsonb, p_customer_id uuid, p_is_final bool
) returns text language plpgsql as $$
declare
  h holds;
  v_charged int4 := case when p_outcome = 'charged' then 1 else 0 end;
  v_now timestamptz;
  v_hour timestamptz;
  v_days_until timestamptz;
  v_balance int8;
  v_free int8;
begin
  delete from holds where id = p_id and customer_id = p_customer_id returning * into h;
  if not found then
    return resolve_again((
      p_id, p_outcome, p_reason, p_upstream_id, p_usage_kind, p_prompt_tokens, p_cached_tokens, p_cache_write_tokens,
      p_completion_tokens, p_reasoning_tokens, p_cost, p_billed, p_billed_pico_usd, p_first_byte_ms, p_duration_ms,
      p_answered_price_id, p_units, p_attempts, p_customer_id, p_is_final)::ledger_resolution);
  end if;

  update accounts
  set held_nano_brl = held_nano_brl - h.amount_nano_brl, charged_nano_brl = charged_nano_brl + p_billed
  where customer_id = h.customer_id
  returning usage_days_until, credited_nano_brl - debited_nano_brl - charged_nano_brl,
    credited_nano_brl - debited_nano_brl - charged_nano_brl - held_nano_brl
  into v_days_until, v_balance, v_free;
  v_now := clock_timestamp();
  if v_balance <= 0 and v_balance + p_billed > 0 then
    perform tell_balance(h.customer_id, v_balance);
  end if;
  if v_free < 0 or v_free + p_billed - h.amount_nano_brl < 0 then
    perform note_debt(h.customer_id, v_free + p_billed - h.amount_nano_brl, v_free, 'overrun', array[p_id]);
  end if;
  insert into usage_events (
    id, customer_id, api_key_id, team_id, request_id, session_id, model_id, upstream_id, is_stream,
    outcome, reason, usage_kind, prompt_tokens, cached_tokens, cache_write_tokens,
    completion_tokens, reasoning_tokens, held_nano_brl, cost_upstream_pico_usd,
    cost_billed_nano_brl, price_id, fx_rate_id, fx_rate_e4, markup_e4,
    first_byte_ms, duration_ms, created_at, settled_at, units, attempts, in_budget)
  values (
    h.id, h.customer_id, h.api_key_id, h.team_id, h.request_id, h.session_id, h.model_id, p_upstream_id, h.is_stream,
    p_outcome, p_reason, p_usage_kind, p_prompt_tokens, p_cached_tokens, p_cache_write_tokens,
    p_completion_tokens, p_reasoning_tokens, h.amount_nano_brl, p_cost,
    p_billed, coalesce(p_answered_price_id, h.price_id), h.fx_rate_id, h.fx_rate_e4, h.markup_e4,
    p_first_byte_ms, p_duration_ms, h.created_at, v_now, p_units, p_attempts, h.budget_pico_usd > 0);
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
      h.budget_pico_usd, case when h.budget_pico_usd > 0 then p_billed_pico_usd end,
      p_prompt_tokens + p_completion_tokens - h.tokens_counted,
      case when p_outcome = 'charged' and h.session_id is not null then
        array[(h.session_id, h.model_id, p_prompt_tokens, p_completion_tokens, p_billed, h.created_at, 1)::session_use] end,
      null, null
    )::closed_holds, v_days_until, v_now);
    if h.tokens_window_at is not null then
      update rate_windows set tokens = greatest(0, tokens + p_prompt_tokens + p_completion_tokens - h.tokens_counted)
      where subject = 'k:' || h.api_key_id and window_at = h.tokens_window_at;
    end if;
  end if;
  return 'done';
end $$;

-- Checkpoints of running calls; returns, with commas between, the places in `p_marks`, from 1, of those that found no
-- hold. A hold that somebody else has locked is being resolved, or takes its next checkpoint: nobody waits for it, and
-- so no lock is held while waiting.
create function mark_holds(p_marks ledger_mark[]) returns text language plpgsql as $$
declare
  v_lost text;
begin
  with marks as (
    select * from rows from (unnest(p_marks)) with ordinality as m(id, output_tokens_seen, place)
  ), free as (
    select h.id, m.output_tokens_seen as seen, m.place from holds h join marks m on m.id = h.id
    for no key update of h skip locked
  ), marked as (
    update holds h
    set dispatched_at = coalesce(h.dispatched_at, now()),
      output_began_at = case when free.seen > 0 then coalesce(h.output_began_at, now()) else h.output_began_at end,
      output_tokens_seen = greatest(h.output_tokens_seen, free.seen)
    from free where h.id = free.id
    returning free.place
  )
  select string_agg(place::text, ',') into v_lost from marks where place not in (select place from marked);
  return coalesce(v_lost, '');
end $$;

-- Returns when it was, in milliseconds since 1970, and the verdicts in the order of the attempts, each after a
-- `;`: verdict, sequence of the key and of the address, balance, held, what is left of the budget and of the
-- team's cap, with commas between. The attempts come sorted by customer and key. `key_place` and `ip_place` are the places of an attempt's subjects in
-- `p_subjects`, which must come sorted: that is the order of their locks. `key_offset` and `ip_offset` say how
-- many new requests of this batch come after it in their windows, as a number from 0 down. What the verdicts
-- mean is said in 0002_ledger_batch.sql and, of short_team, in 0006_rollups_and_caps.sql.
create or replace function take_holds(
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
  -- What the attempts of this customer took so far.
  v_taken int8 := 0;
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
      -- Its lock is held already where `ledger_batch` took it; the read locks all the same, whoever calls.
      select credited_nano_brl - debited_nano_brl - charged_nano_brl, held_nano_brl
      into v_balance, v_held
      from accounts where customer_id = v_customer_id for no key update;
    end if;
    if a.api_key_id is distinct from v_api_key_id then
      v_api_key_id := a.api_key_id;
      v_tokens := v_tokens_before[a.key_place];
      v_team_id := null;
      v_team_left := null;
      select k.version, k.team_id, b.limit_pico_usd - b.held_pico_usd - case
        when b.period_started_at >= budget_period_start(b.period, b.timezone, v_now) then b.spent_pico_usd else 0 end
      into v_key_version, v_key_team_id, v_budget_left
      from api_keys k left join api_key_budgets b on b.api_key_id = k.id
      where k.id = v_api_key_id and k.revoked_at is null and (k.expires_at is null or k.expires_at > v_now);
      if v_key_team_id is not null then
        select team_id, limit_nano_brl - held_nano_brl - case
          when period_started_at >= budget_period_start('month', timezone, v_now) then spent_nano_brl else 0 end
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
      if a.tokens_per_minute is not null then
        v_tokens := v_tokens + a.tokens_counted;
        update rate_windows set tokens = v_tokens where subject = 'k:' || v_api_key_id;
      end if;
    end if;
    v_verdicts := v_verdicts || array_to_string(
      array[v_verdict, v_key_seq::text, v_ip_seq::text, v_balance::text, v_held::text, v_budget_left::text, v_team_left::text],
      ',', '');
  end loop;
  if v_taken > 0 then
    update accounts set held_nano_brl = held_nano_brl + v_taken where customer_id = v_customer_id;
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

-- `take_holds` for one attempt, with the same answer. It calls `take_holds` for all but the usual attempt: a new one of
-- a key without a budget, a team or a limit of tokens, where the account has the money. The caller sets whether the
-- commit waits for the disk, as `ledger_batch` does by its `p_may_lag`.
create or replace function hold_alone(
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
    update accounts set held_nano_brl = held_nano_brl + p_amount_nano_brl
    where customer_id = p_customer_id
      and credited_nano_brl - debited_nano_brl - charged_nano_brl - held_nano_brl >= p_amount_nano_brl
    returning credited_nano_brl - debited_nano_brl - charged_nano_brl, held_nano_brl into v_balance, v_held;
  end if;
  if v_held is null then
    -- Here too the account is locked before the rate windows.
    perform 1 from accounts where customer_id = p_customer_id for no key update;
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
    -- The key is read after the account is locked: a change of it that waited for the lock, or came before, is seen.
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
      and k.team_id is null and not k.has_budget
      and k.revoked_at is null and (k.expires_at is null or k.expires_at > v_now);
    if not found then
      -- Not the usual attempt. It was counted already.
      update accounts set held_nano_brl = held_nano_brl - p_amount_nano_brl where customer_id = p_customer_id;
      return take_holds(
        p_node_id, array[p_ip_subject, p_key_subject], array[0, 0]::int8[],
        array[(
          p_id, true, p_customer_id, p_api_key_id, p_key_version, 2, 0, 1, 0,
          p_requests_per_minute, p_ip_requests_per_minute, p_tokens_per_minute,
          p_request_id, p_session_id, p_model_id, p_is_stream, p_amount_nano_brl, p_budget_pico_usd,
          p_price_id, p_fx_rate_id, p_fx_rate_e4, p_markup_e4, p_prompt_tokens_estimated, p_tokens_counted
        )::ledger_attempt]);
    end if;
  end if;
  return (extract(epoch from v_now) * 1000)::int8 || ';' || v_verdict || ',' || v_key_seq || ',' || v_ip_seq
    || ',' || v_balance || ',' || v_held || ',,';
end $$;

-- One round trip resolves, checkpoints and takes holds for a whole batch of calls.
--
-- `p_customer_ids`: the customers of the resolutions and the attempts. Their accounts are locked first, always, in the
-- order of their ids.
-- `p_skip_locked`: where somebody else holds one of those locks nothing is done, and the answer is `busy;` and the ids,
-- with commas between, of the customers whose accounts are locked.
-- `p_may_lag`: the commit does not wait for the disk. The batch takes effect at once for everybody, and only a crash of
-- the database itself, within the next moment, loses it as a whole. The caller must not answer by it before a commit
-- that waited: a resolution that is not `missing`, or a checkpoint that found its hold.
--
-- Returns, with a `;` between: the words of `resolve_holds`; what `mark_holds` returns; and where there are attempts what
-- `take_holds` returns.
create function ledger_batch(
  p_node_id uuid, p_customer_ids uuid[], p_resolutions ledger_resolution[], p_marks ledger_mark[],
  p_subjects text[], p_subject_requests int8[], p_attempts ledger_attempt[], p_may_lag bool, p_skip_locked bool
) returns text language plpgsql as $$
declare
  v_busy text;
  v_words text := '';
  v_windows window_tokens[] := '{}';
  v_unmarked text := '';
  v_verdicts text := '';
begin
  if p_may_lag then
    perform set_config('synchronous_commit', 'off', true);
  end if;
  if p_skip_locked then
    with locked as (
      select customer_id from accounts where customer_id = any (p_customer_ids)
      order by customer_id for no key update skip locked
    )
    select string_agg(customer_id::text, ',') into v_busy from accounts a
    where customer_id = any (p_customer_ids) and not exists (select from locked where locked.customer_id = a.customer_id);
    if v_busy is not null then
      return 'busy;' || v_busy;
    end if;
  else
    perform 1 from accounts where customer_id = any (p_customer_ids) order by customer_id for no key update;
  end if;
  if p_marks is not null then
    v_unmarked := mark_holds(p_marks);
  end if;
  if p_resolutions is not null then
    select words, windows into v_words, v_windows from resolve_holds(p_resolutions);
    if v_windows <> '{}' then
      perform 1 from rate_windows
      where subject = any (p_subjects || array(select subject from unnest(v_windows)))
      order by subject for no key update;
      update rate_windows w set tokens = greatest(0, w.tokens + m.tokens_more)
      from (select subject, window_at, sum(tokens_more) as tokens_more from unnest(v_windows) group by 1, 2) m
      where w.subject = m.subject and w.window_at = m.window_at;
    end if;
  end if;
  if p_attempts is not null then
    v_verdicts := ';' || take_holds(p_node_id, p_subjects, p_subject_requests, p_attempts);
  end if;
  return v_words || ';' || v_unmarked || v_verdicts;
end $$;

-- How many charged calls an event stands for: a reversal takes one back.
create function event_charges(p_outcome call_outcome, p_reason text) returns int8 language sql immutable parallel safe as $$
  select case when p_outcome <> 'charged' then 0 when p_reason is not distinct from 'reversal' then -1 else 1 end::int8
$$;

-- What a customer used from `p_from` until before `p_to`, to the microsecond: whole days from usage_days,
-- whole hours around them from usage_hours, and the events of the hours that are cut. A few rows for the
-- same key and model: whoever reads adds them up. `infinity` is a good end: then nothing is cut there.
create or replace function usage_between(p_customer_id uuid, p_from timestamptz, p_to timestamptz)
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
    return query select d.api_key_id, d.model_id, sum(d.charged_requests)::int8, sum(d.released_requests)::int8,
      sum(d.prompt_tokens)::int8, sum(d.completion_tokens)::int8,
      sum(d.cost_upstream_pico_usd)::int8, sum(d.cost_billed_nano_brl)::int8
    from usage_days d where d.customer_id = p_customer_id and d.day_at >= v_days_from and d.day_at < v_days_to
    group by 1, 2;
  else
    v_days_from := v_hours_from;
    v_days_to := v_hours_from;
  end if;
  return query select h.api_key_id, h.model_id, sum(h.charged_requests)::int8, sum(h.released_requests)::int8,
    sum(h.prompt_tokens)::int8, sum(h.completion_tokens)::int8,
    sum(h.cost_upstream_pico_usd)::int8, sum(h.cost_billed_nano_brl)::int8
  from (
    select * from usage_hours h
    where h.customer_id = p_customer_id and h.hour_at >= v_hours_from and h.hour_at < v_days_from
    union all
    select * from usage_hours h
    where h.customer_id = p_customer_id and h.hour_at >= v_days_to and h.hour_at < v_hours_to
  ) h
  group by 1, 2;
  return query select e.api_key_id, e.model_id, event_charges(e.outcome, e.reason), (e.outcome = 'released')::int4::int8,
    e.prompt_tokens::int8, e.completion_tokens::int8, e.cost_upstream_pico_usd::int8, e.cost_billed_nano_brl::int8
  from usage_events e
  where e.customer_id = p_customer_id and e.created_at >= p_from and e.created_at < least(v_hours_from, p_to)
  union all
  select e.api_key_id, e.model_id, event_charges(e.outcome, e.reason), (e.outcome = 'released')::int4::int8,
    e.prompt_tokens::int8, e.completion_tokens::int8, e.cost_upstream_pico_usd::int8, e.cost_billed_nano_brl::int8
  from usage_events e
  where e.customer_id = p_customer_id and e.created_at >= v_hours_to and e.created_at < p_to;
end $$;
alter function usage_between(uuid, timestamptz, timestamptz) set enable_sort = off;
