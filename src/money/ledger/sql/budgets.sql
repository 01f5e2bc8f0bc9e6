-- The first instant that has this local time. A local time occurs twice when clocks are set back, and PostgreSQL takes
-- the second of the two (PostgreSQL, B.2 "Handling of Invalid or Ambiguous Timestamps"). 24 hours after the same local
-- time of the day before is the first, if clocks were set back between them. One expression, so that the planner inlines it.
create function first_instant(local timestamp, timezone text) returns timestamptz
language sql stable as $$
  select case when ((local - interval '1 day') at time zone timezone + interval '24 hours') at time zone timezone = local
    then least((local - interval '1 day') at time zone timezone + interval '24 hours', local at time zone timezone)
    else local at time zone timezone
  end
$$;

-- The start of the budget's period that contains `p_at`: never after it, and the same for each instant of the period.
-- `p_at` is read from the clock after the account is locked: the start of a transaction may lie in the previous period.
-- A minute begins at the same instant in each zone.
create function budget_period_start(period text, timezone text, p_at timestamptz) returns timestamptz
language sql stable as $$
  select case period
    when 'lifetime' then '-infinity'::timestamptz
    when 'minute' then date_trunc('minute', p_at)
    else first_instant(date_trunc(period, p_at at time zone timezone), timezone)
  end
$$;

-- The same for the current time of the clock.
create function budget_period_start(period text, timezone text) returns timestamptz
language sql volatile as $$ select budget_period_start(period, timezone, clock_timestamp()) $$;

-- The end of the period of a cap that contains `p_at`.
create function cap_period_end(period text, timezone text, p_at timestamptz) returns timestamptz
language sql stable as $$
  select case period
    when 'minute' then date_trunc('minute', p_at) + interval '1 minute'
    else first_instant(date_trunc(period, p_at at time zone timezone) + ('1 ' || period)::interval, timezone)
  end
$$;

-- The part of `in_caps` that stands for a cap of a key.
create function cap_bit(period text) returns int2
language sql immutable as $$ select case period when 'minute' then 1 else 2 end::int2 $$;

-- Maintains `api_keys.has_budget`. Every hold checks whether its key has a budget, and a column of a row that is read
-- anyway costs less than a lookup in another table.
create function note_budget() returns trigger language plpgsql set search_path from current as $$
begin
  update api_keys set has_budget = tg_op = 'INSERT' where id = coalesce(new.api_key_id, old.api_key_id);
  return null;
end $$;

create or replace trigger note_budget after insert or delete on api_key_budgets
  for each row execute function note_budget();

-- The same for caps, of which a key may have two.
create function note_cap() returns trigger language plpgsql set search_path from current as $$
begin
  update api_keys k set has_caps = exists (select from key_caps c where c.api_key_id = k.id)
  where id = coalesce(new.api_key_id, old.api_key_id);
  return null;
end $$;

create or replace trigger note_cap after insert or delete on key_caps
  for each row execute function note_cap();

-- The limits of a key or a team as acts set them, without what settlements count. Acts record them in the audit log
-- (`limits`), and the audit compares the two; `at` is read under the lock of the act, and so orders the acts. What acts set
-- of a budget or cap is all that is not counted, so a new column is compared, too.
create function limits_of(p_id uuid) returns jsonb language sql volatile as $$
  select jsonb_build_object('at', clock_timestamp()) || coalesce((
    select jsonb_build_object(
      'customer_id', k.customer_id, 'team_id', k.team_id, 'created_by', k.created_by, 'scope', k.scope,
      'model_ids', k.model_ids, 'requests_per_minute', k.requests_per_minute, 'tokens_per_minute', k.tokens_per_minute,
      'calls_at_once', k.calls_at_once, 'expires_at', k.expires_at, 'task_limit_nano_brl', k.task_limit_nano_brl,
      'budget', (select to_jsonb(b) - counted.columns from api_key_budgets b where b.api_key_id = k.id),
      'caps', (select jsonb_agg(to_jsonb(c) - counted.columns order by c.period) from key_caps c where c.api_key_id = k.id))
    from api_keys k where k.id = p_id), (
    select to_jsonb(t) - counted.columns from team_budgets t where t.team_id = p_id))
  from (select array['period_started_at', 'spent_pico_usd', 'spent_nano_brl', 'held_pico_usd', 'held_nano_brl',
    'overdrawn_pico_usd', 'overdrawn_nano_brl'] as columns) counted
$$;
