-- Mails are sent beside what they tell of: they wait here, and end as a notification of the same id.

create table mails (
  -- Made of the template and the fact, so that nothing is told twice; the Message-ID too.
  id uuid primary key,
  -- On whose account it is.
  customer_id uuid not null references customers (id),
  -- Null: the customer's own, as it is when the mail goes.
  email text,
  template text not null check (template ~ '^[a-z_]{1,40}$'),
  -- May hold what only its reader may know (the token of an invitation): it goes with the row.
  data jsonb not null,
  tries int4 not null default 0,
  -- Whoever tries moves it on before, so that nobody else does and a crash loses nothing.
  due_at timestamptz not null default now(),
  created_at timestamptz not null default now()
);
create index mails_due on mails (due_at, id);
create index mails_by_customer on mails (customer_id, created_at desc, id desc);
create index mails_by_email on mails (email) where email is not null;
create trigger refuse_deleted_customer before insert on mails
  for each row execute function refuse_deleted_customer('customer_id');

-- The mailbox of sandbox mode: what would have been sent.
create table sandbox_mails (
  id uuid primary key,
  customer_id uuid not null references customers (id),
  email text not null,
  subject text not null,
  list_unsubscribe text,
  text text not null,
  html text not null,
  created_at timestamptz not null default now()
);
create index sandbox_mails_by_time on sandbox_mails (created_at desc, id desc);
create trigger refuse_deleted_customer before insert on sandbox_mails
  for each row execute function refuse_deleted_customer('customer_id');
