-- A paused key is refused until somebody lifts the pause. `anomaly`: it spent far above its pace; `leaked`: somebody
-- reported it; `owner` and `operator`: by hand.
alter table public.api_keys add column paused_at timestamptz;
alter table public.api_keys add column paused_reason text check (paused_reason in ('anomaly', 'leaked', 'owner', 'operator'));
alter table public.api_keys add constraint api_keys_paused check ((paused_at is null) = (paused_reason is null));
