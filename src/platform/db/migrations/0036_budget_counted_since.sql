-- Since when the charges in `spent_pico_usd` were settled: a changed budget carries over what was spent before the change
-- (`spent_before_pico_usd`), and a correction takes such a charge back too. Of an earlier change it is not known.
alter table public.api_key_budgets add column counted_since timestamptz not null default clock_timestamp();
update public.api_key_budgets set counted_since = spent_since;
