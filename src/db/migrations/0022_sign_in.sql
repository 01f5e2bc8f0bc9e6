-- People sign in to the dashboard: users with a password or a link by mail, and their sessions.

create table sign_in_users (
  id uuid primary key,
  -- In lower case; it never changes. Who proved it acts for the customer who has it.
  email text not null unique check (email = lower(email)),
  is_verified boolean not null default false,
  -- As it was given; the customer has a name of their own.
  name text not null check (length(name) <= 200),
  image text check (image is null),
  -- Of whoever told them of the service; looked at once, when they become a customer.
  referral_code text check (length(referral_code) <= 40),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index sign_in_users_unproved on sign_in_users (created_at) where not is_verified;

create table sign_in_sessions (
  id uuid primary key,
  user_id uuid not null references sign_in_users (id) on delete cascade,
  -- Of no use by itself: the cookie also holds a signature by a key that is not in the database.
  token text not null unique,
  expires_at timestamptz not null,
  ip text,
  user_agent text check (length(user_agent) <= 400),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index sign_in_sessions_by_user on sign_in_sessions (user_id, created_at desc);
create index sign_in_sessions_by_end on sign_in_sessions (expires_at);

-- How a user proves to be who they are: a password, as its scrypt hash.
create table sign_in_accounts (
  id uuid primary key,
  user_id uuid not null references sign_in_users (id) on delete cascade,
  provider_id text not null,
  provider_account text not null,
  password text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  unique (user_id, provider_id)
);

-- Links that were sent by mail, each good once and for minutes.
create table sign_in_verifications (
  id text primary key,
  -- A hash of what the link holds.
  identifier text not null unique,
  -- Whom it is for: a user's id, or an address.
  value text not null,
  expires_at timestamptz not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index sign_in_verifications_by_end on sign_in_verifications (expires_at);

-- How often something was tried in a window of time, on all nodes together.
create table sign_in_attempts (
  -- SHA-256 of what was tried and by whom.
  key_hash bytea primary key check (length(key_hash) = 32),
  tries int4 not null,
  ends_at timestamptz not null
);
create index sign_in_attempts_by_end on sign_in_attempts (ends_at);

-- Acts of whoever signed in; an act has a key or a session, and not both.
alter table audit_log add column session_id uuid;

-- Whoever is not a customer yet gets mails, too: the one that asks them to prove their address.
alter table mails
  alter column customer_id drop not null,
  add check (customer_id is not null or email is not null);
alter table sandbox_mails alter column customer_id drop not null;
