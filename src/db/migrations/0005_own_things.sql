-- What customers manage themselves: profile, preferences, keys of teams, saved prompts, and what was done
-- and sent.

alter table customers
  add column preferred_locale text not null default 'pt-BR',
  add column weekly_digest_enabled bool not null default true,
  -- Name and e-mail are erased then; what the law asks to keep stays.
  add column deleted_at timestamptz,
  -- Made when it is first asked for.
  add column referral_code text unique;

create table profiles (
  customer_id uuid primary key references customers (id),
  full_name text not null check (length(full_name) between 1 and 200),
  -- A CPF (11 digits) or a CNPJ (14 characters), without punctuation.
  tax_id text not null check (tax_id ~ '^(\d{11}|[0-9A-Z]{12}\d{2})$'),
  phone text,
  postal_code text,
  street text,
  street_number text,
  complement text,
  district text,
  city text,
  state text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

create table referrals (
  -- Who came; once.
  customer_id uuid primary key references customers (id),
  referrer_id uuid not null references customers (id),
  created_at timestamptz not null default now(),
  rewarded_at timestamptz,
  reward_nano_brl int8 check (reward_nano_brl > 0),
  check (customer_id <> referrer_id),
  check ((rewarded_at is null) = (reward_nano_brl is null))
);
create index referrals_by_referrer on referrals (referrer_id, created_at);

-- Mails that were sent, or could not be.
create table notifications (
  id uuid primary key,
  customer_id uuid not null references customers (id),
  template text not null check (template ~ '^[a-z_]{1,40}$'),
  status text not null check (status in ('sent', 'failed')),
  error text check ((error is null) = (status = 'sent')),
  sent_at timestamptz not null default now()
);
create index notifications_by_customer on notifications (customer_id, sent_at desc, id desc);

-- Every administrative and security-relevant act, immutable, written in the transaction of the act.
create table audit_log (
  id uuid primary key,
  created_at timestamptz not null default now(),
  actor_kind text not null check (actor_kind in ('customer', 'operator', 'system')),
  -- Of a customer: the customer who acts, and by which key.
  actor_id uuid,
  api_key_id uuid,
  ip text,
  action text not null check (action ~ '^[a-z_]+\.[a-z_]+$'),
  -- Whom it is about, where it is about one.
  customer_id uuid,
  -- The thing: a key, a prompt, a team.
  subject_id text,
  -- Never a secret, never personal.
  details jsonb
);
create index audit_log_by_time on audit_log (created_at desc, id desc);
create index audit_log_by_customer on audit_log (customer_id, created_at desc);

create table teams (
  id uuid primary key,
  -- The owner, whose balance pays.
  customer_id uuid not null references customers (id),
  name text not null check (length(name) between 3 and 50),
  created_at timestamptz not null default now(),
  deleted_at timestamptz
);
create index teams_by_customer on teams (customer_id, created_at);

create table team_members (
  team_id uuid not null references teams (id),
  customer_id uuid not null references customers (id),
  role text not null check (role in ('admin', 'member')),
  joined_at timestamptz not null default now(),
  primary key (team_id, customer_id)
);
create index team_members_by_customer on team_members (customer_id, joined_at);

create table team_invitations (
  id uuid primary key,
  team_id uuid not null references teams (id),
  email text not null,
  role text not null check (role in ('admin', 'member')),
  -- SHA-256 of the token in the invitation.
  token_hash bytea not null unique,
  invited_by uuid not null references customers (id),
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  accepted_at timestamptz,
  revoked_at timestamptz
);
create index team_invitations_by_team on team_invitations (team_id, created_at);

-- Every team has a row; `limit_nano_brl` null: no cap.
create table team_budgets (
  team_id uuid primary key references teams (id),
  timezone text not null,
  limit_nano_brl int8 check (limit_nano_brl >= 0),
  period_started_at timestamptz not null default '-infinity',
  spent_nano_brl int8 not null default 0 check (spent_nano_brl >= 0),
  held_nano_brl int8 not null default 0 check (held_nano_brl >= 0)
) with (fillfactor = 60);

alter table api_keys
  -- For good: a key does not change its team. It spends the owner's balance within the team's cap, and
  -- is for model calls only.
  add column team_id uuid references teams (id),
  -- Who made it, where it was not the customer who pays.
  add column created_by uuid references customers (id);
create index api_keys_by_team on api_keys (team_id, created_at) where team_id is not null;

-- Written some seconds after the fact. A table of its own: a key's row is read by every hold.
create table api_key_uses (
  api_key_id uuid primary key references api_keys (id),
  last_used_at timestamptz not null
) with (fillfactor = 60);

create table prompts (
  id uuid primary key,
  customer_id uuid not null references customers (id),
  slug text not null,
  name text not null check (length(name) between 3 and 120),
  description text,
  variables text[] not null,
  tags text[] not null,
  default_model text,
  -- The newest of its versions.
  version int4 not null default 1,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  unique (customer_id, slug)
);
create index prompts_by_customer on prompts (customer_id, updated_at desc, id desc);

-- Append-only; they go with their prompt.
create table prompt_versions (
  prompt_id uuid not null references prompts (id) on delete cascade,
  version int4 not null check (version > 0),
  body text not null check (length(body) between 1 and 32000),
  change_note text check (length(change_note) <= 200),
  created_at timestamptz not null default now(),
  primary key (prompt_id, version)
);
