-- The promotional part of an account's balance: the parts of its entries, less the charges that did not take paid money. It
-- is computed, so that no call writes for it. `promotional_at_charged_nano_brl` is the sum of the charges that took paid
-- money up to the last entry; until the next one, charges take promotional credit first.
create function promotional_left(a accounts) returns int8 immutable language sql as $$
  select greatest(0, a.promotional_nano_brl - (a.charged_nano_brl - a.promotional_at_charged_nano_brl))
$$;

-- Posts a credit or a debit, and says which part of the balance it moves. Every entry is written here, so that none can
-- leave this open. A promotion first pays a debt, and only the rest of it is promotional credit. What returns to a payer takes
-- paid money first, so that a charge-back leaves no promotional credit beside a debt; every other debit takes promotional
-- credit first, as charges do. Returns the kind of an `EntryOutcome`.
create function post_entry(
  p_id uuid, p_customer_id uuid, p_kind text, p_reason text, p_amount_nano_brl int8, p_reference text, p_note text,
  p_may_overdraw bool
) returns text language plpgsql as $$
declare
  a accounts;
  v_balance int8;
  v_left int8;
  v_part int8;
  v_paid_charges int8;
begin
  select * into a from accounts where customer_id = p_customer_id for no key update;
  if exists (select from ledger_entries where reason = p_reason and reference = p_reference) then
    return 'exists';
  elsif a.customer_id is null then
    return 'customer_not_found';
  end if;
  v_balance := a.credited_nano_brl - a.debited_nano_brl - a.charged_nano_brl;
  if p_kind = 'debit' and not p_may_overdraw and v_balance - a.held_nano_brl < p_amount_nano_brl then
    return 'short_balance';
  end if;
  v_left := promotional_left(a);
  v_part := case
    when p_kind = 'debit' and p_reason in ('refund', 'chargeback', 'top_up_returned')
      then least(v_left, greatest(0, p_amount_nano_brl - (v_balance - v_left)))
    when p_kind = 'debit' then least(v_left, p_amount_nano_brl)
    when p_reason in ('promotion', 'referral', 'trial')
      then greatest(0, least(p_amount_nano_brl, v_balance + p_amount_nano_brl))
    else 0 end;
  v_paid_charges := greatest(0, a.charged_nano_brl - a.promotional_nano_brl - a.promotional_at_charged_nano_brl);
  insert into ledger_entries (
    id, customer_id, kind, reason, amount_nano_brl, reference, note, promotional_nano_brl, paid_charges_nano_brl)
  values (p_id, p_customer_id, p_kind, p_reason, p_amount_nano_brl, p_reference, p_note, v_part, v_paid_charges)
  on conflict (reason, reference) do nothing;
  if not found then
    return 'exists';
  end if;
  update accounts set
    credited_nano_brl = credited_nano_brl + case p_kind when 'credit' then p_amount_nano_brl else 0 end,
    debited_nano_brl = debited_nano_brl + case p_kind when 'debit' then p_amount_nano_brl else 0 end,
    promotional_nano_brl = promotional_nano_brl + case p_kind when 'credit' then v_part else -v_part end,
    promotional_at_charged_nano_brl = promotional_at_charged_nano_brl + v_paid_charges
  where customer_id = p_customer_id;
  return 'posted';
end $$;

-- Takes what is left out of the account of a deleted customer: nobody can reach money that stays there. The entry names what
-- brought it, so that the operator can find the amount and pay it out.
create function empty_deleted_account(p_customer_id uuid, p_reference text) returns void language plpgsql as $$
declare
  v_free int8;
begin
  select a.credited_nano_brl - a.debited_nano_brl - a.charged_nano_brl - a.held_nano_brl into v_free
  from accounts a join customers c on c.id = a.customer_id
  where a.customer_id = p_customer_id and c.deleted_at is not null;
  if v_free > 0 then
    perform post_entry(
      gen_random_uuid(), p_customer_id, 'debit', 'account_closed', v_free, p_reference, null, false);
  end if;
end $$;

-- For every credit, whoever posts it, at the end of its transaction: until then, a refund may return the money to its payer.
create function empty_by_late_credit() returns trigger language plpgsql set search_path from current as $$
begin
  perform empty_deleted_account(new.customer_id, new.reason || ':' || new.reference);
  return null;
end $$;

drop trigger if exists empty_by_late_credit on ledger_entries;
create constraint trigger empty_by_late_credit after insert on ledger_entries deferrable initially deferred
  for each row when (new.kind = 'credit') execute function empty_by_late_credit();
