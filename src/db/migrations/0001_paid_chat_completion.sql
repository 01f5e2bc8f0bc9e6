-- Makes a paid chat completion possible: customers, keys, the ledger, usage, rates of exchange, nodes.
--
-- Units: `_nano_brl` is 1e-9 BRL, `_pico_usd` is 1e-12 USD, `_e4` is times 10^4.
-- What must never be negative has a type that says so: the database keeps the checks of types ready, and
-- parses those of tables again for every statement.
-- Tables on the hot path (holds, usage_events, usage_hours, rate_windows) carry no foreign keys: they
-- are written only by `ledger_batch`, from rows it has just joined, and a foreign key would cost one
-- more query a row.

create domain nano_brl as int8 check (value >= 0);
create domain pico_usd as int8 check (value >= 0);
create type call_outcome as enum ('charged', 'released');
create type usage_kind as enum ('exact', 'estimated', 'none');

create table customers (
  id uuid primary key,
  name text not null check (length(name) between 1 and 200),
  email text unique,
  timezone text not null default 'America/Sao_Paulo',
  created_at timestamptz not null default now()
);

-- Cumulative counters; the balance is never stored: credited - debited - charged.
-- What can be spent is the balance less what is held.
create table accounts (
  customer_id uuid primary key references customers (id),
  credited_nano_brl nano_brl not null default 0,
  debited_nano_brl nano_brl not null default 0,
  charged_nano_brl nano_brl not null default 0,
  held_nano_brl nano_brl not null default 0
) with (fillfactor = 40);

-- Credits and debits, immutable. A charge is its usage event.
create table ledger_entries (
  id uuid primary key,
  customer_id uuid not null references accounts (customer_id),
  kind text not null check (kind in ('credit', 'debit')),
  reason text not null check (reason ~ '^[a-z_]{1,40}$'),
  amount_nano_brl int8 not null check (amount_nano_brl > 0),
  -- The idempotency key: one entry per reason and reference.
  reference text not null,
  note text,
  created_at timestamptz not null default now(),
  unique (reason, reference)
);
create index ledger_entries_by_customer on ledger_entries (customer_id, created_at);

create table api_keys (
  id uuid primary key,
  customer_id uuid not null references customers (id),
  name text not null check (length(name) between 3 and 50),
  -- SHA-256 of the secret; the secret itself has 190 bits of randomness and is never stored.
  secret_hash bytea not null unique,
  last_four text not null,
  -- Null: every model of the catalog.
  model_ids text[],
  -- Null: any address.
  ip_allowlist text[],
  requests_per_minute int4 not null check (requests_per_minute > 0),
  tokens_per_minute int8 check (tokens_per_minute > 0),
  -- Grows with every change. A hold names the version it was admitted with, so a node with an old
  -- copy of the key can never hold money by it.
  version int4 not null default 1,
  expires_at timestamptz,
  revoked_at timestamptz,
  created_at timestamptz not null default now()
);
create index api_keys_by_customer on api_keys (customer_id, created_at);

-- Only keys that have a budget have a row.
create table api_key_budgets (
  api_key_id uuid primary key references api_keys (id),
  period text not null check (period in ('day', 'month', 'lifetime')),
  timezone text not null,
  limit_pico_usd int8 not null check (limit_pico_usd >= 0),
  period_started_at timestamptz not null default '-infinity',
  spent_pico_usd int8 not null default 0 check (spent_pico_usd >= 0),
  held_pico_usd int8 not null default 0 check (held_pico_usd >= 0)
) with (fillfactor = 60);

create function budget_period_start(period text, timezone text) returns timestamptz
language sql stable as $$
  select case period
    when 'lifetime' then '-infinity'::timestamptz
    else date_trunc(period, now() at time zone timezone) at time zone timezone
  end
$$;

-- Prices are immutable: a changed price is a new row, found by its digest.
create table prices (
  id int4 generated always as identity primary key,
  digest text not null unique,
  model_id text not null,
  tiers jsonb not null,
  created_at timestamptz not null default now()
);

-- Immutable. The one in force is the newest by its date, and of a date the last stored.
create table fx_rates (
  id int4 generated always as identity primary key,
  rate_e4 int4 not null check (rate_e4 > 0 and rate_e4 < 1000000),
  rate_date date not null,
  bulletin_at timestamptz,
  source text not null,
  created_at timestamptz not null default now()
);
create index fx_rates_by_date on fx_rates (rate_date desc, id desc);

-- One row for each start of a server process.
create table nodes (
  id uuid primary key,
  started_at timestamptz not null default now(),
  seen_at timestamptz not null default now(),
  stopped_at timestamptz
);

-- Money set aside for a call that runs. A row is here exactly as long as the call is unresolved;
-- resolving it deletes the row and writes the usage event in the same transaction.
create table holds (
  id uuid primary key,
  customer_id uuid not null,
  api_key_id uuid not null,
  node_id uuid not null,
  request_id uuid not null,
  session_id text,
  model_id text not null,
  is_stream bool not null,
  amount_nano_brl nano_brl not null,
  budget_pico_usd pico_usd not null,
  price_id int4 not null,
  fx_rate_id int4 not null,
  fx_rate_e4 int4 not null,
  markup_e4 int4 not null,
  prompt_tokens_estimated int4 not null,
  -- What was counted against the key's tokens per minute, and in which minute; null without a limit.
  tokens_counted int8,
  tokens_window_at timestamptz,
  created_at timestamptz not null,
  -- Checkpoints, written some time after the fact by the node that runs the call.
  dispatched_at timestamptz,
  output_began_at timestamptz,
  output_tokens_seen int4 not null default 0
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);

-- Every resolved hold: what was used, what it cost, and by which price, rate and markup.
create table usage_events (
  id uuid not null,
  customer_id uuid not null,
  api_key_id uuid not null,
  request_id uuid not null,
  session_id text,
  model_id text not null,
  upstream_id text,
  is_stream bool not null,
  outcome call_outcome not null,
  -- Why it was released, or why the usage was estimated.
  reason text,
  usage_kind usage_kind not null,
  prompt_tokens int4 not null,
  cached_tokens int4 not null,
  cache_write_tokens int4 not null,
  completion_tokens int4 not null,
  reasoning_tokens int4 not null,
  held_nano_brl nano_brl not null,
  cost_upstream_pico_usd pico_usd not null,
  cost_billed_nano_brl nano_brl not null,
  price_id int4 not null,
  fx_rate_id int4 not null,
  fx_rate_e4 int4 not null,
  markup_e4 int4 not null,
  first_byte_ms int4,
  duration_ms int4,
  -- The time of the hold.
  created_at timestamptz not null,
  settled_at timestamptz not null,
  primary key (id, created_at)
) partition by range (created_at);
create index usage_events_by_customer on usage_events (customer_id, created_at desc, id desc);

-- Months are cut in UTC. The default partition only catches what no month was made for.
create table usage_events_other partition of usage_events default;

create function ensure_usage_partitions(months_ahead int) returns int
language plpgsql as $$
declare
  month_start timestamptz;
  name text;
  made int := 0;
begin
  for i in 0..months_ahead loop
    month_start := date_trunc('month', now() at time zone 'UTC') at time zone 'UTC' + make_interval(months => i);
    name := 'usage_events_' || to_char(month_start at time zone 'UTC', 'YYYY_MM');
    if to_regclass(name) is null then
      begin
        execute format('create table %I partition of usage_events for values from (%L) to (%L)',
          name, month_start, month_start + interval '1 month');
        made := made + 1;
      exception when duplicate_table then null;
      end;
    end if;
  end loop;
  return made;
end $$;

create table usage_hours (
  customer_id uuid not null,
  hour_at timestamptz not null,
  api_key_id uuid not null,
  model_id text not null,
  charged_requests int8 not null,
  released_requests int8 not null,
  prompt_tokens int8 not null,
  completion_tokens int8 not null,
  cost_upstream_pico_usd int8 not null,
  cost_billed_nano_brl int8 not null,
  primary key (customer_id, hour_at, api_key_id, model_id)
) with (fillfactor = 50);

-- Requests and tokens of the current minute, by key ('k:<id>') and by address ('i:<ip>').
-- Unlogged: after a crash of the database the current minute starts again from zero.
create unlogged table rate_windows (
  subject text primary key,
  window_at timestamptz not null,
  requests int8 not null,
  tokens int8 not null
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);
