-- A key that spends far above its usual pace is paused. Null: the guard is off.
alter table public.customers add column anomaly_factor int default 10 check (anomaly_factor between 2 and 1000);
alter table public.customers add column anomaly_floor_nano_brl bigint not null default 200000000000
  check (anomaly_floor_nano_brl between 1000000000 and 1000000000000000);

-- The pace at which a key was paused: its owner let it go on, so it counts as usual.
create table public.accepted_paces (
  api_key_id uuid not null references public.api_keys (id),
  kind text not null check (kind in ('key', 'session')),
  pace_nano_brl bigint not null check (pace_nano_brl > 0),
  paused_at timestamptz not null default now(),
  primary key (api_key_id, kind)
);
