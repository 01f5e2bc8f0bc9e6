-- By how much a budget or a cap is above its limit with a recorded cause; the triggers of src/money/ledger/sql/overdrafts.sql
-- write it. What is above a limit now is taken as given.
alter table public.api_key_budgets add column overdrawn_pico_usd bigint not null default 0 check (overdrawn_pico_usd >= 0);
update public.api_key_budgets set overdrawn_pico_usd = greatest(0, held_pico_usd + spent_pico_usd - limit_pico_usd);
alter table public.team_budgets add column overdrawn_nano_brl bigint not null default 0 check (overdrawn_nano_brl >= 0);
update public.team_budgets set overdrawn_nano_brl = greatest(0, held_nano_brl + spent_nano_brl - limit_nano_brl);
