-- Names in plain words. Model calls use none of them; background jobs and operators' pages of the release before may
-- fail on them until its nodes are replaced.

-- Of a rise: the last customer, by id, who has had the notice, and when all of them had it.
alter table markup_changes rename column told_until to noticed_through;
alter table markup_changes rename column told_at to noticed_at;
alter index markup_changes_untold rename to markup_changes_without_notice;

-- The amount that the client received with the answer.
alter table delivery_discrepancies rename column told_nano_brl to delivered_nano_brl;

alter table reconciliation_differences rename to reconciliation_discrepancies;
alter index reconciliation_differences_by_time rename to reconciliation_discrepancies_by_time;
alter index reconciliation_differences_unresolved rename to reconciliation_discrepancies_unresolved;
do $$
declare
  v_name text;
begin
  for v_name in
    select conname from pg_constraint where conrelid = 'reconciliation_discrepancies'::regclass
  loop
    execute format('alter table reconciliation_discrepancies rename constraint %I to %I', v_name,
      replace(v_name, 'differences', 'discrepancies'));
  end loop;
end $$;

alter index top_ups_gone rename to top_ups_reversed;
alter index webhook_endpoints_in_trouble rename to webhook_endpoints_failing;
alter index sign_in_users_unproved rename to sign_in_users_unverified;
