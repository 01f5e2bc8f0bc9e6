-- Whether the user of a login session has shown a second factor in it: operators' pages need that.
alter table public.sign_in_sessions add column factor_at timestamptz;
-- Nobody credits or debits their own account, nor approves that. Rows of the past are taken as they are.
alter table public.adjustments add constraint adjustments_for_another
  check (requested_by <> customer_id and (status <> 'posted' or decided_by is distinct from customer_id)) not valid;
-- What an operator posted alone within a day.
create index adjustments_by_operator on public.adjustments (requested_by, created_at) where status = 'posted' and decided_by is null;
