alter table customers add column incident_email_enabled boolean not null default false;
create index customers_with_incident_emails on customers (id) where incident_email_enabled;
-- Whether a mail about it was begun, and none about its end.
alter table incidents add column is_mailed boolean not null default false;
create index incidents_mailed on incidents (id) where is_mailed;
-- A mail on its way to all who want it. Every reader up to this customer has it; the row goes with the last one.
create table incident_mails (
  id uuid primary key,
  data jsonb not null,
  after_customer_id uuid not null default '00000000-0000-0000-0000-000000000000'
);
