-- Accounts can be deleted: nothing is written for one any more, and what is left of it to erase is found.

-- After `deleted_at`: when the last of what is erased in batches was gone.
alter table customers add column erased_at timestamptz;
create index customers_to_erase on customers (deleted_at) where deleted_at is not null and erased_at is null;

-- What somebody did themselves is part of their data.
create index audit_log_by_actor on audit_log (actor_id, created_at desc) where actor_id is not null;
create index api_keys_by_creator on api_keys (created_by) where created_by is not null;
create index team_invitations_by_inviter on team_invitations (invited_by);
create index team_invitations_by_email on team_invitations (email);

-- A foreign key only asks for the customer's row, which stays. This waits for a deletion that runs, which
-- holds that row `for update`; one that comes later waits for this row and erases it.
create function refuse_deleted_customer() returns trigger language plpgsql as $$
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

create trigger refuse_deleted_customer before insert on profiles
  for each row execute function refuse_deleted_customer('customer_id');
create trigger refuse_deleted_customer before insert on referrals
  for each row execute function refuse_deleted_customer('customer_id');
create trigger refuse_deleted_customer before insert on notifications
  for each row execute function refuse_deleted_customer('customer_id');
create trigger refuse_deleted_customer before insert on teams
  for each row execute function refuse_deleted_customer('customer_id');
create trigger refuse_deleted_customer before insert on team_members
  for each row execute function refuse_deleted_customer('customer_id');
create trigger refuse_deleted_customer before insert on team_invitations
  for each row execute function refuse_deleted_customer('invited_by');
create trigger refuse_deleted_customer before insert on api_keys
  for each row execute function refuse_deleted_customer('customer_id');
create trigger refuse_deleted_creator before insert on api_keys
  for each row when (new.created_by is not null) execute function refuse_deleted_customer('created_by');
create trigger refuse_deleted_customer before insert on prompts
  for each row execute function refuse_deleted_customer('customer_id');
