-- An operator pauses all model calls, or one key, beside the pauses of its owner.
create table public.service_pause (
  only_row boolean primary key default true check (only_row),
  reason text not null,
  paused_at timestamptz not null default now()
);
-- The owner's pause that an operator's replaced; it comes back when the operator lifts theirs.
alter table public.api_keys add column paused_before text check (paused_before in ('anomaly', 'leaked', 'owner'));
alter table public.api_keys add constraint api_keys_paused_before check (paused_before is null or paused_reason = 'operator');
