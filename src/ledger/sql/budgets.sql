-- The start of the budget's period that contains `p_at`. `p_at` is read from the clock after the account is locked: the
-- start of a transaction may lie in the previous period.
create function budget_period_start(period text, timezone text, p_at timestamptz) returns timestamptz
language sql stable as $$
  select case period
    when 'lifetime' then '-infinity'::timestamptz
    else date_trunc(period, p_at at time zone timezone) at time zone timezone
  end
$$;

-- The same for the current time of the clock.
create function budget_period_start(period text, timezone text) returns timestamptz
language sql volatile as $$ select budget_period_start(period, timezone, clock_timestamp()) $$;

-- The end of the period of a cap that contains `p_at`.
create function cap_period_end(period text, timezone text, p_at timestamptz) returns timestamptz
language sql stable as $$
  select (date_trunc(period, p_at at time zone timezone) + ('1 ' || period)::interval) at time zone timezone
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
