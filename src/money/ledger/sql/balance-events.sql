-- Queues the event `balance.depleted` or `balance.restored`, in the transaction that moved the balance through zero.
create function emit_balance_turned(p_customer_id uuid, p_balance int8) returns void language plpgsql as $$
begin
  insert into events (id, customer_id, type, data)
  select gen_random_uuid(), c.id, case when p_balance > 0 then 'balance.restored' else 'balance.depleted' end,
    jsonb_build_object('balance_brl', trim_scale(p_balance::numeric / 1000000000)::text)
  from customers c where c.id = p_customer_id and c.deleted_at is null;
end $$;

-- For credits and debits, which can also move a balance through zero. A charge can only use the balance up, and queues its
-- event itself: evaluating the condition of a trigger costs as much as a statement.
create function emit_balance_turned_by_entry() returns trigger language plpgsql set search_path from current as $$
begin
  perform emit_balance_turned(new.customer_id, new.credited_nano_brl - new.debited_nano_brl - new.charged_nano_brl);
  return null;
end $$;

-- The first credit of an account restores nothing.
drop trigger if exists tell_balance_turned on accounts;
create or replace trigger emit_balance_turned after update of credited_nano_brl, debited_nano_brl on accounts for each row
  when (
    (old.credited_nano_brl - old.debited_nano_brl - old.charged_nano_brl > 0)
      <> (new.credited_nano_brl - new.debited_nano_brl - new.charged_nano_brl > 0)
    and new.debited_nano_brl + new.charged_nano_brl > 0
  ) execute function emit_balance_turned_by_entry();
