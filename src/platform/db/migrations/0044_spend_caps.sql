-- Caps of a key in BRL for each minute and each day, beside its budget. They are held and settled as budgets are.
create table public.key_caps (
  api_key_id uuid not null references public.api_keys (id),
  period text not null check (period in ('minute', 'day')),
  timezone text not null,
  limit_nano_brl bigint not null check (limit_nano_brl >= 0),
  period_started_at timestamptz not null default '-infinity',
  spent_nano_brl bigint not null default 0 check (spent_nano_brl >= 0),
  held_nano_brl bigint not null default 0 check (held_nano_brl >= 0),
  spent_since timestamptz not null default clock_timestamp(),
  spent_before_nano_brl bigint not null default 0,
  counted_since timestamptz not null default clock_timestamp(),
  overdrawn_nano_brl bigint not null default 0 check (overdrawn_nano_brl >= 0),
  primary key (api_key_id, period)
) with (fillfactor = 60);

-- The spending of a key in one usage session, of the calls that had a cap per task. The limit is that of the last hold.
create table public.task_spends (
  api_key_id uuid not null references public.api_keys (id),
  session_id text collate "C" not null,
  customer_id uuid not null references public.customers (id),
  limit_nano_brl bigint not null check (limit_nano_brl >= 0),
  spent_nano_brl bigint not null default 0 check (spent_nano_brl >= 0),
  held_nano_brl bigint not null default 0 check (held_nano_brl >= 0),
  spent_since timestamptz not null default clock_timestamp(),
  last_held_at timestamptz not null default clock_timestamp(),
  overdrawn_nano_brl bigint not null default 0 check (overdrawn_nano_brl >= 0),
  primary key (api_key_id, session_id)
) with (fillfactor = 60);
create index task_spends_by_customer on public.task_spends (customer_id);

-- `has_caps`: there are rows in `key_caps`; src/money/ledger/sql/budgets.sql maintains it.
alter table public.api_keys add column has_caps boolean not null default false;
alter table public.api_keys add column task_limit_nano_brl bigint check (task_limit_nano_brl >= 0);
alter table public.api_keys add column calls_at_once int check (calls_at_once > 0);

-- The caps that count a hold and its charge, as a sum: 1 the minute's, 2 the day's, 4 the task's.
alter table public.holds add column in_caps smallint not null default 0;
alter table public.usage_events add column in_caps smallint not null default 0;
alter table public.audit_seal_sums add column minute_cap_nano_brl bigint not null default 0;
alter table public.audit_seal_sums add column day_cap_nano_brl bigint not null default 0;
