-- Months of usage events that left to files (`src/money/months`). A month has the events that were settled in it, in UTC: whole
-- seals of the audit. From `archived_at` on the files are their place; their rows leave `usage_events` at `removed_at`.
create table public.archived_months (
  month date primary key check (extract(day from month) = 1),
  -- The attempt, whose name its files have. One process works on a month, while its lease lasts.
  run uuid not null,
  leased_until timestamptz not null,
  started_at timestamptz not null default now(),
  archived_at timestamptz,
  removed_at timestamptz,
  check (removed_at is null or archived_at is not null)
);

-- A file has the events of consecutive seals, sorted by customer and time.
create table public.archived_files (
  month date not null references public.archived_months (month),
  number int4 not null check (number > 0),
  -- Its path in the archive.
  name text not null,
  first_seal int8 not null references public.audit_seals (number),
  last_seal int8 not null references public.audit_seals (number),
  events int8 not null,
  bytes int8 not null,
  sha256 bytea not null,
  -- SHA-256 over the sums of each account.
  sums_hash bytea not null,
  -- When its first and its last event began; null without events.
  created_from timestamptz,
  created_to timestamptz,
  primary key (month, number),
  check (last_seal >= first_seal)
);

-- What the audit needs of archived events beside the sums of seals: the part of each month in a usage session,
create table public.archived_sessions (
  month date not null references public.archived_months (month),
  customer_id uuid not null references public.customers (id),
  session_id text collate "C" not null,
  requests int8 not null,
  prompt_tokens int8 not null,
  completion_tokens int8 not null,
  cost_billed_nano_brl int8 not null,
  first_request_at timestamptz not null,
  last_request_at timestamptz not null,
  primary key (customer_id, session_id, month)
);
create index archived_sessions_by_month on public.archived_sessions (month);

-- and in a budget or a cap that began within a seal, from its beginning to the end of the seal; in a task, from its
-- beginning on.
create table public.archived_spends (
  month date not null references public.archived_months (month),
  kind text not null check (kind in ('key_budget', 'team_cap', 'minute_cap', 'day_cap', 'task')),
  -- A key or a team.
  subject_id uuid not null,
  session_id text collate "C" not null default '',
  since timestamptz not null,
  -- In the unit of the budget.
  amount numeric not null,
  primary key (subject_id, kind, session_id, month)
);

-- The charges by model, upstream and rate, for margins and for comparisons with the costs of upstreams.
create table public.archived_hours (
  month date not null references public.archived_months (month),
  hour_at timestamptz not null,
  model_id text not null,
  upstream_id text,
  fx_rate_e4 int4 not null,
  requests int8 not null,
  cost_pico_usd int8 not null,
  billed_nano_brl int8 not null,
  unique nulls not distinct (hour_at, model_id, upstream_id, fx_rate_e4, month)
);
create index archived_hours_by_month on public.archived_hours (month);

-- Files have ids of sessions sealed with the key of their customer: to erase the key erases them in every copy.
create table public.archived_session_keys (
  customer_id uuid primary key references public.customers (id),
  key bytea not null check (length(key) = 32)
);
