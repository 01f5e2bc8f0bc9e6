-- An identity provider tells of users: each becomes a customer, once, in whatever order it is told.

create table external_users (
  -- SHA-256 of the provider's id: enough to know the user again, and nothing that is left of a deleted one.
  external_id_hash bytea primary key check (length(external_id_hash) = 32),
  -- Null for one who was deleted before anything else was told.
  customer_id uuid unique references customers (id),
  -- Of what was told last, by the provider's clock: older news is no news.
  changed_at timestamptz,
  -- For good. The account goes at once, or as soon as neither calls nor a balance hinder it.
  deleted_at timestamptz
);
create index external_users_to_delete on external_users (customer_id)
  where deleted_at is not null and customer_id is not null;
create trigger refuse_deleted_customer before insert on external_users
  for each row execute function refuse_deleted_customer('customer_id');

-- Messages of the provider that were handled, so that none is handled twice.
create table auth_events (
  id text primary key check (length(id) between 1 and 255),
  type text,
  outcome text,
  received_at timestamptz not null default now()
);
create index auth_events_by_time on auth_events (received_at);
