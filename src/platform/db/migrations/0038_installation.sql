-- The mode of the first start, for ever: a database of the sandbox never serves live calls.
create table public.installation (
  only_row boolean primary key default true check (only_row),
  mode text not null check (mode in ('sandbox', 'live')),
  created_at timestamptz not null default now()
);
-- A database of an earlier release: live servers alone store other rates than the sandbox's, and each start of a
-- sandbox credits the demo customer.
insert into public.installation (mode)
select case when is_live then 'live' else 'sandbox' end
from (
  select exists (select 1 from public.fx_rates where source <> 'sandbox') as is_live,
    exists (select 1 from public.ledger_entries where reason = 'sandbox') as has_sandbox_money
) found
where is_live or has_sandbox_money;
