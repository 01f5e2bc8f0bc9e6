-- The tables of the first release, by subject.
--
-- Migrations change tables only. The functions, their composite types and the triggers are in the `sql` folders beside
-- the code that calls them. `src/platform/db/schema.sql` shows the schema as it is now.
--
-- Units: `_nano_brl` is 1e-9 BRL, `_pico_usd` is 1e-12 USD, `_e4` is times 10^4.
--
-- An amount that must never be negative has a domain: PostgreSQL keeps the checks of a domain ready, and parses the
-- checks of a table again for every statement. Tables on the path of a call (holds, usage_events, usage_hours,
-- rate_windows) have no foreign keys: only the ledger's functions write them, from rows that they have just joined, and
-- a foreign key would cost one more query for each row.

create domain nano_brl as int8 check (value >= 0);
create domain pico_usd as int8 check (value >= 0);
create domain sample_count as int8 check (value >= 0);
-- Has as many elements as src/platform/health/latency-buckets.ts has buckets. A node with another layout would shift
-- every percentile unnoticed, so the database refuses its rows.
create domain latency_counts as int8[] check (cardinality(value) = 156);

create type call_outcome as enum ('charged', 'released');
create type usage_kind as enum ('exact', 'estimated', 'none');
create type top_up_status as enum (
  'pending', 'paid', 'expired', 'canceled', 'failed', 'chargeback', 'refund_pending', 'partially_refunded', 'refunded');
create type incident_source as enum ('operator', 'breaker');
create type incident_severity as enum ('minor', 'major', 'critical');
-- What an API key may do beside calling models. Of the first three each allows what the ones before it allow; only a
-- login session gives `manage` (src/customers/key-acts.ts). `operator` reads the routes under /admin.
create type key_scope as enum ('calls', 'account', 'manage', 'operator');


-- The installation ----------------------------------------------------------------------------------------------------

create table installation (
  only_row boolean primary key default true check (only_row),
  -- The mode of the first start, for ever: a database of the sandbox never serves live calls.
  mode text not null check (mode in ('sandbox', 'live')),
  created_at timestamptz not null default now(),
  -- The cell of this database, see docs/cells.md: a part of the secret of each key that is made here. Null where there
  -- is one database only.
  cell text constraint installation_cell check (cell ~ '^[0-9a-z]{1,8}$')
);

-- An operator pauses all model calls.
create table service_pause (
  only_row boolean primary key default true check (only_row),
  reason text not null,
  paused_at timestamptz not null default now()
);

-- The schemas with the functions of this release and of those before it, and the last start of a node with each;
-- src/platform/db/functions.ts writes them.
create table function_sets (
  schema_name text primary key,
  started_at timestamptz not null default clock_timestamp()
);

-- One row for each start of a server process.
create table nodes (
  id uuid primary key,
  started_at timestamptz not null default now(),
  -- The last heartbeat, which the node's lease counts from.
  seen_at timestamptz not null default now(),
  stopped_at timestamptz,
  -- A fenced node has lost its lease for good; it registers again under a new id.
  fenced_at timestamptz,
  -- The schema of the SQL functions that the node calls: it stays while a live node calls it.
  functions_schema text not null,
  -- The process of a node on a server with several processes (WORKERS): the parent is worker 0. Null where one process
  -- is the whole server. The parent fences the nodes of a process that it saw die by `process_id`.
  server_id uuid,
  process_id uuid,
  worker int2,
  -- The release that the node runs. `build` is the commit, or the name that whoever built the image gave it.
  version text,
  build text
);


-- Customers -----------------------------------------------------------------------------------------------------------

create table customers (
  id uuid primary key,
  name text not null check (length(name) between 1 and 200),
  email text unique,
  timezone text not null default 'America/Sao_Paulo',
  created_at timestamptz not null default now(),
  preferred_locale text not null default 'pt-BR',
  weekly_digest_enabled bool not null default true,
  -- The name and the e-mail address are erased at this time. The records that the law requires stay.
  deleted_at timestamptz,
  -- Made when the customer first asks for it.
  referral_code text unique,
  -- When the last of the data that is erased in batches was gone.
  erased_at timestamptz,
  -- Model calls of a suspended customer are refused; everything else works.
  suspended_at timestamptz,
  suspended_reason text check (suspended_reason in ('chargeback', 'operator')),
  -- Turns the mails of `balance.low` off. Those of `balance.depleted` and the webhooks of both stay.
  low_balance_email_enabled boolean not null default true,
  -- The version of the terms of use and the privacy policy (src/customers/legal) that the customer accepted. The audit
  -- log has the history.
  accepted_terms text,
  -- The LGPD shield (docs/shield.md): what happens with personal data in the prompts of the account's calls.
  shield_action text not null default 'off',
  shield_uuids text not null default 'near_pix',
  -- A key that spends far above its usual pace is paused. Null: the guard is off.
  anomaly_factor int default 10 check (anomaly_factor between 2 and 1000),
  anomaly_floor_nano_brl int8 not null default 200000000000
    check (anomaly_floor_nano_brl between 1000000000 and 1000000000000000),
  -- Answers of /v1/responses are stored for accounts that ask for it, for as many days as they say. Null: none is.
  stored_responses_days int check (stored_responses_days between 1 and 30),
  -- What the customer reads as the reason of the suspension.
  suspended_text text,
  constraint customers_shield check (
    shield_action in ('off', 'mask', 'block') and shield_uuids in ('near_pix', 'always')),
  check ((suspended_at is null) = (suspended_reason is null))
);
-- An e-mail address decides who is an admin and who may accept an invitation: it belongs to one customer, in upper or
-- lower case.
create unique index customers_by_email on customers (lower(email));
create index customers_to_erase on customers (deleted_at) where deleted_at is not null and erased_at is null;
-- Operators list customers newest first and find them by prefix.
create index customers_by_time on customers (created_at desc, id desc);
create index customers_by_email_prefix on customers (lower(email) text_pattern_ops);
create index customers_by_name_prefix on customers (lower(name) text_pattern_ops);

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
create index profiles_by_tax_id_prefix on profiles (tax_id text_pattern_ops);

-- Users of an external identity provider. Each becomes a customer once, in whatever order the provider's messages
-- arrive.
create table external_users (
  -- SHA-256 of the provider's id: enough to recognise the user, and the only data that is left of a deleted one.
  external_id_hash bytea primary key check (length(external_id_hash) = 32),
  -- Null for a user whose deletion arrived before any other message.
  customer_id uuid unique references customers (id),
  -- The provider's time of the newest message that was applied; older messages are ignored.
  changed_at timestamptz,
  -- Final. The account is deleted at once, or as soon as it has neither running calls nor a balance.
  deleted_at timestamptz
);
create index external_users_to_delete on external_users (customer_id)
  where deleted_at is not null and customer_id is not null;

-- Messages of the identity provider that were handled, so that none is handled twice.
create table auth_events (
  id text primary key check (length(id) between 1 and 255),
  type text,
  outcome text,
  received_at timestamptz not null default now()
);
create index auth_events_by_time on auth_events (received_at);


-- Teams and API keys --------------------------------------------------------------------------------------------------

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
-- Deleting an account and copying its data look here.
create index team_invitations_by_inviter on team_invitations (invited_by);
create index team_invitations_by_email on team_invitations (email);
create index team_invitations_open on team_invitations (email, created_at)
  where accepted_at is null and revoked_at is null;

-- The monthly cap of a team. Every team has a row; without a limit there is no cap.
create table team_budgets (
  team_id uuid primary key references teams (id),
  timezone text not null,
  limit_nano_brl int8 check (limit_nano_brl >= 0),
  period_started_at timestamptz not null default '-infinity',
  spent_nano_brl int8 not null default 0 check (spent_nano_brl >= 0),
  held_nano_brl int8 not null default 0 check (held_nano_brl >= 0),
  -- `spent_nano_brl` is `spent_before_nano_brl` (where `spent_since` is in the current period) plus the billed amounts
  -- of the events `in_cap` that were settled since both.
  spent_since timestamptz not null default clock_timestamp(),
  spent_before_nano_brl int8 not null default 0,
  -- By how much the cap is above its limit with a recorded cause; the triggers of src/money/ledger/sql/overdrafts.sql
  -- write it.
  overdrawn_nano_brl int8 not null default 0 check (overdrawn_nano_brl >= 0)
) with (fillfactor = 60);

create table api_keys (
  id uuid primary key,
  customer_id uuid not null references customers (id),
  name text not null check (length(name) between 3 and 50),
  -- SHA-256 of the secret. The secret has 190 bits of randomness and is never stored.
  secret_hash bytea not null unique,
  last_four text not null,
  -- Null: every model of the catalog.
  model_ids text[],
  -- Null: any address.
  ip_allowlist text[],
  requests_per_minute int4 not null check (requests_per_minute > 0),
  tokens_per_minute int8 check (tokens_per_minute > 0),
  -- Grows with every change. A hold names the version that it was admitted with, so a node with an old copy of the key
  -- can never hold money with it.
  version int4 not null default 1,
  expires_at timestamptz,
  revoked_at timestamptz,
  created_at timestamptz not null default now(),
  -- A key never changes its team. It spends the owner's balance within the team's cap, and makes model calls only.
  team_id uuid references teams (id),
  -- The customer who made the key, where that is not the customer who pays.
  created_by uuid references customers (id),
  -- Whether `api_key_budgets` has a row; a trigger there keeps it. Every hold asks for it, and a column of a row that is
  -- read anyway costs less than a look into another table.
  has_budget bool not null default false,
  scope key_scope not null default 'calls',
  -- Whether `key_caps` has rows; src/money/ledger/sql/budgets.sql maintains it.
  has_caps bool not null default false,
  task_limit_nano_brl int8 check (task_limit_nano_brl >= 0),
  calls_at_once int check (calls_at_once > 0),
  -- Null: the shield of the account.
  shield_action text,
  shield_uuids text,
  -- A paused key is refused until somebody lifts the pause. `anomaly`: it spent far above its pace; `leaked`: somebody
  -- reported it; `owner` and `operator`: by hand.
  paused_at timestamptz,
  paused_reason text check (paused_reason in ('anomaly', 'leaked', 'owner', 'operator')),
  -- The owner's pause that an operator's replaced; it comes back when the operator lifts theirs.
  paused_before text check (paused_before in ('anomaly', 'leaked', 'owner')),
  -- A member of a team must not see or manage the account that pays.
  constraint api_keys_scope_of_team check (team_id is null or scope = 'calls'),
  constraint api_keys_shield check (
    (shield_action is null) = (shield_uuids is null)
    and shield_action in ('off', 'mask', 'block') and shield_uuids in ('near_pix', 'always')),
  constraint api_keys_paused check ((paused_at is null) = (paused_reason is null)),
  constraint api_keys_paused_before check (paused_before is null or paused_reason = 'operator'),
  -- An operator's key always expires. The day more is for clocks that differ.
  constraint api_keys_operator_expires check (
    scope <> 'operator' or (expires_at is not null and expires_at <= created_at + interval '91 days'))
);
create index api_keys_by_customer on api_keys (customer_id, created_at);
create index api_keys_by_team on api_keys (team_id, created_at) where team_id is not null;
create index api_keys_by_creator on api_keys (created_by) where created_by is not null;

-- Written some seconds after the use. It is not a column of the key's row because every hold reads that row.
create table api_key_uses (
  api_key_id uuid primary key references api_keys (id),
  last_used_at timestamptz not null
) with (fillfactor = 60);

-- Only keys with a budget have a row.
create table api_key_budgets (
  api_key_id uuid primary key references api_keys (id),
  period text not null check (period in ('day', 'month', 'lifetime')),
  timezone text not null,
  limit_pico_usd int8 not null check (limit_pico_usd >= 0),
  period_started_at timestamptz not null default '-infinity',
  spent_pico_usd int8 not null default 0 check (spent_pico_usd >= 0),
  held_pico_usd int8 not null default 0 check (held_pico_usd >= 0),
  -- `spent_pico_usd` is `spent_before_pico_usd` (where `spent_since` is in the current period) plus the billed amounts
  -- of the events `in_budget` that were settled since both.
  spent_since timestamptz not null default clock_timestamp(),
  spent_before_pico_usd int8 not null default 0,
  -- By how much the budget is above its limit with a recorded cause; the triggers of
  -- src/money/ledger/sql/overdrafts.sql write it.
  overdrawn_pico_usd int8 not null default 0 check (overdrawn_pico_usd >= 0),
  -- Since when the charges in `spent_pico_usd` were settled: a changed budget carries over what was spent before the
  -- change (`spent_before_pico_usd`), and a correction takes such a charge back too.
  counted_since timestamptz not null default clock_timestamp()
) with (fillfactor = 60);

-- Caps of a key in BRL for each minute and each day, beside its budget. They are held and settled as budgets are.
create table key_caps (
  api_key_id uuid not null references api_keys (id),
  period text not null check (period in ('minute', 'day')),
  timezone text not null,
  limit_nano_brl int8 not null check (limit_nano_brl >= 0),
  period_started_at timestamptz not null default '-infinity',
  spent_nano_brl int8 not null default 0 check (spent_nano_brl >= 0),
  held_nano_brl int8 not null default 0 check (held_nano_brl >= 0),
  spent_since timestamptz not null default clock_timestamp(),
  spent_before_nano_brl int8 not null default 0,
  counted_since timestamptz not null default clock_timestamp(),
  overdrawn_nano_brl int8 not null default 0 check (overdrawn_nano_brl >= 0),
  primary key (api_key_id, period)
) with (fillfactor = 60);

-- The spending of a key in one usage session, of the calls that had a cap per task. The limit is that of the last hold.
create table task_spends (
  api_key_id uuid not null references api_keys (id),
  session_id text collate "C" not null,
  customer_id uuid not null references customers (id),
  limit_nano_brl int8 not null check (limit_nano_brl >= 0),
  spent_nano_brl int8 not null default 0 check (spent_nano_brl >= 0),
  held_nano_brl int8 not null default 0 check (held_nano_brl >= 0),
  spent_since timestamptz not null default clock_timestamp(),
  last_held_at timestamptz not null default clock_timestamp(),
  overdrawn_nano_brl int8 not null default 0 check (overdrawn_nano_brl >= 0),
  primary key (api_key_id, session_id)
) with (fillfactor = 60);
create index task_spends_by_customer on task_spends (customer_id);

-- The pace at which a key was paused: its owner let it go on, so it counts as usual.
create table accepted_paces (
  api_key_id uuid not null references api_keys (id),
  kind text not null check (kind in ('key', 'session')),
  pace_nano_brl int8 not null check (pace_nano_brl > 0),
  paused_at timestamptz not null default now(),
  primary key (api_key_id, kind)
);

-- How many values the LGPD shield found, never the values: by the day in the customer's time zone.
create table shield_counts (
  customer_id uuid not null references customers (id),
  api_key_id uuid not null references api_keys (id),
  day date not null,
  action text not null check (action in ('mask', 'block')),
  kind text not null,
  occurrences int8 not null check (occurrences > 0),
  primary key (customer_id, day, api_key_id, action, kind)
);

-- The answers of acts that carried an `Idempotency-Key`, for a day, so that a repeated request acts only once.
create table idempotency_keys (
  -- Also the id of what a resumed act creates.
  id uuid primary key,
  customer_id uuid not null references customers (id),
  -- Null: a login session. No foreign key: the rows of a key go with the account or after a day.
  api_key_id uuid,
  -- Of the caller and the key that it sent.
  key_digest bytea not null,
  -- The request's digest and, once there is one, the answer.
  content_sealed bytea not null,
  is_answered boolean not null,
  -- An act that calls another service runs at most until then; null: it does not run.
  running_until timestamptz,
  created_at timestamptz not null default now(),
  unique (customer_id, key_digest),
  check (running_until is null or not is_answered)
);
-- Sealed contents are as good as random: compressing them would be in vain. `create table` takes this from PostgreSQL
-- 16 on.
alter table idempotency_keys alter column content_sealed set storage external;
create index idempotency_keys_oldest on idempotency_keys (created_at);

-- Requests and tokens of the current minute, by key ('k:<id>') and by address ('i:<ip>'). Unlogged: after a crash of
-- the database the current minute starts again from zero.
create unlogged table rate_windows (
  subject text primary key,
  window_at timestamptz not null,
  requests int8 not null,
  tokens int8 not null
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);


-- Money ---------------------------------------------------------------------------------------------------------------

-- Counters that only grow, but for the held amount and corrections. The balance is not stored: it is
-- credited - debited - charged, and a customer can spend the balance less the held amount.
create table accounts (
  customer_id uuid primary key references customers (id),
  credited_nano_brl nano_brl not null default 0,
  debited_nano_brl nano_brl not null default 0,
  charged_nano_brl nano_brl not null default 0,
  held_nano_brl nano_brl not null default 0,
  -- Up to here `usage_days` is complete.
  usage_days_until timestamptz not null default '-infinity',
  -- The sum of the promotional parts of the entries, and the sum of the charges that took paid money when the last of
  -- them was written (src/money/ledger/sql/entries.sql). Charges spend promotional credit first, so a call does not have
  -- to write either.
  promotional_nano_brl nano_brl not null default 0,
  promotional_at_charged_nano_brl nano_brl not null default 0
) with (fillfactor = 40);

-- Credits and debits; immutable. A charge is its usage event.
create table ledger_entries (
  id uuid primary key,
  customer_id uuid not null references accounts (customer_id),
  kind text not null check (kind in ('credit', 'debit')),
  reason text not null check (reason ~ '^[a-z_]{1,40}$'),
  amount_nano_brl int8 not null check (amount_nano_brl > 0),
  -- The idempotency key: there is one entry for each reason and reference.
  reference text not null,
  note text,
  created_at timestamptz not null default now(),
  -- The part of the amount that is promotional credit; the rest is paid money.
  promotional_nano_brl int8 not null default 0 check (promotional_nano_brl between 0 and amount_nano_brl),
  -- The charges since the entry before, beyond the promotional credit that was left.
  paid_charges_nano_brl int8 not null default 0,
  unique (reason, reference)
);
create index ledger_entries_by_customer on ledger_entries (customer_id, created_at);

-- Every change of a customer's debt, which is max(0, held + charged + debited - credited). Holds and debits never take
-- more than there is, so a debt comes only from an upstream that reported more than its ceiling (`overrun`), from a
-- correction, or from a debit that may overdraw (`debit`: a chargeback).
create table account_debts (
  id int8 generated always as identity primary key,
  customer_id uuid not null,
  -- Positive where the debt grows.
  amount_nano_brl int8 not null check (amount_nano_brl <> 0),
  cause text not null check (cause in ('overrun', 'correction', 'debit', 'repaid')),
  -- The calls that overran or were corrected.
  hold_ids uuid[],
  created_at timestamptz not null default clock_timestamp()
);
create index account_debts_by_customer on account_debts (customer_id);

-- Credits and debits by operators. Large amounts need a second operator.
create table adjustments (
  -- Also the reference of the ledger entry.
  id uuid primary key,
  customer_id uuid not null references accounts (customer_id),
  kind text not null check (kind in ('credit', 'debit', 'promotional_credit')),
  -- Whole centavos.
  amount_nano_brl int8 not null check (amount_nano_brl > 0 and amount_nano_brl % 10000000 = 0),
  reason text not null check (length(reason) between 3 and 500),
  -- The operator's own reference; there is one adjustment for each.
  reference text not null unique check (length(reference) between 1 and 100),
  status text not null check (status in ('pending', 'posted', 'rejected')),
  requested_by uuid not null references customers (id),
  -- Also null where the amount needed no second operator.
  decided_by uuid references customers (id),
  created_at timestamptz not null default now(),
  decided_at timestamptz,
  check ((status = 'pending') = (decided_at is null)),
  check (status <> 'posted' or decided_by is distinct from requested_by),
  -- Nobody credits or debits their own account, nor approves that.
  constraint adjustments_for_another check (
    requested_by <> customer_id and (status <> 'posted' or decided_by is distinct from customer_id))
);
create index adjustments_by_time on adjustments (created_at desc, id desc);
create index adjustments_by_status on adjustments (status, created_at desc, id desc);
create index adjustments_by_customer on adjustments (customer_id, created_at desc, id desc);
-- What an operator posted alone within a day.
create index adjustments_by_operator on adjustments (requested_by, created_at)
  where status = 'posted' and decided_by is null;


-- Prices and models ---------------------------------------------------------------------------------------------------

-- Immutable: a changed price is a new row, found by its digest.
create table prices (
  id int4 generated always as identity primary key,
  digest text not null unique,
  model_id text not null,
  tiers jsonb not null,
  created_at timestamptz not null default now(),
  -- Pico-USD of one unit that is billed beside text tokens, by its name: {"audio_seconds": "100000000"}.
  units jsonb
);

-- Prices can change without a restart: an operator sets them from a time on, and every node reads them.
create table price_changes (
  id int4 generated always as identity primary key,
  model_id text not null,
  -- By the database's clock.
  starts_at timestamptz not null,
  -- The scheduled prices: ids of rows of prices, with the times at which each applies.
  schedule jsonb not null check (jsonb_typeof(schedule) = 'array' and jsonb_array_length(schedule) between 1 and 20),
  note text,
  created_at timestamptz not null default now(),
  -- The row stays, because charges name its prices.
  withdrawn_at timestamptz,
  check (starts_at >= date_trunc('milliseconds', created_at))
);
create index price_changes_in_use on price_changes (starts_at, id) where withdrawn_at is null;

-- Models whose prices differ from the price data, so that each difference is reported once.
create table price_differences (
  model_id text primary key,
  difference text not null,
  found_at timestamptz not null default now()
);

-- Immutable. The newest `rate_date` is in force; of several rows of that date, the last one stored. Charges name a rate,
-- and nothing else in the database says its day and source: the digest makes a changed cell impossible.
create table fx_rates (
  id int4 generated always as identity primary key,
  rate_e4 int4 not null check (rate_e4 > 0 and rate_e4 < 1000000),
  rate_date date not null,
  bulletin_at timestamptz,
  source text not null,
  created_at timestamptz not null default now(),
  -- A rate that an operator set by mistake can be taken back. The row stays, because charges name it.
  withdrawn_at timestamptz,
  -- Written by the trigger in src/money/fx/sql/digest-fx-rate.sql; `withdrawn_at` may be added later.
  digest bytea not null,
  constraint fx_rates_digest check (digest = sha256(convert_to(concat_ws('|', id, rate_e4,
    rate_date - date '2000-01-01', extract(epoch from bulletin_at), extract(epoch from created_at), source), 'UTF8')))
);
create index fx_rates_by_date on fx_rates (rate_date desc, id desc);

-- Each change replaces the markup of the configuration from `starts_at` until the next change begins. The audit log
-- says who made it.
create table markup_changes (
  id uuid primary key,
  model_id text not null,
  markup_e4 int4 not null check (markup_e4 between 10000 and 100000),
  -- The markup in force until `starts_at`.
  markup_before_e4 int4 not null check (markup_before_e4 > 0),
  starts_at timestamptz not null,
  reason text not null check (length(reason) between 3 and 500),
  created_at timestamptz not null default now(),
  canceled_at timestamptz,
  -- Of a rise: the last customer, by id, who has had the notice, and when all of them had it.
  noticed_through uuid,
  noticed_at timestamptz,
  check (canceled_at is null or canceled_at < starts_at)
);
create unique index markup_changes_by_model on markup_changes (model_id, starts_at) where canceled_at is null;
create index markup_changes_without_notice on markup_changes (created_at)
  where noticed_at is null and canceled_at is null and markup_e4 > markup_before_e4;

-- Models that an operator took out of service.
create table disabled_models (
  model_id text primary key,
  reason text not null check (length(reason) between 3 and 500),
  disabled_at timestamptz not null default now()
);


-- Holds and usage events ----------------------------------------------------------------------------------------------

-- Money set aside for a running call. The row exists exactly as long as the call is unresolved: resolving it deletes the
-- row and writes the usage event in the same transaction.
create table holds (
  id uuid primary key,
  customer_id uuid not null,
  api_key_id uuid not null,
  node_id uuid not null,
  request_id uuid not null,
  session_id text,
  model_id text not null,
  is_stream bool not null,
  amount_nano_brl nano_brl not null,
  budget_pico_usd pico_usd not null,
  price_id int4 not null,
  fx_rate_id int4 not null,
  fx_rate_e4 int4 not null,
  markup_e4 int4 not null,
  prompt_tokens_estimated int4 not null,
  -- The tokens that were counted against the key's tokens per minute, and in which minute; null without a limit.
  tokens_counted int8,
  tokens_window_at timestamptz,
  created_at timestamptz not null,
  -- The checkpoint, which the node that runs the call writes with a delay.
  dispatched_at timestamptz,
  output_began_at timestamptz,
  output_tokens_seen int4 not null default 0,
  team_id uuid,
  -- The caps that count the hold and its charge, as a sum: 1 the minute's, 2 the day's, 4 the task's.
  in_caps int2 not null default 0
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);

-- Every resolved hold, and every correction: the usage, the cost, and the price, rate and markup that it was made with.
create table usage_events (
  id uuid not null,
  customer_id uuid not null,
  api_key_id uuid not null,
  request_id uuid not null,
  session_id text,
  model_id text not null,
  upstream_id text,
  is_stream bool not null,
  outcome call_outcome not null,
  -- Why the hold was released, or why the usage was estimated.
  reason text,
  usage_kind usage_kind not null,
  prompt_tokens int4 not null,
  cached_tokens int4 not null,
  cache_write_tokens int4 not null,
  completion_tokens int4 not null,
  reasoning_tokens int4 not null,
  held_nano_brl nano_brl not null,
  -- Negative in the reversal of a correction.
  cost_upstream_pico_usd int8 not null,
  cost_billed_nano_brl int8 not null,
  price_id int4 not null,
  fx_rate_id int4 not null,
  fx_rate_e4 int4 not null,
  markup_e4 int4 not null,
  first_byte_ms int4,
  duration_ms int4,
  -- The time of the hold.
  created_at timestamptz not null,
  settled_at timestamptz not null,
  -- How many of each unit were used, by the names of the price; null where only text tokens were used.
  units jsonb,
  -- For operators: every upstream that was tried, with its result; null where the first one answered.
  attempts jsonb,
  team_id uuid,
  -- The event whose outcome this one corrects; null for the first outcome of a hold. A correction is one event or two:
  -- the reversal of the first charge, with negative amounts, and the true charge.
  corrects_id uuid,
  -- The billed amount counts against the budget of the key.
  in_budget bool not null default false,
  -- The billed amount counts against the cap of the team, where there is a team.
  in_cap bool not null default true,
  -- The caps of the key that the billed amount counts against, as in `holds`.
  in_caps int2 not null default 0,
  primary key (id, created_at)
) partition by range (created_at);
create index usage_events_by_customer on usage_events (customer_id, created_at desc, id desc);
create index usage_events_by_session on usage_events (customer_id, session_id, created_at, id)
  where session_id is not null;
create index usage_events_by_corrected on usage_events (corrects_id) where corrects_id is not null;
-- Events are written nearly in the order of both times. A BRIN index finds a day from a few bytes for each megabyte, and
-- costs a settlement next to nothing.
create index usage_events_by_time on usage_events using brin (created_at) with (autosummarize = on);
create index usage_events_by_settlement on usage_events using brin (settled_at) with (autosummarize = on);

-- Months are cut in UTC. `usage_events_past` holds the rows older than the first month; a row later than the last month
-- is refused. There is no default partition: attaching a month beside one locks it against everybody. From here on
-- `ensure_usage_partitions` makes the months.
do $$
declare
  v_month timestamp := date_trunc('month', now() at time zone 'UTC');
begin
  execute format('create table usage_events_past partition of usage_events for values from (minvalue) to (%L)',
    v_month at time zone 'UTC');
  for v_ahead in 0..3 loop
    execute format('create table %I partition of usage_events for values from (%L) to (%L)',
      'usage_events_' || to_char(v_month, 'YYYY_MM'), v_month at time zone 'UTC',
      (v_month + interval '1 month') at time zone 'UTC');
    v_month := v_month + interval '1 month';
  end loop;
end $$;

-- One row for each hold whose first outcome was corrected: at most one correction takes effect.
create table charge_corrections (
  hold_id uuid primary key,
  customer_id uuid not null,
  first_outcome call_outcome not null,
  first_billed_nano_brl int8 not null,
  outcome call_outcome not null,
  billed_nano_brl int8 not null,
  -- Null where the first outcome had charged nothing.
  reversal_event_id uuid,
  -- Null where the true outcome is a release.
  event_id uuid,
  created_at timestamptz not null default now(),
  -- What the reversal returned to paid money.
  paid_back_nano_brl int8 not null default 0
);
create index charge_corrections_by_customer on charge_corrections (customer_id, created_at);

-- Answers that were delivered with one amount and charged with another. Each node notes the answers that it delivers on
-- its own disk, and a job compares the notes with the usage events.
create table delivery_discrepancies (
  hold_id uuid primary key,
  node_id uuid not null,
  -- The amount that the client received with the answer.
  delivered_nano_brl int8 not null,
  -- The sum of the events of the hold; null where there is none.
  stored_nano_brl int8,
  found_at timestamptz not null default now(),
  -- When a correction had made both amounts equal.
  resolved_at timestamptz
);
create index delivery_discrepancies_open on delivery_discrepancies (found_at) where resolved_at is null;


-- Usage roll-ups ------------------------------------------------------------------------------------------------------

create table usage_hours (
  customer_id uuid not null,
  hour_at timestamptz not null,
  api_key_id uuid not null,
  model_id text not null,
  charged_requests int8 not null,
  released_requests int8 not null,
  prompt_tokens int8 not null,
  completion_tokens int8 not null,
  cost_upstream_pico_usd int8 not null,
  cost_billed_nano_brl int8 not null,
  primary key (customer_id, hour_at, api_key_id, model_id)
) with (fillfactor = 50);

-- Sums of usage_hours over days of UTC, made when a day is over. They are complete up to `accounts.usage_days_until`: a
-- later settlement of an hour before that adds to the hour and to the day.
create table usage_days (
  customer_id uuid not null,
  day_at timestamptz not null,
  api_key_id uuid not null,
  model_id text not null,
  charged_requests int8 not null,
  released_requests int8 not null,
  prompt_tokens int8 not null,
  completion_tokens int8 not null,
  cost_upstream_pico_usd int8 not null,
  cost_billed_nano_brl int8 not null,
  primary key (customer_id, day_at, api_key_id, model_id)
);

-- Charged calls that named a usage session. Sorted by bytes, so that sessions with a common prefix are found together.
create table usage_sessions (
  customer_id uuid not null,
  session_id text collate "C" not null,
  requests int8 not null,
  prompt_tokens int8 not null,
  completion_tokens int8 not null,
  cost_billed_nano_brl int8 not null,
  model_ids text[] not null,
  first_request_at timestamptz not null,
  last_request_at timestamptz not null,
  primary key (customer_id, session_id)
) with (fillfactor = 60);
create index usage_sessions_by_time on usage_sessions (customer_id, last_request_at desc, session_id desc);

-- How many model calls of each customer were answered with an error, by the hour in UTC. Counts, no calls: refusals are
-- where an attacker hammers. The model is one of the catalog, or null; no text of a client is stored.
create table usage_refusals (
  customer_id uuid not null references customers (id),
  hour_at timestamptz not null,
  id uuid not null default gen_random_uuid(),
  -- Null: an hour of more keys and models than are counted one by one.
  api_key_id uuid references api_keys (id),
  model_id text,
  code text not null,
  status int2 not null,
  refusals int8 not null check (refusals > 0),
  first_at timestamptz not null,
  last_at timestamptz not null,
  primary key (customer_id, hour_at, id),
  constraint usage_refusals_counted
    unique nulls not distinct (customer_id, hour_at, api_key_id, model_id, code, status)
);
-- Rows come in the order of time: this finds those that are over by a few pages.
create index usage_refusals_by_hour on usage_refusals using brin (hour_at);


-- Audit ---------------------------------------------------------------------------------------------------------------

-- The audit reads the whole history once. Events that were settled long enough ago to be complete are proved, summed up
-- and sealed slice by slice, so that no snapshot is held for longer than seconds, however long the history is. One row
-- for each slice of `settled_at`; the slices follow each other without a gap, and each names the one before by its hash.
create table audit_seals (
  number int8 primary key,
  from_at timestamptz not null,
  to_at timestamptz not null check (to_at > from_at),
  events int8 not null,
  -- SHA-256 over the slice's events (without their session ids, which deletions of accounts erase), debts and
  -- corrections.
  rows_hash bytea not null,
  -- SHA-256 over its rows in `audit_seal_sums`.
  sums_hash bytea not null,
  -- The breaches that the checks found in the slice when it was sealed, by the names of the checks; later audits report
  -- them again.
  breaches jsonb not null default '{}',
  hash bytea not null,
  sealed_at timestamptz not null default now(),
  -- A tree over the charges of the seal, and the chain of these roots, by which anybody can check a charge that its
  -- customer shows.
  charges_root bytea not null,
  charges_head bytea not null
);
create index audit_seals_by_time on audit_seals (from_at);

-- The sums of a sealed slice, so that balances, roll-ups, budgets and caps are proved without its events.
create table audit_seal_sums (
  seal_number int8 not null references audit_seals (number),
  customer_id uuid not null,
  hour_at timestamptz not null,
  api_key_id uuid not null,
  model_id text not null,
  team_id uuid,
  charged int8 not null,
  released int8 not null,
  prompt_tokens int8 not null,
  completion_tokens int8 not null,
  cost_pico_usd int8 not null,
  billed_nano_brl int8 not null,
  -- Of the events that count against the budget of the key.
  budget_pico_usd numeric not null,
  -- Of the events that count against the cap of the team.
  cap_nano_brl int8 not null,
  -- Of the events that count against the caps of the key.
  minute_cap_nano_brl int8 not null default 0,
  day_cap_nano_brl int8 not null default 0,
  unique nulls not distinct (seal_number, customer_id, hour_at, api_key_id, model_id, team_id)
);
create index audit_seal_sums_by_customer on audit_seal_sums (customer_id);

-- Every administrative and security-relevant act; immutable, written in the transaction of the act.
create table audit_log (
  id uuid primary key,
  created_at timestamptz not null default now(),
  actor_kind text not null check (actor_kind in ('customer', 'operator', 'system')),
  -- Of a customer: the customer who acts, and the key or the login session, never both.
  actor_id uuid,
  api_key_id uuid,
  ip text,
  action text not null check (action ~ '^[a-z_]+\.[a-z_]+$'),
  -- The customer whom the act is about, where it is about one.
  customer_id uuid,
  -- The thing that the act is about: a key, a prompt, a team.
  subject_id text,
  -- Never secret, never personal.
  details jsonb,
  session_id uuid
);
create index audit_log_by_time on audit_log (created_at desc, id desc);
create index audit_log_by_customer on audit_log (customer_id, created_at desc);
-- The acts of a customer are part of the customer's personal data.
create index audit_log_by_actor on audit_log (actor_id, created_at desc) where actor_id is not null;

-- Bills that customers show to others: of a charge, or of a usage session.
create table public_bills (
  id uuid primary key,
  -- Who has it can read the bill. 192 random bits, in base64url.
  token text not null unique check (length(token) = 32),
  customer_id uuid not null references customers (id),
  usage_event_id uuid,
  session_id text check (length(session_id) between 1 and 80),
  -- Where the charges are in the trees of their seals: read from the rows once, when the day's chain has ended.
  proofs jsonb,
  created_at timestamptz not null default now(),
  check ((usage_event_id is null) <> (session_id is null)),
  unique (customer_id, usage_event_id),
  unique (customer_id, session_id)
);
create index public_bills_by_customer on public_bills (customer_id, created_at desc, id desc);


-- Archived months -----------------------------------------------------------------------------------------------------

-- Months of usage events that left to files (`src/money/months`). A month has the events that were settled in it, in UTC:
-- whole seals of the audit. From `archived_at` on the files are their place; their rows leave `usage_events` at
-- `removed_at`.
create table archived_months (
  month date primary key check (extract(day from month) = 1),
  -- The attempt, whose name its files have. One process works on a month, while its lease lasts.
  run uuid not null,
  leased_until timestamptz not null,
  started_at timestamptz not null default now(),
  archived_at timestamptz,
  removed_at timestamptz,
  check (removed_at is null or archived_at is not null)
);

-- A file has the events of consecutive seals, sorted by customer and time.
create table archived_files (
  month date not null references archived_months (month),
  number int4 not null check (number > 0),
  -- Its path in the archive.
  name text not null,
  first_seal int8 not null references audit_seals (number),
  last_seal int8 not null references audit_seals (number),
  events int8 not null,
  bytes int8 not null,
  sha256 bytea not null,
  -- SHA-256 over the sums of each account.
  sums_hash bytea not null,
  -- When its first and its last event began; null without events.
  created_from timestamptz,
  created_to timestamptz,
  primary key (month, number),
  check (last_seal >= first_seal)
);

-- What the audit needs of archived events beside the sums of seals: the part of each month in a usage session,
create table archived_sessions (
  month date not null references archived_months (month),
  customer_id uuid not null references customers (id),
  session_id text collate "C" not null,
  requests int8 not null,
  prompt_tokens int8 not null,
  completion_tokens int8 not null,
  cost_billed_nano_brl int8 not null,
  first_request_at timestamptz not null,
  last_request_at timestamptz not null,
  primary key (customer_id, session_id, month)
);
create index archived_sessions_by_month on archived_sessions (month);

-- and in a budget or a cap that began within a seal, from its beginning to the end of the seal; in a task, from its
-- beginning on.
create table archived_spends (
  month date not null references archived_months (month),
  kind text not null check (kind in ('key_budget', 'team_cap', 'minute_cap', 'day_cap', 'task')),
  -- A key or a team.
  subject_id uuid not null,
  session_id text collate "C" not null default '',
  since timestamptz not null,
  -- In the unit of the budget.
  amount numeric not null,
  primary key (subject_id, kind, session_id, month)
);

-- The charges by model, upstream and rate, for margins and for comparisons with the costs of upstreams.
create table archived_hours (
  month date not null references archived_months (month),
  hour_at timestamptz not null,
  model_id text not null,
  upstream_id text,
  fx_rate_e4 int4 not null,
  requests int8 not null,
  cost_pico_usd int8 not null,
  billed_nano_brl int8 not null,
  unique nulls not distinct (hour_at, model_id, upstream_id, fx_rate_e4, month)
);
create index archived_hours_by_month on archived_hours (month);

-- Files have ids of sessions sealed with the key of their customer: to erase the key erases them in every copy.
create table archived_session_keys (
  customer_id uuid primary key references customers (id),
  key bytea not null check (length(key) = 32)
);


-- Top-ups -------------------------------------------------------------------------------------------------------------

-- The id of a customer at the payment processor.
create table processor_customers (
  customer_id uuid not null references customers (id),
  processor text not null,
  processor_customer_id text not null,
  primary key (customer_id, processor)
);

-- Customers who deleted their account and are still to be deleted at the payment processor.
create table payer_removals (
  customer_id uuid not null references customers (id),
  processor text not null,
  tries int not null default 0,
  due_at timestamptz not null default now(),
  primary key (customer_id, processor)
);

-- Saved cards, with the data that the holder recognises the card by. The number and the CVV are stored nowhere.
create table payment_methods (
  id uuid primary key,
  customer_id uuid not null references customers (id),
  processor text not null,
  -- The processor's token for charging the card; sealed with the row's id.
  token_sealed bytea not null,
  brand text,
  last_four text not null check (last_four ~ '^[0-9]{4}$'),
  holder_name text not null check (length(holder_name) <= 100),
  expiry_month int2 not null check (expiry_month between 1 and 12),
  expiry_year int2 not null,
  created_at timestamptz not null default now()
);
create index payment_methods_by_customer on payment_methods (customer_id, created_at);

-- Cards that were refused or whose result is not known yet. A customer with too many of them is stopped: this is how
-- stolen cards are tried.
create table card_attempts (
  id uuid primary key,
  customer_id uuid not null references customers (id),
  created_at timestamptz not null default now()
);
create index card_attempts_by_customer on card_attempts (customer_id, created_at);

create table top_ups (
  -- Also the reference that the processor receives.
  id uuid primary key,
  customer_id uuid not null references accounts (customer_id),
  -- Whole centavos.
  amount_nano_brl int8 not null check (amount_nano_brl > 0 and amount_nano_brl % 10000000 = 0),
  method text not null check (method in ('pix', 'boleto', 'card')),
  status top_up_status not null default 'pending',
  processor text not null,
  -- Null until the processor has answered; until then the payment is found by the reference.
  processor_payment_id text,
  pix_payload text,
  pix_qr_code_base64 text,
  boleto_url text,
  boleto_line text,
  -- The processor's page, where the customer can pay too.
  page_url text,
  expires_at timestamptz,
  created_at timestamptz not null default now(),
  -- When the top-up was credited: once, whatever its status was before and is later.
  paid_at timestamptz,
  -- The part that went back to the payer and was taken out of the balance.
  returned_nano_brl int8 not null default 0
    check (returned_nano_brl between 0 and case when paid_at is null then 0 else amount_nano_brl end),
  -- When the processor was last asked about the payment.
  checked_at timestamptz not null default now(),
  -- The part that was taken out of the balance for refunds that are not done yet.
  refunding_nano_brl int8 not null default 0,
  -- No foreign key: receipts show the card after it is deleted.
  payment_method_id uuid,
  card_brand text,
  card_last_four text,
  -- The processor or the card's issuer reviewed the payment before accepting it.
  was_in_review bool not null default false,
  is_automatic bool not null default false,
  unique (processor, processor_payment_id),
  check (refunding_nano_brl >= 0 and returned_nano_brl + refunding_nano_brl <= amount_nano_brl),
  check (paid_at is not null or refunding_nano_brl = 0),
  check ((method = 'card') = (card_last_four is not null)),
  check (method = 'card' or not is_automatic)
);
create index top_ups_by_customer on top_ups (customer_id, created_at desc, id desc);
-- The sweeper asks about paid top-ups too, which may be charged back: a look for them reads those that are due.
create index top_ups_paid_unchecked on top_ups (checked_at)
  where paid_at is not null and status in ('paid', 'refund_pending', 'partially_refunded');
create index top_ups_unpaid on top_ups (checked_at) where paid_at is null and status in ('pending', 'expired');
-- A customer never has two automatic top-ups in flight.
create unique index top_ups_automatic_pending on top_ups (customer_id) where is_automatic and status = 'pending';
create index top_ups_automatic on top_ups (customer_id, created_at) where is_automatic;
-- Finds the referral rewards to take back.
create index top_ups_reversed on top_ups (customer_id) where status in ('chargeback', 'refunded');

-- Settings of automatic top-ups.
create table automatic_top_ups (
  customer_id uuid primary key references accounts (customer_id),
  is_enabled bool not null,
  -- Below this balance the card is charged the amount.
  threshold_nano_brl int8 not null check (threshold_nano_brl >= 0),
  amount_nano_brl int8 not null check (amount_nano_brl > 0 and amount_nano_brl % 10000000 = 0),
  payment_method_id uuid references payment_methods (id) on delete set null,
  monthly_limit_nano_brl int8 check (monthly_limit_nano_brl > 0),
  -- The address from which the customer enabled it: the processor requires the buyer's address.
  remote_ip text not null,
  failures_in_row int4 not null default 0,
  disabled_reason text check (disabled_reason in ('card_rejected', 'payment_method_deleted')),
  tried_at timestamptz not null default '-infinity',
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  check (not is_enabled or (payment_method_id is not null and disabled_reason is null))
);
create index automatic_top_ups_enabled on automatic_top_ups (tried_at) where is_enabled;
create index automatic_top_ups_by_card on automatic_top_ups (payment_method_id);

-- Events of the processor, each once, as they arrived. Their payload is never trusted: the payment is asked for.
create table processor_events (
  processor text not null,
  event_id text not null,
  -- The processor's own name of the type.
  type text not null,
  processor_payment_id text,
  -- The id of a top-up, as the event claims.
  reference text,
  received_at timestamptz not null default now(),
  handled_at timestamptz,
  outcome text,
  due_at timestamptz not null default now(),
  tries int4 not null default 0,
  primary key (processor, event_id)
);
create index processor_events_waiting on processor_events (due_at) where handled_at is null;


-- Refunds -------------------------------------------------------------------------------------------------------------

-- The amount is taken out of the balance when the refund is requested, and put back where it cannot be returned.
create table refunds (
  id uuid primary key,
  customer_id uuid not null references accounts (customer_id),
  -- Whole centavos, the sum of the parts.
  amount_nano_brl int8 not null check (amount_nano_brl > 0 and amount_nano_brl % 10000000 = 0),
  -- `withdrawal`: within the seven days that the law gives, without a minimum amount.
  kind text not null check (kind in ('withdrawal', 'request')),
  status text not null
    check (status in ('requested', 'approved', 'processing', 'done', 'rejected', 'failed')),
  -- The customer's reason.
  reason text check (length(reason) <= 500),
  -- Why an operator rejected it; the customer reads it.
  decision_note text check (length(decision_note) <= 500),
  created_at timestamptz not null default now(),
  decided_at timestamptz,
  ended_at timestamptz
);
create index refunds_by_customer on refunds (customer_id, created_at desc, id desc);
create index refunds_open on refunds (created_at, id) where status in ('requested', 'approved', 'processing');

-- A refund goes back through the payments that it came from: one part for each top-up.
create table refund_parts (
  refund_id uuid not null references refunds (id),
  top_up_id uuid not null references top_ups (id),
  amount_nano_brl int8 not null check (amount_nano_brl > 0 and amount_nano_brl % 10000000 = 0),
  -- `sent`: the processor was asked, and may have done it. `taken`: the money went back to the payer in another way.
  status text not null default 'waiting'
    check (status in ('waiting', 'sent', 'done', 'failed', 'taken')),
  -- The processor cannot return it: an operator transfers it.
  is_manual bool not null default false,
  error text,
  tries int4 not null default 0,
  due_at timestamptz not null default now(),
  primary key (refund_id, top_up_id)
);
create index refund_parts_by_top_up on refund_parts (top_up_id);
create index refund_parts_open on refund_parts (due_at) where status in ('waiting', 'sent');


-- Referrals and trial credits -----------------------------------------------------------------------------------------

-- The reward is earned after the withdrawal period and real spending, and taken back when the money that earned it is
-- charged back.
create table referrals (
  -- The customer who came; each comes once.
  customer_id uuid primary key references customers (id),
  referrer_id uuid not null references customers (id),
  created_at timestamptz not null default now(),
  rewarded_at timestamptz,
  reward_nano_brl int8 check (reward_nano_brl > 0),
  -- The part of the reward that was debited again; the rest had been spent.
  taken_back_nano_brl int8 not null default 0,
  -- An HMAC of the CPF or CNPJ that was rewarded, each once. It outlives changes of the profile and deletions.
  rewarded_tax_id_digest bytea unique,
  -- When the referral was closed for good, and why.
  closed_at timestamptz,
  closed_reason text check (closed_reason in
    ('no_reward', 'account_deleted', 'own_tax_id', 'tax_id_rewarded', 'top_up_returned', 'taken_back')),
  check (customer_id <> referrer_id),
  check ((rewarded_at is null) = (reward_nano_brl is null)),
  constraint referrals_taken_back_check check (taken_back_nano_brl between 0 and coalesce(reward_nano_brl, 0)),
  constraint referrals_closed_check check ((closed_at is null) = (closed_reason is null))
);
create index referrals_by_referrer on referrals (referrer_id, created_at);
create index referrals_open on referrals (customer_id) where closed_at is null;

-- Promotional credits for new customers to try the service with. The digests are HMACs; they outlive changes of the
-- profile and the deletion of the account, so that nobody gets a second credit by starting anew.
create table trial_credits (
  -- No foreign key: the row stays when the customer is erased.
  customer_id uuid primary key,
  amount_nano_brl int8 not null check (amount_nano_brl > 0),
  tax_id_digest bytea not null unique,
  mailbox_digest bytea not null unique,
  -- Null: the request came without a device's cookie.
  device_digest bytea unique,
  network_digest bytea not null,
  granted_at timestamptz not null default now()
);
create index trial_credits_by_time on trial_credits (granted_at);

-- Keys of HMACs that must never change. They are random, and sealed like every secret, so that SECRETS_KEY can change.
create table digest_keys (
  id uuid primary key,
  purpose text not null unique,
  secret_sealed bytea not null,
  created_at timestamptz not null default now()
);


-- Reconciliation ------------------------------------------------------------------------------------------------------

-- Runs over the processor's records. A run without an end proves nothing.
create table reconciliation_runs (
  id uuid primary key,
  processor text not null,
  -- Days of Brasília, both inclusive.
  from_day date not null,
  to_day date not null,
  started_at timestamptz not null default now(),
  finished_at timestamptz,
  -- Why the run did not finish.
  failure text,
  payments int4 not null default 0,
  top_ups int4 not null default 0,
  -- Top-ups whose event was lost and that this run applied.
  mended int4 not null default 0,
  check (finished_at is null or failure is null)
);
create index reconciliation_runs_by_time on reconciliation_runs (processor, started_at desc);

-- Discrepancies between our records and those of the processor or of an upstream.
create table reconciliation_discrepancies (
  id uuid primary key,
  -- `top_up:<id>`, `payment:<processor>:<id>` or `upstream:<day>:<id>`. There is one row for each subject and kind, for
  -- ever.
  subject text not null,
  kind text not null check (kind in (
    'payment_without_top_up', 'paid_there_only', 'paid_here_only', 'amount_differs', 'returned_differs',
    'paid_twice', 'upstream_cost')),
  status text not null default 'open' check (status in ('open', 'explained', 'gone')),
  processor text,
  processor_payment_id text,
  top_up_id uuid,
  upstream_id text,
  day date,
  ours_nano_brl int8,
  theirs_nano_brl int8,
  ours_pico_usd int8,
  theirs_pico_usd int8,
  first_seen_at timestamptz not null default now(),
  -- When it last became open.
  opened_at timestamptz not null default now(),
  last_seen_at timestamptz not null default now(),
  -- When it was no longer found.
  resolved_at timestamptz,
  -- Explains these amounts only: with others the discrepancy is open again.
  explanation text check (length(explanation) between 3 and 500),
  -- The audit log says who.
  explainer text check (explainer in ('operator', 'admin')),
  explained_at timestamptz,
  unique (subject, kind),
  check ((status = 'gone') = (resolved_at is not null)),
  check ((explanation is null) = (explainer is null) and (explanation is null) = (explained_at is null)),
  check (status <> 'explained' or explanation is not null),
  check ((kind = 'upstream_cost') = (ours_nano_brl is null)),
  check ((ours_nano_brl is null) = (theirs_nano_brl is null)),
  check ((ours_pico_usd is null) = (theirs_pico_usd is null)),
  check ((ours_pico_usd is null) <> (ours_nano_brl is null))
);
create index reconciliation_discrepancies_by_time on reconciliation_discrepancies (last_seen_at desc, id desc);
create index reconciliation_discrepancies_unresolved on reconciliation_discrepancies (status) where status <> 'gone';

-- An upstream's own cost of a day of UTC, as imported; the model '' stands for all. A correction may be negative.
create table upstream_costs (
  upstream_id text not null,
  day date not null,
  model text not null default '',
  cost_pico_usd int8 not null,
  imported_at timestamptz not null default now(),
  primary key (upstream_id, day, model)
);

-- The same days, beside the costs of our usage events.
create table upstream_cost_days (
  upstream_id text not null,
  day date not null,
  ours_pico_usd int8 not null,
  theirs_pico_usd int8 not null,
  compared_at timestamptz not null default now(),
  primary key (upstream_id, day)
);
create index upstream_cost_days_by_day on upstream_cost_days (day);


-- Events, mails, webhooks and alerts ----------------------------------------------------------------------------------

-- The outbox of facts that customers receive by mail and by webhook. A fact is written in its own transaction, and a
-- worker dispatches it afterwards, once.
create table events (
  id uuid primary key,
  customer_id uuid not null references customers (id),
  type text not null check (type ~ '^[a-z_]+(\.[a-z_]+)+$'),
  -- As customers see it.
  data jsonb not null,
  created_at timestamptz not null default now(),
  dispatched_at timestamptz,
  -- Failed tries to dispatch it, and when it is due.
  tries int4 not null default 0,
  due_at timestamptz not null default now()
);
create index events_waiting on events (due_at, id) where dispatched_at is null;
create index events_by_customer on events (customer_id, created_at desc, id desc);

-- Mails that wait to be sent. Each ends as a notification with the same id.
create table mails (
  -- Derived from the template and the fact, so that no mail is sent twice; also the Message-ID.
  id uuid primary key,
  -- The customer whom the mail is about. Null for a mail to a person who is not a customer yet, who is asked to verify
  -- the address.
  customer_id uuid references customers (id),
  -- Null: the customer's own address, as it is when the mail is sent.
  email text,
  template text not null check (template ~ '^[a-z_]{1,40}$'),
  -- May hold a secret of the reader, as the token of an invitation. It is deleted with the row.
  data jsonb not null,
  tries int4 not null default 0,
  -- A worker moves it on before it sends the mail, so that no other worker sends it and a crash loses nothing.
  due_at timestamptz not null default now(),
  created_at timestamptz not null default now(),
  check (customer_id is not null or email is not null)
);
create index mails_due on mails (due_at, id);
create index mails_by_customer on mails (customer_id, created_at desc, id desc);
create index mails_by_email on mails (email) where email is not null;

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
create index notifications_failed on notifications (sent_at desc, id desc) where status = 'failed';

-- The mailbox of sandbox mode, which receives the mails instead of their readers.
create table sandbox_mails (
  id uuid primary key,
  customer_id uuid references customers (id),
  email text not null,
  subject text not null,
  list_unsubscribe text,
  text text not null,
  html text not null,
  created_at timestamptz not null default now()
);
create index sandbox_mails_by_time on sandbox_mails (created_at desc, id desc);

create table webhook_endpoints (
  id uuid primary key,
  customer_id uuid not null references customers (id),
  url text not null check (length(url) between 1 and 2000),
  description text,
  -- Null: every type, also types that are added later.
  event_types text[],
  -- The key that signs the messages; sealed with the row's id.
  secret_sealed bytea,
  created_at timestamptz not null default now(),
  disabled_at timestamptz,
  -- `gone`: the endpoint answered 410. `failing`: every try of a message failed, from the first to the last.
  disabled_reason text check (disabled_reason in ('customer', 'gone', 'failing')),
  -- When the first try after the last success failed.
  failing_since timestamptz,
  deleted_at timestamptz,
  check ((disabled_at is null) = (disabled_reason is null)),
  check ((deleted_at is null) = (secret_sealed is not null))
);
create index webhook_endpoints_by_customer on webhook_endpoints (customer_id, created_at, id);
create index webhook_endpoints_deleted on webhook_endpoints (deleted_at) where deleted_at is not null;
-- Operators list the endpoints with failing deliveries.
create index webhook_endpoints_failing on webhook_endpoints (coalesce(disabled_at, failing_since) desc, id desc)
  where deleted_at is null and (disabled_reason in ('gone', 'failing') or failing_since is not null);

-- One try to deliver a message; the next try is a row of its own.
create table webhook_attempts (
  -- The delivery_id.
  id uuid primary key,
  endpoint_id uuid not null references webhook_endpoints (id),
  customer_id uuid not null references customers (id),
  -- The event's id, the same in all tries and replays, so that a receiver handles a message once.
  message_id uuid not null,
  event_type text not null,
  -- The exact bytes that are sent and signed.
  body text not null check (octet_length(body) < 20000),
  try_number int4 not null default 1 check (try_number > 0),
  is_replay boolean not null default false,
  -- When the first try of this message failed.
  first_failed_at timestamptz,
  status text not null default 'queued' check (status in ('queued', 'running', 'delivered', 'failed')),
  due_at timestamptz not null default now(),
  -- The lease of the worker that runs it. When the lease ends the try is due again.
  lease_id uuid,
  leased_until timestamptz,
  http_status int4,
  latency_ms int4,
  -- The beginning of the endpoint's answer.
  response_head text check (octet_length(response_head) <= 2048),
  error text,
  created_at timestamptz not null default now(),
  finished_at timestamptz,
  check ((status = 'running') = (lease_id is not null and leased_until is not null)),
  check ((status in ('delivered', 'failed')) = (finished_at is not null))
);
create index webhook_attempts_due on webhook_attempts (due_at) where status = 'queued';
create index webhook_attempts_waiting on webhook_attempts (endpoint_id, due_at, id) where status = 'queued';
create index webhook_attempts_running on webhook_attempts (leased_until, endpoint_id, customer_id)
  where status = 'running';
create index webhook_attempts_by_endpoint on webhook_attempts (endpoint_id, created_at desc, id desc);
create index webhook_attempts_by_customer on webhook_attempts (customer_id, created_at desc, id desc);
create index webhook_attempts_by_time on webhook_attempts (created_at);

-- Where customers have their usage sent: a Langfuse, or any collector that takes OTLP over HTTP. Each row is the cursor of
-- its destination over the usage events of its customer, in the order of `settled_at` and `id`; a worker claims it.
create table usage_destinations (
  id uuid primary key,
  customer_id uuid not null references customers (id),
  kind text not null check (kind in ('langfuse', 'otlp')),
  url text not null,
  -- The headers of a request, as JSON.
  secret_sealed bytea not null,
  -- What of it is shown.
  public_key text,
  header_names text[] not null,
  includes_content boolean not null,
  created_at timestamptz not null default now(),
  disabled_at timestamptz,
  disabled_reason text check (disabled_reason in ('customer', 'failing')),
  -- The last event that was sent; the id of zeros: all before this time.
  sent_until timestamptz not null default clock_timestamp(),
  sent_id uuid not null default '00000000-0000-0000-0000-000000000000',
  due_at timestamptz not null default now(),
  -- Grows with each claim and each change: who comes late records nothing.
  tries int4 not null default 0,
  failures int4 not null default 0,
  failing_since timestamptz,
  -- Of the last batch; null: none was ever answered.
  latency_ms int4,
  last_success_at timestamptz,
  last_failed_at timestamptz,
  last_error text,
  last_http_status int4,
  last_answer text,
  sent int8 not null default 0,
  rejected int8 not null default 0,
  given_up int8 not null default 0,
  test_asked_at timestamptz,
  tested_at timestamptz,
  test_error text,
  check ((disabled_at is null) = (disabled_reason is null))
) with (fillfactor = 60);
create index usage_destinations_by_customer on usage_destinations (customer_id, created_at);
-- Each free place looks for due destinations: without it, each look reads all of them.
create index usage_destinations_due on usage_destinations (due_at, id) where disabled_at is null;

-- Alerts that customers define.
create table alerts (
  id uuid primary key,
  customer_id uuid not null references customers (id),
  name text not null check (length(name) between 1 and 80),
  kind text not null check (kind in ('balance_below', 'daily_spend', 'monthly_spend', 'runway_days', 'error_rate')),
  -- Billionths of the kind's unit: of a real, of a day, of a percent.
  threshold_nano int8 not null check (threshold_nano > 0),
  -- Both null: the whole account.
  api_key_id uuid references api_keys (id),
  team_id uuid references teams (id),
  channels text[] not null check (cardinality(channels) > 0 and channels <@ array['email', 'webhook']),
  is_enabled boolean not null default true,
  state text not null default 'ok' check (state in ('ok', 'triggered')),
  -- Of spending: the day or the month, by the customer's calendar, in which it last fired.
  fired_period text,
  last_fired_at timestamptz,
  last_value_nano int8,
  -- When it is evaluated next. No index has it, so that an update stays on the row's own page.
  due_at timestamptz not null default now(),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  check (api_key_id is null or team_id is null),
  check (kind not in ('balance_below', 'runway_days') or (api_key_id is null and team_id is null)),
  check ((last_fired_at is null) = (last_value_nano is null))
) with (fillfactor = 70);
create index alerts_by_customer on alerts (customer_id, created_at, id);

-- The state of the warnings about a balance that will not last.
create table balance_watches (
  customer_id uuid primary key references customers (id),
  level text not null default 'ok' check (level in ('ok', 'low', 'critical')),
  -- The sum of all credits, debits and charges at the last look: another sum means that the balance has changed.
  seen_nano_brl int8 not null default -1,
  looked_at timestamptz not null default '-infinity',
  warned_at timestamptz
) with (fillfactor = 70);


-- Login ---------------------------------------------------------------------------------------------------------------

-- People who log in to the dashboard, with a password or a link by mail.
create table sign_in_users (
  id uuid primary key,
  -- In lower case; it never changes. A user who verified the address acts for the customer who has it.
  email text not null unique check (email = lower(email)),
  is_verified boolean not null default false,
  -- As the user entered it; the customer has a name of its own.
  name text not null check (length(name) <= 200),
  image text check (image is null),
  -- The code of the customer who referred the user; read once, when the user becomes a customer.
  referral_code text check (length(referral_code) <= 40),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  -- The version of the terms and the policy that was accepted at the sign-up, before there is a customer.
  accepted_terms text
);
create index sign_in_users_unverified on sign_in_users (created_at) where not is_verified;

-- Login sessions.
create table sign_in_sessions (
  id uuid primary key,
  user_id uuid not null references sign_in_users (id) on delete cascade,
  -- Useless alone: the cookie also holds a signature by a key that is not in the database.
  token text not null unique,
  expires_at timestamptz not null,
  ip text,
  user_agent text check (length(user_agent) <= 400),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  -- The session gives access to nothing until its user has entered a second factor as well.
  awaits_factor boolean not null default false,
  -- When the user last authenticated; changes of the account's security require that this was a moment ago.
  proved_at timestamptz not null default now(),
  -- When the user showed a second factor in this session: operators' pages need that.
  factor_at timestamptz
);
create index sign_in_sessions_by_user on sign_in_sessions (user_id, created_at desc);
create index sign_in_sessions_by_end on sign_in_sessions (expires_at);

-- The passwords of users, as scrypt hashes.
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

-- Links that were sent by mail. Each is valid once and for minutes.
create table sign_in_verifications (
  id text primary key,
  -- A hash of the link's token.
  identifier text not null unique,
  -- The id of the user or the address that the link is for.
  value text not null,
  expires_at timestamptz not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index sign_in_verifications_by_end on sign_in_verifications (expires_at);

-- Codes of an authenticator app.
create table sign_in_second_factors (
  id uuid primary key,
  user_id uuid not null unique references sign_in_users (id) on delete cascade,
  -- The secret that the codes are derived from.
  secret_sealed bytea not null,
  -- Since when codes are required. Null until the first code has shown that the app has the secret.
  enabled_at timestamptz,
  -- The time step of the newest accepted code: a code counts once, and no older one after it.
  last_step int8 not null default 0,
  created_at timestamptz not null default now()
);

-- For users who lost the app. A code is deleted when it is used.
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

-- Tries within a window of time, over all nodes.
create table sign_in_attempts (
  -- SHA-256 of the action and of who tried it.
  key_hash bytea primary key check (length(key_hash) = 32),
  tries int4 not null,
  ends_at timestamptz not null
);
create index sign_in_attempts_by_end on sign_in_attempts (ends_at);


-- Health and incidents ------------------------------------------------------------------------------------------------

-- One upstream may serve the models of many vendors, and the models of one vendor may come from many upstreams. A row of
-- plain numbers has 1.4 kB, less than PostgreSQL compresses: its elements are read in place.
create table upstream_health_hours (
  hour_at timestamptz not null,
  upstream_id text not null,
  -- The maker of the models; customers see it, and never the upstream.
  vendor text not null,
  ok_count sample_count not null,
  failed_count sample_count not null,
  latency_counts latency_counts not null,
  primary key (hour_at, upstream_id, vendor)
) with (fillfactor = 50);

create table incidents (
  id uuid primary key,
  source incident_source not null,
  -- The subject of a breaker. Internal: it may name an upstream.
  subject text,
  severity incident_severity not null,
  title text not null check (length(title) between 1 and 200),
  -- The newest message; incident_updates has all of them.
  message text not null check (length(message) between 1 and 2000),
  -- Vendors and models as the catalog shows them; empty where the incident is not about particular ones.
  vendors text[] not null,
  model_ids text[] not null,
  opened_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  resolved_at timestamptz,
  -- The lease of a breaker's incident: when a node last reported it, and which one.
  seen_at timestamptz,
  node_id uuid,
  check ((source = 'breaker') = (subject is not null and seen_at is not null and node_id is not null))
);
create index incidents_by_time on incidents (opened_at desc, id desc);
create index incidents_open on incidents (opened_at) where resolved_at is null;
-- Nodes that report the same subject at once meet here.
create unique index incidents_open_of_breakers on incidents (subject)
  where source = 'breaker' and resolved_at is null;

-- Immutable: the messages of an incident, its opening and its resolution included.
create table incident_updates (
  id uuid primary key,
  incident_id uuid not null references incidents (id),
  status text not null check (status in ('opened', 'updated', 'resolved')),
  severity incident_severity not null,
  -- Null where an incident was resolved without a message.
  message text,
  created_at timestamptz not null default now()
);
create index incident_updates_by_incident on incident_updates (incident_id, created_at);


-- Prompts, responses and images ---------------------------------------------------------------------------------------

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

-- Append-only; deleted with their prompt.
create table prompt_versions (
  prompt_id uuid not null references prompts (id) on delete cascade,
  version int4 not null check (version > 0),
  body text not null check (length(body) between 1 and 32000),
  change_note text check (length(change_note) <= 200),
  created_at timestamptz not null default now(),
  primary key (prompt_id, version)
);

-- What an account has ever stored, so that the oldest responses are found without counting those that are there.
create table stored_response_sums (
  customer_id uuid primary key references customers (id),
  responses int8 not null,
  bytes int8 not null
);

-- One answer of /v1/responses with its own input; the conversation before it is the chain of `previous_id`.
create table stored_responses (
  id uuid primary key,
  customer_id uuid not null references customers (id),
  api_key_id uuid not null references api_keys (id),
  -- No foreign key: the response before may be deleted.
  previous_id uuid,
  -- It broke off, and cannot be continued.
  is_failed boolean not null,
  input_bytes int not null check (input_bytes > 0),
  response_bytes int not null check (response_bytes > 0),
  input_sealed bytea not null,
  response_sealed bytea not null,
  created_at timestamptz not null default now(),
  -- The sums of the account when the response was added: its number, and the bytes of all before it.
  place int8 not null default 0,
  bytes_before int8 not null default 0
);
alter table stored_responses
  alter column input_sealed set storage external, alter column response_sealed set storage external;
create index stored_responses_by_place on stored_responses (customer_id, place);
create index stored_responses_by_bytes on stored_responses (customer_id, bytes_before);
create index stored_responses_by_time on stored_responses (customer_id, created_at, id);

-- Images whose address an answer contained. The id is a secret: everybody who has it may see the image until it expires.
create table generated_images (
  id text primary key,
  customer_id uuid not null references customers (id),
  media_type text not null,
  bytes bytea not null,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null
);
-- Images are compressed already.
alter table generated_images alter column bytes set storage external;
create index generated_images_by_expiry on generated_images (expires_at);
