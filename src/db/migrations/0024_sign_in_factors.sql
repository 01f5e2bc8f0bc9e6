-- People may ask for more than a password or a mail when they sign in: a code of an app, or a passkey.

alter table sign_in_sessions
  -- Nobody's session, until its user gave a code as well.
  add column awaits_factor boolean not null default false,
  -- When its user last proved to be who they are; what guards the account wants that a moment ago.
  add column proved_at timestamptz not null default now();
update sign_in_sessions set proved_at = created_at;

create table sign_in_second_factors (
  id uuid primary key,
  user_id uuid not null unique references sign_in_users (id) on delete cascade,
  -- What the codes are made of.
  secret_sealed bytea not null,
  -- Since when codes are asked for; until a first one was given the app may not have the secret.
  enabled_at timestamptz,
  -- The step of time of the newest code that was taken: a code counts once, and no older one after it.
  last_step int8 not null default 0,
  created_at timestamptz not null default now()
);

-- For whoever has the app no more. Each counts once, and is gone with it.
create table sign_in_backup_codes (
  user_id uuid not null references sign_in_second_factors (user_id) on delete cascade,
  code_hash bytea not null check (length(code_hash) = 32),
  primary key (user_id, code_hash)
);

create table sign_in_passkeys (
  id uuid primary key,
  user_id uuid not null references sign_in_users (id) on delete cascade,
  name text not null check (length(name) between 1 and 100),
  public_key text not null,
  credential_id text not null unique,
  -- Up to 2^32, which a float holds exactly, and JavaScript reads as a number.
  counter float8 not null,
  device_type text not null,
  is_backed_up boolean not null,
  transports text,
  aaguid text,
  created_at timestamptz not null default now()
);
create index sign_in_passkeys_by_user on sign_in_passkeys (user_id, created_at);
