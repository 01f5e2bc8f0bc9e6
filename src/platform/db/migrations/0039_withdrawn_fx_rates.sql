-- A rate that an operator set by mistake can be taken back. The row stays, because charges name it.
alter table public.fx_rates add column withdrawn_at timestamptz;
