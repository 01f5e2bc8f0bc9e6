-- Records the change of a customer's debt when the free amount goes from `p_before` to `p_after`. A debt is
-- max(0, held + charged + debited - credited); see the table `account_debts`.
create function note_debt(p_customer_id uuid, p_before int8, p_after int8, p_cause text, p_hold_ids uuid[]) returns void
language plpgsql as $$
declare
  v_change int8 := greatest(0, -p_after) - greatest(0, -p_before);
begin
  if v_change <> 0 then
    insert into account_debts (customer_id, amount_nano_brl, cause, hold_ids)
    values (p_customer_id, v_change, case when v_change < 0 then 'repaid' else p_cause end, p_hold_ids);
  end if;
end $$;

-- For credits and debits, which also change a debt. Charges and holds record their own changes, because evaluating the
-- condition of a trigger costs as much as a statement.
create function note_debt_of_entry() returns trigger language plpgsql set search_path from current as $$
begin
  perform note_debt(new.customer_id,
    old.credited_nano_brl - old.debited_nano_brl - old.charged_nano_brl - old.held_nano_brl,
    new.credited_nano_brl - new.debited_nano_brl - new.charged_nano_brl - new.held_nano_brl, 'debit', null);
  return null;
end $$;

create or replace trigger note_debt_of_entry after update of credited_nano_brl, debited_nano_brl on accounts for each row
  when (
    old.credited_nano_brl - old.debited_nano_brl - old.charged_nano_brl - old.held_nano_brl < 0
    or new.credited_nano_brl - new.debited_nano_brl - new.charged_nano_brl - new.held_nano_brl < 0
  ) execute function note_debt_of_entry();
