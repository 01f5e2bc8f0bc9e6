-- Refuses to write a row for a deleted customer. A foreign key only requires the customer's row, which stays. This trigger
-- waits for a running deletion, which holds that row `for update`; a later deletion waits for the new row and erases it.
-- The argument of the trigger names the column with the customer.
create function refuse_deleted_customer() returns trigger language plpgsql set search_path from current as $$
declare
  v_customer_id uuid := to_jsonb(new) ->> tg_argv[0];
  v_deleted_at timestamptz;
begin
  select deleted_at into v_deleted_at from customers where id = v_customer_id for key share;
  if v_deleted_at is not null then
    raise exception 'customer % is deleted', v_customer_id using errcode = 'CU001';
  end if;
  return new;
end $$;

do $$
declare
  v_table text;
begin
  foreach v_table in array array[
    'profiles', 'referrals', 'notifications', 'teams', 'team_members', 'api_keys',
    'prompts', 'events', 'mails', 'sandbox_mails', 'webhook_endpoints', 'webhook_attempts',
    'top_ups', 'payment_methods', 'card_attempts', 'automatic_top_ups', 'alerts',
    'balance_watches', 'external_users', 'adjustments', 'shield_counts', 'idempotency_keys',
    'usage_refusals', 'usage_destinations', 'processor_customers', 'cached_answers', 'batches', 'files', 'videos',
    'customer_notes'
  ] loop
    execute format('create or replace trigger refuse_deleted_customer before insert on %I
      for each row execute function refuse_deleted_customer(''customer_id'')', v_table);
  end loop;
end $$;
-- A payment that arrives after the deletion is refunded to its payer.
drop trigger if exists refuse_deleted_customer on refunds;
create or replace trigger refuse_deleted_customer before insert on team_invitations
  for each row execute function refuse_deleted_customer('invited_by');
create or replace trigger refuse_deleted_creator before insert on api_keys
  for each row when (new.created_by is not null) execute function refuse_deleted_customer('created_by');
