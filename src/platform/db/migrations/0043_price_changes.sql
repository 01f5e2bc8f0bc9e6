-- Prices can change without a restart: an operator sets them from a time on, and every node reads them.
create table public.price_changes (
  id integer generated always as identity primary key,
  model_id text not null,
  -- By the database's clock.
  starts_at timestamptz not null,
  -- The scheduled prices: ids of rows of prices, with the times at which each applies.
  schedule jsonb not null check (jsonb_typeof(schedule) = 'array' and jsonb_array_length(schedule) between 1 and 20),
  note text,
  created_at timestamptz not null default now(),
  -- The row stays, because charges name its prices.
  withdrawn_at timestamptz,
  check (starts_at >= date_trunc('milliseconds', created_at))
);
create index price_changes_in_use on public.price_changes (starts_at, id) where withdrawn_at is null;

-- Models whose prices differ from the price data, so that each difference is reported once.
create table public.price_differences (
  model_id text primary key,
  difference text not null,
  found_at timestamptz not null default now()
);
