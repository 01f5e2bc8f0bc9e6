-- An operator's request to reset the factor; a second operator resets it, or the request lapses.
alter table sign_in_second_factors
  add column reset_requested_by uuid references customers,
  add column reset_requested_at timestamptz,
  add column reset_reason text,
  add check ((reset_requested_by is null) = (reset_requested_at is null) and (reset_requested_by is null) = (reset_reason is null));
-- The requests that wait, which operators see on their home page.
create index sign_in_second_factors_to_reset on sign_in_second_factors (reset_requested_at) where reset_requested_at is not null;
