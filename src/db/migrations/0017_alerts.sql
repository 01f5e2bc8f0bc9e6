-- Customers are told when they spend more, or have less, than they meant to: by alerts of their own, and by
-- warnings of a balance that will not last.

-- Amounts are in billionths of the kind's unit: nano-BRL, of a day, of a percent.
create table alerts (
  id uuid primary key,
  customer_id uuid not null references customers (id),
  name text not null check (length(name) between 1 and 80),
  kind text not null check (kind in ('balance_below', 'daily_spend', 'monthly_spend', 'runway_days', 'error_rate')),
  threshold_nano int8 not null check (threshold_nano > 0),
  -- Both null: of the whole account.
  api_key_id uuid references api_keys (id),
  team_id uuid references teams (id),
  channels text[] not null check (cardinality(channels) > 0 and channels <@ array['email', 'webhook']),
  is_enabled boolean not null default true,
  state text not null default 'ok' check (state in ('ok', 'triggered')),
  -- Of spending: the day or the month, by the customer's calendar, in which it fired last.
  fired_period text,
  last_fired_at timestamptz,
  last_value_nano int8,
  -- When it is looked at next. Without an index, so that moving it stays on the row's own page.
  due_at timestamptz not null default now(),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  check (api_key_id is null or team_id is null),
  check (kind not in ('balance_below', 'runway_days') or (api_key_id is null and team_id is null)),
  check ((last_fired_at is null) = (last_value_nano is null))
) with (fillfactor = 70);
create index alerts_by_customer on alerts (customer_id, created_at, id);
create trigger refuse_deleted_customer before insert on alerts
  for each row execute function refuse_deleted_customer('customer_id');

-- How long the balance of an account lasted when it was looked at last.
create table balance_watches (
  customer_id uuid primary key references customers (id),
  level text not null default 'ok' check (level in ('ok', 'low', 'critical')),
  -- All that was ever credited, debited and charged, as it was then: another sum means that something moved.
  seen_nano_brl int8 not null default -1,
  looked_at timestamptz not null default '-infinity',
  warned_at timestamptz
) with (fillfactor = 70);
create trigger refuse_deleted_customer before insert on balance_watches
  for each row execute function refuse_deleted_customer('customer_id');
