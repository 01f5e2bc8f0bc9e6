-- Our books are held against those of others: what the payment processor has on record, and what upstreams
-- say that they cost. What differs is a row until it is explained or gone.

-- Each time that the processor's records were gone through. One without an end proves nothing.
create table reconciliation_runs (
  id uuid primary key,
  processor text not null,
  -- Days in Brasília, both inclusive.
  from_day date not null,
  to_day date not null,
  started_at timestamptz not null default now(),
  finished_at timestamptz,
  -- Why it did not come to its end.
  failure text,
  payments int4 not null default 0,
  top_ups int4 not null default 0,
  -- Top-ups whose word was lost and is known now.
  mended int4 not null default 0,
  check (finished_at is null or failure is null)
);
create index reconciliation_runs_by_time on reconciliation_runs (processor, started_at desc);

create table reconciliation_differences (
  id uuid primary key,
  -- What it is of, as `top_up:<id>`, `payment:<processor>:<id>`, `upstream:<day>:<id>`; with the kind, the same
  -- difference is one row for ever.
  subject text not null,
  kind text not null check (kind in (
    'payment_without_top_up', 'paid_there_only', 'paid_here_only', 'amount_differs', 'returned_differs',
    'paid_twice', 'upstream_cost')),
  status text not null default 'open' check (status in ('open', 'explained', 'gone')),
  processor text,
  processor_payment_id text,
  top_up_id uuid,
  upstream_id text,
  day date,
  ours_nano_brl int8,
  theirs_nano_brl int8,
  ours_pico_usd int8,
  theirs_pico_usd int8,
  first_seen_at timestamptz not null default now(),
  -- When it became open the last time.
  opened_at timestamptz not null default now(),
  last_seen_at timestamptz not null default now(),
  -- When it was not there any more.
  resolved_at timestamptz,
  -- Of these amounts; with others it is open again.
  explanation text check (length(explanation) between 3 and 500),
  -- The audit log has who.
  explainer text check (explainer in ('operator', 'admin')),
  explained_at timestamptz,
  unique (subject, kind),
  check ((status = 'gone') = (resolved_at is not null)),
  check ((explanation is null) = (explainer is null) and (explanation is null) = (explained_at is null)),
  check (status <> 'explained' or explanation is not null),
  check ((kind = 'upstream_cost') = (ours_nano_brl is null)),
  check ((ours_nano_brl is null) = (theirs_nano_brl is null)),
  check ((ours_pico_usd is null) = (theirs_pico_usd is null)),
  check ((ours_pico_usd is null) <> (ours_nano_brl is null))
);
create index reconciliation_differences_by_time on reconciliation_differences (last_seen_at desc, id desc);
create index reconciliation_differences_unresolved on reconciliation_differences (status) where status <> 'gone';

-- What an upstream says that a day of UTC cost, as imported; '' is no model. A correction may be negative.
create table upstream_costs (
  upstream_id text not null,
  day date not null,
  model text not null default '',
  cost_pico_usd int8 not null,
  imported_at timestamptz not null default now(),
  primary key (upstream_id, day, model)
);

-- The same days beside ours.
create table upstream_cost_days (
  upstream_id text not null,
  day date not null,
  ours_pico_usd int8 not null,
  theirs_pico_usd int8 not null,
  compared_at timestamptz not null default now(),
  primary key (upstream_id, day)
);
create index upstream_cost_days_by_day on upstream_cost_days (day);

-- Charges are written nearly in the order of their times: a few bytes for each megabyte of them find a day,
-- and a settlement has next to nothing to do for it.
create index usage_events_by_time on usage_events using brin (created_at) with (autosummarize = on);
