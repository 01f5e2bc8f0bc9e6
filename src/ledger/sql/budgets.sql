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

-- Maintains `api_keys.has_budget`. Every hold checks whether its key has a budget, and a column of a row that is read
-- anyway costs less than a lookup in another table.
create function note_budget() returns trigger language plpgsql set search_path from current as $$
begin
  update api_keys set has_budget = tg_op = 'INSERT' where id = coalesce(new.api_key_id, old.api_key_id);
  return null;
end $$;

create or replace trigger note_budget after insert or delete on api_key_budgets
  for each row execute function note_budget();
