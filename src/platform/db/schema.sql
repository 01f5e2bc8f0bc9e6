-- The schema as the migrations and the function files make it. `npm run db:schema` writes this file; do not edit it.
-- It lacks the month partitions of usage_events, which are made as time goes on, and the texts of the functions,
-- which are in the files that the end of this file names.

create domain latency_counts as bigint[] CHECK (cardinality(VALUE) = 156);
create domain nano_brl as bigint CHECK (VALUE >= 0);
create domain pico_usd as bigint CHECK (VALUE >= 0);
create domain sample_count as bigint CHECK (VALUE >= 0);
create type call_outcome as enum ('charged', 'released');
create type incident_severity as enum ('minor', 'major', 'critical');
create type incident_source as enum ('operator', 'breaker');
create type key_scope as enum ('calls', 'account', 'manage', 'operator');
create type top_up_status as enum ('pending', 'paid', 'expired', 'canceled', 'failed', 'chargeback', 'refund_pending', 'partially_refunded', 'refunded');
create type usage_kind as enum ('exact', 'estimated', 'none');

create table accepted_paces (
  api_key_id uuid not null,
  kind text not null,
  pace_nano_brl bigint not null,
  paused_at timestamptz not null default now(),
  constraint accepted_paces_api_key_id_fkey FOREIGN KEY (api_key_id) REFERENCES api_keys(id),
  constraint accepted_paces_kind_check CHECK (kind = ANY (ARRAY['key'::text, 'session'::text])),
  constraint accepted_paces_pace_nano_brl_check CHECK (pace_nano_brl > 0),
  constraint accepted_paces_pkey PRIMARY KEY (api_key_id, kind)
);

create table account_debts (
  id bigint not null generated always as identity,
  customer_id uuid not null,
  amount_nano_brl bigint not null,
  cause text not null,
  hold_ids uuid[],
  created_at timestamptz not null default clock_timestamp(),
  constraint account_debts_amount_nano_brl_check CHECK (amount_nano_brl <> 0),
  constraint account_debts_cause_check CHECK (cause = ANY (ARRAY['overrun'::text, 'correction'::text, 'debit'::text, 'repaid'::text])),
  constraint account_debts_pkey PRIMARY KEY (id)
);
CREATE INDEX account_debts_by_customer ON account_debts USING btree (customer_id);

create table accounts (
  customer_id uuid not null,
  credited_nano_brl nano_brl not null default 0,
  debited_nano_brl nano_brl not null default 0,
  charged_nano_brl nano_brl not null default 0,
  held_nano_brl nano_brl not null default 0,
  usage_days_until timestamptz not null default '-infinity'::timestamptz,
  promotional_nano_brl nano_brl not null default 0,
  promotional_at_charged_nano_brl nano_brl not null default 0,
  constraint accounts_customer_id_fkey FOREIGN KEY (customer_id) REFERENCES customers(id),
  constraint accounts_pkey PRIMARY KEY (customer_id)
) with (fillfactor=40);
CREATE TRIGGER emit_balance_turned AFTER UPDATE OF credited_nano_brl, debited_nano_brl ON accounts FOR EACH ROW WHEN (((old.credited_nano_brl::bigint - old.debited_nano_brl::bigint - old.charged_nano_brl::bigint) > 0) <> ((new.credited_nano_brl::bigint - new.debited_nano_brl::bigint - new.charged_nano_brl::bigint) > 0) AND (new.debited_nano_brl::bigint + new.charged_nano_brl::bigint) > 0) EXECUTE FUNCTION emit_balance_turned_by_entry();
CREATE TRIGGER note_debt_of_entry AFTER UPDATE OF credited_nano_brl, debited_nano_brl ON accounts FOR EACH ROW WHEN ((old.credited_nano_brl::bigint - old.debited_nano_brl::bigint - old.charged_nano_brl::bigint - old.held_nano_brl::bigint) < 0 OR (new.credited_nano_brl::bigint - new.debited_nano_brl::bigint - new.charged_nano_brl::bigint - new.held_nano_brl::bigint) < 0) EXECUTE FUNCTION note_debt_of_entry();

create table added_models (
  model_id text not null,
  entry jsonb not null,
  base jsonb,
  created_at timestamptz not null default now(),
  constraint added_models_check CHECK ((entry ->> 'id'::text) = model_id),
  constraint added_models_pkey PRIMARY KEY (model_id)
);
CREATE TRIGGER notify_catalog_changed AFTER INSERT OR DELETE OR UPDATE ON added_models FOR EACH STATEMENT EXECUTE FUNCTION notify_catalog_changed();

create table adjustments (
  id uuid not null,
  customer_id uuid not null,
  kind text not null,
  amount_nano_brl bigint not null,
  reason text not null,
  reference text not null,
  status text not null,
  requested_by uuid not null,
  decided_by uuid,
  created_at timestamptz not null default now(),
  decided_at timestamptz,
  constraint adjustments_amount_nano_brl_check CHECK (amount_nano_brl > 0 AND (amount_nano_brl % 10000000::bigint) = 0),
  constraint adjustments_check CHECK ((status = 'pending'::text) = (decided_at IS NULL)),
  constraint adjustments_check1 CHECK (status <> 'posted'::text OR decided_by IS DISTINCT FROM requested_by),
  constraint adjustments_customer_id_fkey FOREIGN KEY (customer_id) REFERENCES accounts(customer_id),
  constraint adjustments_decided_by_fkey FOREIGN KEY (decided_by) REFERENCES customers(id),
  constraint adjustments_for_another CHECK (requested_by <> customer_id AND (status <> 'posted'::text OR decided_by IS DISTINCT FROM customer_id)),
  constraint adjustments_kind_check CHECK (kind = ANY (ARRAY['credit'::text, 'debit'::text, 'promotional_credit'::text])),
  constraint adjustments_pkey PRIMARY KEY (id),
  constraint adjustments_reason_check CHECK (length(reason) >= 3 AND length(reason) <= 500),
  constraint adjustments_reference_check CHECK (length(reference) >= 1 AND length(reference) <= 100),
  constraint adjustments_reference_key UNIQUE (reference),
  constraint adjustments_requested_by_fkey FOREIGN KEY (requested_by) REFERENCES customers(id),
  constraint adjustments_status_check CHECK (status = ANY (ARRAY['pending'::text, 'posted'::text, 'rejected'::text]))
);
CREATE INDEX adjustments_by_customer ON adjustments USING btree (customer_id, created_at DESC, id DESC);
CREATE INDEX adjustments_by_operator ON adjustments USING btree (requested_by, created_at) WHERE status = 'posted'::text AND decided_by IS NULL;
CREATE INDEX adjustments_by_status ON adjustments USING btree (status, created_at DESC, id DESC);
CREATE INDEX adjustments_by_time ON adjustments USING btree (created_at DESC, id DESC);
CREATE TRIGGER refuse_deleted_customer BEFORE INSERT ON adjustments FOR EACH ROW EXECUTE FUNCTION refuse_deleted_customer('customer_id');

create table alerts (
  id uuid not null,
  customer_id uuid not null,
  name text not null,
  kind text not null,
  threshold_nano bigint not null,
  api_key_id uuid,
  team_id uuid,
  channels text[] not null,
  is_enabled boolean not null default true,
  state text not null default 'ok'::text,
  fired_period text,
  last_fired_at timestamptz,
  last_value_nano bigint,
  due_at timestamptz not null default now(),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  constraint alerts_api_key_id_fkey FOREIGN KEY (api_key_id) REFERENCES api_keys(id),
  constraint alerts_channels_check CHECK (cardinality(channels) > 0 AND channels <@ ARRAY['email'::text, 'webhook'::text]),
  constraint alerts_check CHECK (api_key_id IS NULL OR team_id IS NULL),
  constraint alerts_check1 CHECK ((kind <> ALL (ARRAY['balance_below'::text, 'runway_days'::text])) OR api_key_id IS NULL AND team_id IS NULL),
  constraint alerts_check2 CHECK ((last_fired_at IS NULL) = (last_value_nano IS NULL)),
  constraint alerts_customer_id_fkey FOREIGN KEY (customer_id) REFERENCES customers(id),
  constraint alerts_kind_check CHECK (kind = ANY (ARRAY['balance_below'::text, 'daily_spend'::text, 'monthly_spend'::text, 'runway_days'::text, 'error_rate'::text])),
  constraint alerts_name_check CHECK (length(name) >= 1 AND length(name) <= 80),
  constraint alerts_pkey PRIMARY KEY (id),
  constraint alerts_state_check CHECK (state = ANY (ARRAY['ok'::text, 'triggered'::text])),
  constraint alerts_team_id_fkey FOREIGN KEY (team_id) REFERENCES teams(id),
  constraint alerts_threshold_nano_check CHECK (threshold_nano > 0)
) with (fillfactor=70);
CREATE INDEX alerts_by_customer ON alerts USING btree (customer_id, created_at, id);
CREATE TRIGGER refuse_deleted_customer BEFORE INSERT ON alerts FOR EACH ROW EXECUTE FUNCTION refuse_deleted_customer('customer_id');

create table api_key_budgets (
  api_key_id uuid not null,
  period text not null,
  timezone text not null,
  limit_pico_usd bigint not null,
  period_started_at timestamptz not null default '-infinity'::timestamptz,
  spent_pico_usd bigint not null default 0,
  held_pico_usd bigint not null default 0,
  spent_since timestamptz not null default clock_timestamp(),
  spent_before_pico_usd bigint not null default 0,
  overdrawn_pico_usd bigint not null default 0,
  counted_since timestamptz not null default clock_timestamp(),
  constraint api_key_budgets_api_key_id_fkey FOREIGN KEY (api_key_id) REFERENCES api_keys(id),
  constraint api_key_budgets_held_pico_usd_check CHECK (held_pico_usd >= 0),
  constraint api_key_budgets_limit_pico_usd_check CHECK (limit_pico_usd >= 0),
  constraint api_key_budgets_overdrawn_pico_usd_check CHECK (overdrawn_pico_usd >= 0),
  constraint api_key_budgets_period_check CHECK (period = ANY (ARRAY['day'::text, 'month'::text, 'lifetime'::text])),
  constraint api_key_budgets_pkey PRIMARY KEY (api_key_id),
  constraint api_key_budgets_spent_pico_usd_check CHECK (spent_pico_usd >= 0)
) with (fillfactor=60);
CREATE TRIGGER note_budget AFTER INSERT OR DELETE ON api_key_budgets FOR EACH ROW EXECUTE FUNCTION note_budget();
CREATE TRIGGER note_overdraft BEFORE INSERT OR UPDATE ON api_key_budgets FOR EACH ROW EXECUTE FUNCTION note_budget_overdraft();

create table api_key_uses (
  api_key_id uuid not null,
  last_used_at timestamptz not null,
  constraint api_key_uses_api_key_id_fkey FOREIGN KEY (api_key_id) REFERENCES api_keys(id),
  constraint api_key_uses_pkey PRIMARY KEY (api_key_id)
) with (fillfactor=60);

create table api_keys (
  id uuid not null,
  customer_id uuid not null,
  name text not null,
  secret_hash bytea not null,
  last_four text not null,
  model_ids text[],
  ip_allowlist text[],
  requests_per_minute integer not null,
  tokens_per_minute bigint,
  version integer not null default 1,
  expires_at timestamptz,
  revoked_at timestamptz,
  created_at timestamptz not null default now(),
  team_id uuid,
  created_by uuid,
  has_budget boolean not null default false,
  scope key_scope not null default 'calls'::key_scope,
  has_caps boolean not null default false,
  task_limit_nano_brl bigint,
  calls_at_once integer,
  shield_action text,
  shield_uuids text,
  paused_at timestamptz,
  paused_reason text,
  paused_before text,
  auto_cache boolean not null default false,
  cache_seconds integer,
  constraint api_keys_cache_seconds_check CHECK (cache_seconds >= 1 AND cache_seconds <= 604800),
  constraint api_keys_calls_at_once_check CHECK (calls_at_once > 0),
  constraint api_keys_created_by_fkey FOREIGN KEY (created_by) REFERENCES customers(id),
  constraint api_keys_customer_id_fkey FOREIGN KEY (customer_id) REFERENCES customers(id),
  constraint api_keys_name_check CHECK (length(name) >= 3 AND length(name) <= 50),
  constraint api_keys_operator_expires CHECK (scope <> 'operator'::key_scope OR expires_at IS NOT NULL AND expires_at <= (created_at + '91 days'::interval)),
  constraint api_keys_paused CHECK ((paused_at IS NULL) = (paused_reason IS NULL)),
  constraint api_keys_paused_before CHECK (paused_before IS NULL OR paused_reason = 'operator'::text),
  constraint api_keys_paused_before_check CHECK (paused_before = ANY (ARRAY['anomaly'::text, 'leaked'::text, 'owner'::text])),
  constraint api_keys_paused_reason_check CHECK (paused_reason = ANY (ARRAY['anomaly'::text, 'leaked'::text, 'owner'::text, 'operator'::text])),
  constraint api_keys_pkey PRIMARY KEY (id),
  constraint api_keys_requests_per_minute_check CHECK (requests_per_minute > 0),
  constraint api_keys_scope_of_team CHECK (team_id IS NULL OR scope = 'calls'::key_scope),
  constraint api_keys_secret_hash_key UNIQUE (secret_hash),
  constraint api_keys_shield CHECK ((shield_action IS NULL) = (shield_uuids IS NULL) AND (shield_action = ANY (ARRAY['off'::text, 'mask'::text, 'block'::text])) AND (shield_uuids = ANY (ARRAY['near_pix'::text, 'always'::text]))),
  constraint api_keys_task_limit_nano_brl_check CHECK (task_limit_nano_brl >= 0),
  constraint api_keys_team_id_fkey FOREIGN KEY (team_id) REFERENCES teams(id),
  constraint api_keys_tokens_per_minute_check CHECK (tokens_per_minute > 0)
);
CREATE INDEX api_keys_by_creator ON api_keys USING btree (created_by) WHERE created_by IS NOT NULL;
CREATE INDEX api_keys_by_customer ON api_keys USING btree (customer_id, created_at);
CREATE INDEX api_keys_by_end ON api_keys USING btree (last_four);
CREATE INDEX api_keys_by_team ON api_keys USING btree (team_id, created_at) WHERE team_id IS NOT NULL;
CREATE TRIGGER refuse_deleted_creator BEFORE INSERT ON api_keys FOR EACH ROW WHEN (new.created_by IS NOT NULL) EXECUTE FUNCTION refuse_deleted_customer('created_by');
CREATE TRIGGER refuse_deleted_customer BEFORE INSERT ON api_keys FOR EACH ROW EXECUTE FUNCTION refuse_deleted_customer('customer_id');

create table archived_files (
  month date not null,
  number integer not null,
  name text not null,
  first_seal bigint not null,
  last_seal bigint not null,
  events bigint not null,
  bytes bigint not null,
  sha256 bytea not null,
  sums_hash bytea not null,
  created_from timestamptz,
  created_to timestamptz,
  constraint archived_files_check CHECK (last_seal >= first_seal),
  constraint archived_files_first_seal_fkey FOREIGN KEY (first_seal) REFERENCES audit_seals(number),
  constraint archived_files_last_seal_fkey FOREIGN KEY (last_seal) REFERENCES audit_seals(number),
  constraint archived_files_month_fkey FOREIGN KEY (month) REFERENCES archived_months(month),
  constraint archived_files_number_check CHECK (number > 0),
  constraint archived_files_pkey PRIMARY KEY (month, number)
);

create table archived_hours (
  month date not null,
  hour_at timestamptz not null,
  model_id text not null,
  upstream_id text,
  fx_rate_e4 integer not null,
  requests bigint not null,
  cost_pico_usd bigint not null,
  billed_nano_brl bigint not null,
  constraint archived_hours_hour_at_model_id_upstream_id_fx_rate_e4_mont_key UNIQUE NULLS NOT DISTINCT (hour_at, model_id, upstream_id, fx_rate_e4, month),
  constraint archived_hours_month_fkey FOREIGN KEY (month) REFERENCES archived_months(month)
);
CREATE INDEX archived_hours_by_month ON archived_hours USING btree (month);

create table archived_months (
  month date not null,
  run uuid not null,
  leased_until timestamptz not null,
  started_at timestamptz not null default now(),
  archived_at timestamptz,
  removed_at timestamptz,
  constraint archived_months_check CHECK (removed_at IS NULL OR archived_at IS NOT NULL),
  constraint archived_months_month_check CHECK (EXTRACT(day FROM month) = 1::numeric),
  constraint archived_months_pkey PRIMARY KEY (month)
);

create table archived_session_keys (
  customer_id uuid not null,
  key bytea not null,
  constraint archived_session_keys_customer_id_fkey FOREIGN KEY (customer_id) REFERENCES customers(id),
  constraint archived_session_keys_key_check CHECK (length(key) = 32),
  constraint archived_session_keys_pkey PRIMARY KEY (customer_id)
);

create table archived_sessions (
  month date not null,
  customer_id uuid not null,
  session_id text collate "C" not null,
  requests bigint not null,
  prompt_tokens bigint not null,
  completion_tokens bigint not null,
  cost_billed_nano_brl bigint not null,
  first_request_at timestamptz not null,
  last_request_at timestamptz not null,
  constraint archived_sessions_customer_id_fkey FOREIGN KEY (customer_id) REFERENCES customers(id),
  constraint archived_sessions_month_fkey FOREIGN KEY (month) REFERENCES archived_months(month),
  constraint archived_sessions_pkey PRIMARY KEY (customer_id, session_id, month)
);
CREATE INDEX archived_sessions_by_month ON archived_sessions USING btree (month);

create table archived_spends (
  month date not null,
  kind text not null,
  subject_id uuid not null,
  session_id text collate "C" not null default ''::text,
  since timestamptz not null,
  amount numeric not null,
  constraint archived_spends_kind_check CHECK (kind = ANY (ARRAY['key_budget'::text, 'team_cap'::text, 'minute_cap'::text, 'day_cap'::text, 'task'::text])),
  constraint archived_spends_month_fkey FOREIGN KEY (month) REFERENCES archived_months(month),
  constraint archived_spends_pkey PRIMARY KEY (subject_id, kind, session_id, month)
);

create table audit_log (
  id uuid not null,
  created_at timestamptz not null default now(),
  actor_kind text not null,
  actor_id uuid,
  api_key_id uuid,
  ip text,
  action text not null,
  customer_id uuid,
  subject_id text,
  details jsonb,
  session_id uuid,
  constraint audit_log_action_check CHECK (action ~ '^[a-z_]+\.[a-z_]+$'::text),
  constraint audit_log_actor_kind_check CHECK (actor_kind = ANY (ARRAY['customer'::text, 'operator'::text, 'system'::text])),
  constraint audit_log_pkey PRIMARY KEY (id)
);
CREATE INDEX audit_log_by_actor ON audit_log USING btree (actor_id, created_at DESC) WHERE actor_id IS NOT NULL;
CREATE INDEX audit_log_by_customer ON audit_log USING btree (customer_id, created_at DESC);
CREATE INDEX audit_log_by_time ON audit_log USING btree (created_at DESC, id DESC);

create table audit_seal_sums (
  seal_number bigint not null,
  customer_id uuid not null,
  hour_at timestamptz not null,
  api_key_id uuid not null,
  model_id text not null,
  team_id uuid,
  charged bigint not null,
  released bigint not null,
  prompt_tokens bigint not null,
  completion_tokens bigint not null,
  cost_pico_usd bigint not null,
  billed_nano_brl bigint not null,
  budget_pico_usd numeric not null,
  cap_nano_brl bigint not null,
  minute_cap_nano_brl bigint not null default 0,
  day_cap_nano_brl bigint not null default 0,
  constraint audit_seal_sums_seal_number_customer_id_hour_at_api_key_id__key UNIQUE NULLS NOT DISTINCT (seal_number, customer_id, hour_at, api_key_id, model_id, team_id),
  constraint audit_seal_sums_seal_number_fkey FOREIGN KEY (seal_number) REFERENCES audit_seals(number)
);
CREATE INDEX audit_seal_sums_by_customer ON audit_seal_sums USING btree (customer_id);

create table audit_seals (
  number bigint not null,
  from_at timestamptz not null,
  to_at timestamptz not null,
  events bigint not null,
  rows_hash bytea not null,
  sums_hash bytea not null,
  breaches jsonb not null default '{}'::jsonb,
  hash bytea not null,
  sealed_at timestamptz not null default now(),
  charges_root bytea not null,
  charges_head bytea not null,
  constraint audit_seals_check CHECK (to_at > from_at),
  constraint audit_seals_pkey PRIMARY KEY (number)
);
CREATE INDEX audit_seals_by_time ON audit_seals USING btree (from_at);

create table auth_events (
  id text not null,
  type text,
  outcome text,
  received_at timestamptz not null default now(),
  constraint auth_events_id_check CHECK (length(id) >= 1 AND length(id) <= 255),
  constraint auth_events_pkey PRIMARY KEY (id)
);
CREATE INDEX auth_events_by_time ON auth_events USING btree (received_at);

create table automatic_top_ups (
  customer_id uuid not null,
  is_enabled boolean not null,
  threshold_nano_brl bigint not null,
  amount_nano_brl bigint not null,
  payment_method_id uuid,
  monthly_limit_nano_brl bigint,
  remote_ip text not null,
  failures_in_row integer not null default 0,
  disabled_reason text,
  tried_at timestamptz not null default '-infinity'::timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  constraint automatic_top_ups_amount_nano_brl_check CHECK (amount_nano_brl > 0 AND (amount_nano_brl % 10000000::bigint) = 0),
  constraint automatic_top_ups_check CHECK (NOT is_enabled OR payment_method_id IS NOT NULL AND disabled_reason IS NULL),
  constraint automatic_top_ups_customer_id_fkey FOREIGN KEY (customer_id) REFERENCES accounts(customer_id),
  constraint automatic_top_ups_disabled_reason_check CHECK (disabled_reason = ANY (ARRAY['card_rejected'::text, 'payment_method_deleted'::text])),
  constraint automatic_top_ups_monthly_limit_nano_brl_check CHECK (monthly_limit_nano_brl > 0),
  constraint automatic_top_ups_payment_method_id_fkey FOREIGN KEY (payment_method_id) REFERENCES payment_methods(id) ON DELETE SET NULL,
  constraint automatic_top_ups_pkey PRIMARY KEY (customer_id),
  constraint automatic_top_ups_threshold_nano_brl_check CHECK (threshold_nano_brl >= 0)
);
CREATE INDEX automatic_top_ups_by_card ON automatic_top_ups USING btree (payment_method_id);
CREATE INDEX automatic_top_ups_enabled ON automatic_top_ups USING btree (tried_at) WHERE is_enabled;
CREATE TRIGGER refuse_deleted_customer BEFORE INSERT ON automatic_top_ups FOR EACH ROW EXECUTE FUNCTION refuse_deleted_customer('customer_id');

create table balance_watches (
  customer_id uuid not null,
  level text not null default 'ok'::text,
  seen_nano_brl bigint not null default '-1'::integer,
  looked_at timestamptz not null default '-infinity'::timestamptz,
  warned_at timestamptz,
  constraint balance_watches_customer_id_fkey FOREIGN KEY (customer_id) REFERENCES customers(id),
  constraint balance_watches_level_check CHECK (level = ANY (ARRAY['ok'::text, 'low'::text, 'critical'::text])),
  constraint balance_watches_pkey PRIMARY KEY (customer_id)
) with (fillfactor=70);
CREATE TRIGGER refuse_deleted_customer BEFORE INSERT ON balance_watches FOR EACH ROW EXECUTE FUNCTION refuse_deleted_customer('customer_id');

create table batch_lines (
  id uuid not null,
  batch_id uuid not null,
  customer_id uuid not null,
  place integer not null,
  input_sealed bytea storage external,
  due_at timestamptz not null default now(),
  tries integer not null default 0,
  hold_id uuid,
  result_sealed bytea storage external,
  result_bytes integer,
  outcome text,
  constraint batch_lines_batch_id_fkey FOREIGN KEY (batch_id) REFERENCES batches(id) ON DELETE CASCADE,
  constraint batch_lines_batch_id_place_key UNIQUE (batch_id, place),
  constraint batch_lines_check CHECK ((outcome IS NULL) = (input_sealed IS NOT NULL)),
  constraint batch_lines_customer_id_fkey FOREIGN KEY (customer_id) REFERENCES customers(id),
  constraint batch_lines_outcome_check CHECK (outcome = ANY (ARRAY['succeeded'::text, 'errored'::text, 'canceled'::text, 'expired'::text])),
  constraint batch_lines_pkey PRIMARY KEY (id)
);
CREATE INDEX batch_lines_by_customer ON batch_lines USING btree (customer_id);
CREATE INDEX batch_lines_due ON batch_lines USING btree (batch_id, due_at, place) WHERE outcome IS NULL;

create table batches (
  id uuid not null,
  customer_id uuid not null,
  api_key_id uuid not null,
  endpoint text not null,
  input_file_id uuid,
  metadata jsonb,
  lines integer not null,
  succeeded integer not null default 0,
  errored integer not null default 0,
  canceled integer not null default 0,
  expired integer not null default 0,
  bytes bigint not null default 0,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  due_at timestamptz not null default now(),
  canceled_at timestamptz,
  ended_at timestamptz,
  input_bytes bigint not null default 0,
  constraint batches_api_key_id_fkey FOREIGN KEY (api_key_id) REFERENCES api_keys(id),
  constraint batches_check CHECK ((succeeded + errored + canceled + expired) <= lines),
  constraint batches_customer_id_fkey FOREIGN KEY (customer_id) REFERENCES customers(id),
  constraint batches_lines_check CHECK (lines >= 0),
  constraint batches_pkey PRIMARY KEY (id)
);
CREATE INDEX batches_by_customer ON batches USING btree (customer_id, id);
CREATE INDEX batches_by_time ON batches USING btree (created_at);
CREATE INDEX batches_that_run ON batches USING btree (id) WHERE ended_at IS NULL;
CREATE TRIGGER refuse_deleted_customer BEFORE INSERT ON batches FOR EACH ROW EXECUTE FUNCTION refuse_deleted_customer('customer_id');

create table cached_answers (
  customer_id uuid not null,
  digest bytea not null,
  sealed bytea not null,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  constraint cached_answers_customer_id_fkey FOREIGN KEY (customer_id) REFERENCES customers(id),
  constraint cached_answers_digest_check CHECK (length(digest) = 32),
  constraint cached_answers_pkey PRIMARY KEY (customer_id, digest)
);
CREATE INDEX cached_answers_by_age ON cached_answers USING btree (customer_id, created_at);
CREATE INDEX cached_answers_by_end ON cached_answers USING btree (expires_at);
CREATE TRIGGER refuse_deleted_customer BEFORE INSERT ON cached_answers FOR EACH ROW EXECUTE FUNCTION refuse_deleted_customer('customer_id');

create table card_attempts (
  id uuid not null,
  customer_id uuid not null,
  created_at timestamptz not null default now(),
  constraint card_attempts_customer_id_fkey FOREIGN KEY (customer_id) REFERENCES customers(id),
  constraint card_attempts_pkey PRIMARY KEY (id)
);
CREATE INDEX card_attempts_by_customer ON card_attempts USING btree (customer_id, created_at);
CREATE TRIGGER refuse_deleted_customer BEFORE INSERT ON card_attempts FOR EACH ROW EXECUTE FUNCTION refuse_deleted_customer('customer_id');

create table charge_corrections (
  hold_id uuid not null,
  customer_id uuid not null,
  first_outcome call_outcome not null,
  first_billed_nano_brl bigint not null,
  outcome call_outcome not null,
  billed_nano_brl bigint not null,
  reversal_event_id uuid,
  event_id uuid,
  created_at timestamptz not null default now(),
  paid_back_nano_brl bigint not null default 0,
  constraint charge_corrections_pkey PRIMARY KEY (hold_id)
);
CREATE INDEX charge_corrections_by_customer ON charge_corrections USING btree (customer_id, created_at);

create table customer_notes (
  id uuid not null,
  customer_id uuid not null,
  written_by uuid not null,
  note text not null,
  created_at timestamptz not null default now(),
  constraint customer_notes_customer_id_fkey FOREIGN KEY (customer_id) REFERENCES customers(id),
  constraint customer_notes_note_check CHECK (length(note) >= 1 AND length(note) <= 2000),
  constraint customer_notes_pkey PRIMARY KEY (id),
  constraint customer_notes_written_by_fkey FOREIGN KEY (written_by) REFERENCES customers(id)
);
CREATE INDEX customer_notes_by_customer ON customer_notes USING btree (customer_id, created_at DESC, id DESC);
CREATE TRIGGER refuse_deleted_customer BEFORE INSERT ON customer_notes FOR EACH ROW EXECUTE FUNCTION refuse_deleted_customer('customer_id');

create table customers (
  id uuid not null,
  name text not null,
  email text,
  timezone text not null default 'America/Sao_Paulo'::text,
  created_at timestamptz not null default now(),
  preferred_locale text not null default 'pt-BR'::text,
  weekly_digest_enabled boolean not null default true,
  deleted_at timestamptz,
  referral_code text,
  erased_at timestamptz,
  suspended_at timestamptz,
  suspended_reason text,
  low_balance_email_enabled boolean not null default true,
  accepted_terms text,
  shield_action text not null default 'off'::text,
  shield_uuids text not null default 'near_pix'::text,
  anomaly_factor integer default 10,
  anomaly_floor_nano_brl bigint not null default '200000000000'::bigint,
  stored_responses_days integer,
  suspended_text text,
  incident_email_enabled boolean not null default false,
  constraint customers_anomaly_factor_check CHECK (anomaly_factor >= 2 AND anomaly_factor <= 1000),
  constraint customers_anomaly_floor_nano_brl_check CHECK (anomaly_floor_nano_brl >= 1000000000 AND anomaly_floor_nano_brl <= '1000000000000000'::bigint),
  constraint customers_check CHECK ((suspended_at IS NULL) = (suspended_reason IS NULL)),
  constraint customers_email_key UNIQUE (email),
  constraint customers_name_check CHECK (length(name) >= 1 AND length(name) <= 200),
  constraint customers_pkey PRIMARY KEY (id),
  constraint customers_referral_code_key UNIQUE (referral_code),
  constraint customers_shield CHECK ((shield_action = ANY (ARRAY['off'::text, 'mask'::text, 'block'::text])) AND (shield_uuids = ANY (ARRAY['near_pix'::text, 'always'::text]))),
  constraint customers_stored_responses_days_check CHECK (stored_responses_days >= 1 AND stored_responses_days <= 30),
  constraint customers_suspended_reason_check CHECK (suspended_reason = ANY (ARRAY['chargeback'::text, 'operator'::text]))
);
CREATE UNIQUE INDEX customers_by_email ON customers USING btree (lower(email));
CREATE INDEX customers_by_email_prefix ON customers USING btree (lower(email) text_pattern_ops);
CREATE INDEX customers_by_name_prefix ON customers USING btree (lower(name) text_pattern_ops);
CREATE INDEX customers_by_time ON customers USING btree (created_at DESC, id DESC);
CREATE INDEX customers_to_erase ON customers USING btree (deleted_at) WHERE deleted_at IS NOT NULL AND erased_at IS NULL;
CREATE INDEX customers_with_incident_emails ON customers USING btree (id) WHERE incident_email_enabled;

create table delivery_discrepancies (
  hold_id uuid not null,
  node_id uuid not null,
  delivered_nano_brl bigint not null,
  stored_nano_brl bigint,
  found_at timestamptz not null default now(),
  resolved_at timestamptz,
  constraint delivery_discrepancies_pkey PRIMARY KEY (hold_id)
);
CREATE INDEX delivery_discrepancies_open ON delivery_discrepancies USING btree (found_at) WHERE resolved_at IS NULL;

create table digest_keys (
  id uuid not null,
  purpose text not null,
  secret_sealed bytea not null,
  created_at timestamptz not null default now(),
  constraint digest_keys_pkey PRIMARY KEY (id),
  constraint digest_keys_purpose_key UNIQUE (purpose)
);

create table disabled_models (
  model_id text not null,
  reason text not null,
  disabled_at timestamptz not null default now(),
  constraint disabled_models_pkey PRIMARY KEY (model_id),
  constraint disabled_models_reason_check CHECK (length(reason) >= 3 AND length(reason) <= 500)
);
CREATE TRIGGER notify_catalog_changed AFTER INSERT OR DELETE OR UPDATE ON disabled_models FOR EACH STATEMENT EXECUTE FUNCTION notify_catalog_changed();

create table events (
  id uuid not null,
  customer_id uuid not null,
  type text not null,
  data jsonb not null,
  created_at timestamptz not null default now(),
  dispatched_at timestamptz,
  tries integer not null default 0,
  due_at timestamptz not null default now(),
  constraint events_customer_id_fkey FOREIGN KEY (customer_id) REFERENCES customers(id),
  constraint events_pkey PRIMARY KEY (id),
  constraint events_type_check CHECK (type ~ '^[a-z_]+(\.[a-z_]+)+$'::text)
);
CREATE INDEX events_by_customer ON events USING btree (customer_id, created_at DESC, id DESC);
CREATE INDEX events_waiting ON events USING btree (due_at, id) WHERE dispatched_at IS NULL;
CREATE TRIGGER refuse_deleted_customer BEFORE INSERT ON events FOR EACH ROW EXECUTE FUNCTION refuse_deleted_customer('customer_id');

create table external_users (
  external_id_hash bytea not null,
  customer_id uuid,
  changed_at timestamptz,
  deleted_at timestamptz,
  constraint external_users_customer_id_fkey FOREIGN KEY (customer_id) REFERENCES customers(id),
  constraint external_users_customer_id_key UNIQUE (customer_id),
  constraint external_users_external_id_hash_check CHECK (length(external_id_hash) = 32),
  constraint external_users_pkey PRIMARY KEY (external_id_hash)
);
CREATE INDEX external_users_to_delete ON external_users USING btree (customer_id) WHERE deleted_at IS NOT NULL AND customer_id IS NOT NULL;
CREATE TRIGGER refuse_deleted_customer BEFORE INSERT ON external_users FOR EACH ROW EXECUTE FUNCTION refuse_deleted_customer('customer_id');

create table file_parts (
  id uuid not null,
  file_id uuid not null,
  customer_id uuid not null,
  place integer not null,
  sealed bytea storage external not null,
  constraint file_parts_customer_id_fkey FOREIGN KEY (customer_id) REFERENCES customers(id),
  constraint file_parts_file_id_fkey FOREIGN KEY (file_id) REFERENCES files(id) ON DELETE CASCADE,
  constraint file_parts_file_id_place_key UNIQUE (file_id, place),
  constraint file_parts_pkey PRIMARY KEY (id)
);
CREATE INDEX file_parts_by_customer ON file_parts USING btree (customer_id);

create table files (
  id uuid not null,
  customer_id uuid not null,
  api_key_id uuid not null,
  name text not null,
  bytes bigint not null,
  batch_id uuid,
  is_of_errors boolean not null default false,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  constraint files_api_key_id_fkey FOREIGN KEY (api_key_id) REFERENCES api_keys(id),
  constraint files_batch_id_fkey FOREIGN KEY (batch_id) REFERENCES batches(id) ON DELETE CASCADE,
  constraint files_bytes_check CHECK (bytes >= 0),
  constraint files_customer_id_fkey FOREIGN KEY (customer_id) REFERENCES customers(id),
  constraint files_pkey PRIMARY KEY (id)
);
CREATE INDEX files_by_customer ON files USING btree (customer_id, id);
CREATE INDEX files_by_end ON files USING btree (expires_at);
CREATE INDEX files_of_batches ON files USING btree (batch_id) WHERE batch_id IS NOT NULL;
CREATE TRIGGER refuse_deleted_customer BEFORE INSERT ON files FOR EACH ROW EXECUTE FUNCTION refuse_deleted_customer('customer_id');

create table function_sets (
  schema_name text not null,
  started_at timestamptz not null default clock_timestamp(),
  constraint function_sets_pkey PRIMARY KEY (schema_name)
);

create table fx_rates (
  id integer not null generated always as identity,
  rate_e4 integer not null,
  rate_date date not null,
  bulletin_at timestamptz,
  source text not null,
  created_at timestamptz not null default now(),
  withdrawn_at timestamptz,
  digest bytea not null,
  constraint fx_rates_digest CHECK (digest = sha256(convert_to(concat_ws('|'::text, id, rate_e4, rate_date - '2000-01-01'::date, EXTRACT(epoch FROM bulletin_at), EXTRACT(epoch FROM created_at), source), 'UTF8'::name))),
  constraint fx_rates_pkey PRIMARY KEY (id),
  constraint fx_rates_rate_e4_check CHECK (rate_e4 > 0 AND rate_e4 < 1000000)
);
CREATE INDEX fx_rates_by_date ON fx_rates USING btree (rate_date DESC, id DESC);
CREATE TRIGGER digest_fx_rate BEFORE INSERT ON fx_rates FOR EACH ROW EXECUTE FUNCTION digest_fx_rate();

create table generated_images (
  id text not null,
  customer_id uuid not null,
  media_type text not null,
  bytes bytea storage external not null,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  constraint generated_images_customer_id_fkey FOREIGN KEY (customer_id) REFERENCES customers(id),
  constraint generated_images_pkey PRIMARY KEY (id)
);
CREATE INDEX generated_images_by_expiry ON generated_images USING btree (expires_at);

create table holds (
  id uuid not null,
  customer_id uuid not null,
  api_key_id uuid not null,
  node_id uuid not null,
  request_id uuid not null,
  session_id text,
  model_id text not null,
  is_stream boolean not null,
  amount_nano_brl nano_brl not null,
  budget_pico_usd pico_usd not null,
  price_id integer not null,
  fx_rate_id integer not null,
  fx_rate_e4 integer not null,
  markup_e4 integer not null,
  prompt_tokens_estimated integer not null,
  tokens_counted bigint,
  tokens_window_at timestamptz,
  created_at timestamptz not null,
  dispatched_at timestamptz,
  output_began_at timestamptz,
  output_tokens_seen integer not null default 0,
  team_id uuid,
  in_caps smallint not null default 0,
  constraint holds_pkey PRIMARY KEY (id)
) with (fillfactor=70, autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=5000);

create table idempotency_keys (
  id uuid not null,
  customer_id uuid not null,
  api_key_id uuid,
  key_digest bytea not null,
  content_sealed bytea storage external not null,
  is_answered boolean not null,
  running_until timestamptz,
  created_at timestamptz not null default now(),
  constraint idempotency_keys_check CHECK (running_until IS NULL OR NOT is_answered),
  constraint idempotency_keys_customer_id_fkey FOREIGN KEY (customer_id) REFERENCES customers(id),
  constraint idempotency_keys_customer_id_key_digest_key UNIQUE (customer_id, key_digest),
  constraint idempotency_keys_pkey PRIMARY KEY (id)
);
CREATE INDEX idempotency_keys_oldest ON idempotency_keys USING btree (created_at);
CREATE TRIGGER refuse_deleted_customer BEFORE INSERT ON idempotency_keys FOR EACH ROW EXECUTE FUNCTION refuse_deleted_customer('customer_id');

create table incident_mails (
  id uuid not null,
  data jsonb not null,
  after_customer_id uuid not null default '00000000-0000-0000-0000-000000000000'::uuid,
  constraint incident_mails_pkey PRIMARY KEY (id)
);

create table incident_updates (
  id uuid not null,
  incident_id uuid not null,
  status text not null,
  severity incident_severity not null,
  message text,
  created_at timestamptz not null default now(),
  constraint incident_updates_incident_id_fkey FOREIGN KEY (incident_id) REFERENCES incidents(id),
  constraint incident_updates_pkey PRIMARY KEY (id),
  constraint incident_updates_status_check CHECK (status = ANY (ARRAY['opened'::text, 'updated'::text, 'resolved'::text]))
);
CREATE INDEX incident_updates_by_incident ON incident_updates USING btree (incident_id, created_at);

create table incidents (
  id uuid not null,
  source incident_source not null,
  subject text,
  severity incident_severity not null,
  title text not null,
  message text not null,
  vendors text[] not null,
  model_ids text[] not null,
  opened_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  resolved_at timestamptz,
  seen_at timestamptz,
  node_id uuid,
  is_mailed boolean not null default false,
  constraint incidents_check CHECK ((source = 'breaker'::incident_source) = (subject IS NOT NULL AND seen_at IS NOT NULL AND node_id IS NOT NULL)),
  constraint incidents_message_check CHECK (length(message) >= 1 AND length(message) <= 2000),
  constraint incidents_pkey PRIMARY KEY (id),
  constraint incidents_title_check CHECK (length(title) >= 1 AND length(title) <= 200)
);
CREATE INDEX incidents_by_time ON incidents USING btree (opened_at DESC, id DESC);
CREATE INDEX incidents_mailed ON incidents USING btree (id) WHERE is_mailed;
CREATE INDEX incidents_open ON incidents USING btree (opened_at) WHERE resolved_at IS NULL;
CREATE UNIQUE INDEX incidents_open_of_breakers ON incidents USING btree (subject) WHERE source = 'breaker'::incident_source AND resolved_at IS NULL;

create table installation (
  only_row boolean not null default true,
  mode text not null,
  created_at timestamptz not null default now(),
  cell text,
  constraint installation_cell CHECK (cell ~ '^[0-9a-z]{1,8}$'::text),
  constraint installation_mode_check CHECK (mode = ANY (ARRAY['sandbox'::text, 'live'::text])),
  constraint installation_only_row_check CHECK (only_row),
  constraint installation_pkey PRIMARY KEY (only_row)
);

create table key_caps (
  api_key_id uuid not null,
  period text not null,
  timezone text not null,
  limit_nano_brl bigint not null,
  period_started_at timestamptz not null default '-infinity'::timestamptz,
  spent_nano_brl bigint not null default 0,
  held_nano_brl bigint not null default 0,
  spent_since timestamptz not null default clock_timestamp(),
  spent_before_nano_brl bigint not null default 0,
  counted_since timestamptz not null default clock_timestamp(),
  overdrawn_nano_brl bigint not null default 0,
  constraint key_caps_api_key_id_fkey FOREIGN KEY (api_key_id) REFERENCES api_keys(id),
  constraint key_caps_held_nano_brl_check CHECK (held_nano_brl >= 0),
  constraint key_caps_limit_nano_brl_check CHECK (limit_nano_brl >= 0),
  constraint key_caps_overdrawn_nano_brl_check CHECK (overdrawn_nano_brl >= 0),
  constraint key_caps_period_check CHECK (period = ANY (ARRAY['minute'::text, 'day'::text])),
  constraint key_caps_pkey PRIMARY KEY (api_key_id, period),
  constraint key_caps_spent_nano_brl_check CHECK (spent_nano_brl >= 0)
) with (fillfactor=60);
CREATE TRIGGER note_cap AFTER INSERT OR DELETE ON key_caps FOR EACH ROW EXECUTE FUNCTION note_cap();
CREATE TRIGGER note_overdraft BEFORE INSERT OR UPDATE ON key_caps FOR EACH ROW EXECUTE FUNCTION note_cap_overdraft();

create table ledger_entries (
  id uuid not null,
  customer_id uuid not null,
  kind text not null,
  reason text not null,
  amount_nano_brl bigint not null,
  reference text not null,
  note text,
  created_at timestamptz not null default now(),
  promotional_nano_brl bigint not null default 0,
  paid_charges_nano_brl bigint not null default 0,
  constraint ledger_entries_amount_nano_brl_check CHECK (amount_nano_brl > 0),
  constraint ledger_entries_check CHECK (promotional_nano_brl >= 0 AND promotional_nano_brl <= amount_nano_brl),
  constraint ledger_entries_customer_id_fkey FOREIGN KEY (customer_id) REFERENCES accounts(customer_id),
  constraint ledger_entries_kind_check CHECK (kind = ANY (ARRAY['credit'::text, 'debit'::text])),
  constraint ledger_entries_pkey PRIMARY KEY (id),
  constraint ledger_entries_reason_check CHECK (reason ~ '^[a-z_]{1,40}$'::text),
  constraint ledger_entries_reason_reference_key UNIQUE (reason, reference)
);
CREATE INDEX ledger_entries_by_customer ON ledger_entries USING btree (customer_id, created_at);
CREATE CONSTRAINT TRIGGER empty_by_late_credit AFTER INSERT ON ledger_entries DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (new.kind = 'credit'::text) EXECUTE FUNCTION empty_by_late_credit();

create table mails (
  id uuid not null,
  customer_id uuid,
  email text,
  template text not null,
  data jsonb not null,
  tries integer not null default 0,
  due_at timestamptz not null default now(),
  created_at timestamptz not null default now(),
  constraint mails_check CHECK (customer_id IS NOT NULL OR email IS NOT NULL),
  constraint mails_customer_id_fkey FOREIGN KEY (customer_id) REFERENCES customers(id),
  constraint mails_pkey PRIMARY KEY (id),
  constraint mails_template_check CHECK (template ~ '^[a-z_]{1,40}$'::text)
);
CREATE INDEX mails_by_customer ON mails USING btree (customer_id, created_at DESC, id DESC);
CREATE INDEX mails_by_email ON mails USING btree (email) WHERE email IS NOT NULL;
CREATE INDEX mails_due ON mails USING btree (due_at, id);
CREATE TRIGGER refuse_deleted_customer BEFORE INSERT ON mails FOR EACH ROW EXECUTE FUNCTION refuse_deleted_customer('customer_id');

create table markup_changes (
  id uuid not null,
  model_id text not null,
  markup_e4 integer not null,
  markup_before_e4 integer not null,
  starts_at timestamptz not null,
  reason text not null,
  created_at timestamptz not null default now(),
  canceled_at timestamptz,
  noticed_through uuid,
  noticed_at timestamptz,
  constraint markup_changes_check CHECK (canceled_at IS NULL OR canceled_at < starts_at),
  constraint markup_changes_markup_before_e4_check CHECK (markup_before_e4 > 0),
  constraint markup_changes_markup_e4_check CHECK (markup_e4 >= 10000 AND markup_e4 <= 100000),
  constraint markup_changes_pkey PRIMARY KEY (id),
  constraint markup_changes_reason_check CHECK (length(reason) >= 3 AND length(reason) <= 500)
);
CREATE UNIQUE INDEX markup_changes_by_model ON markup_changes USING btree (model_id, starts_at) WHERE canceled_at IS NULL;
CREATE INDEX markup_changes_without_notice ON markup_changes USING btree (created_at) WHERE noticed_at IS NULL AND canceled_at IS NULL AND markup_e4 > markup_before_e4;
CREATE TRIGGER notify_catalog_changed AFTER INSERT OR UPDATE OF canceled_at ON markup_changes FOR EACH STATEMENT EXECUTE FUNCTION notify_catalog_changed();

create table migrations (
  number integer not null,
  name text not null,
  run_at timestamptz not null default now(),
  constraint migrations_pkey PRIMARY KEY (number)
);

create table model_speed_days (
  model_id text not null,
  day date not null,
  until_at timestamptz not null,
  first_byte_counts latency_counts storage plain not null,
  first_byte_customers bigint not null,
  pace_counts latency_counts storage plain not null,
  pace_customers bigint not null,
  constraint model_speed_days_pkey PRIMARY KEY (model_id, day)
) with (fillfactor=50);

create table nodes (
  id uuid not null,
  started_at timestamptz not null default now(),
  seen_at timestamptz not null default now(),
  stopped_at timestamptz,
  fenced_at timestamptz,
  functions_schema text not null,
  server_id uuid,
  process_id uuid,
  worker smallint,
  version text,
  build text,
  constraint nodes_pkey PRIMARY KEY (id)
);

create table notifications (
  id uuid not null,
  customer_id uuid not null,
  template text not null,
  status text not null,
  error text,
  sent_at timestamptz not null default now(),
  constraint notifications_check CHECK ((error IS NULL) = (status = 'sent'::text)),
  constraint notifications_customer_id_fkey FOREIGN KEY (customer_id) REFERENCES customers(id),
  constraint notifications_pkey PRIMARY KEY (id),
  constraint notifications_status_check CHECK (status = ANY (ARRAY['sent'::text, 'failed'::text])),
  constraint notifications_template_check CHECK (template ~ '^[a-z_]{1,40}$'::text)
);
CREATE INDEX notifications_by_customer ON notifications USING btree (customer_id, sent_at DESC, id DESC);
CREATE INDEX notifications_failed ON notifications USING btree (sent_at DESC, id DESC) WHERE status = 'failed'::text;
CREATE TRIGGER refuse_deleted_customer BEFORE INSERT ON notifications FOR EACH ROW EXECUTE FUNCTION refuse_deleted_customer('customer_id');

create table payer_removals (
  customer_id uuid not null,
  processor text not null,
  tries integer not null default 0,
  due_at timestamptz not null default now(),
  constraint payer_removals_customer_id_fkey FOREIGN KEY (customer_id) REFERENCES customers(id),
  constraint payer_removals_pkey PRIMARY KEY (customer_id, processor)
);

create table payment_methods (
  id uuid not null,
  customer_id uuid not null,
  processor text not null,
  token_sealed bytea not null,
  brand text,
  last_four text not null,
  holder_name text not null,
  expiry_month smallint not null,
  expiry_year smallint not null,
  created_at timestamptz not null default now(),
  constraint payment_methods_customer_id_fkey FOREIGN KEY (customer_id) REFERENCES customers(id),
  constraint payment_methods_expiry_month_check CHECK (expiry_month >= 1 AND expiry_month <= 12),
  constraint payment_methods_holder_name_check CHECK (length(holder_name) <= 100),
  constraint payment_methods_last_four_check CHECK (last_four ~ '^[0-9]{4}$'::text),
  constraint payment_methods_pkey PRIMARY KEY (id)
);
CREATE INDEX payment_methods_by_customer ON payment_methods USING btree (customer_id, created_at);
CREATE TRIGGER refuse_deleted_customer BEFORE INSERT ON payment_methods FOR EACH ROW EXECUTE FUNCTION refuse_deleted_customer('customer_id');

create table price_changes (
  id integer not null generated always as identity,
  model_id text not null,
  starts_at timestamptz not null,
  schedule jsonb not null,
  note text,
  created_at timestamptz not null default now(),
  withdrawn_at timestamptz,
  notice_percent_e2 integer,
  noticed_through uuid,
  noticed_at timestamptz,
  constraint price_changes_check CHECK (starts_at >= date_trunc('milliseconds'::text, created_at)),
  constraint price_changes_notice_percent_e2_check CHECK (notice_percent_e2 >= 0),
  constraint price_changes_pkey PRIMARY KEY (id),
  constraint price_changes_schedule_check CHECK (jsonb_typeof(schedule) = 'array'::text AND jsonb_array_length(schedule) >= 1 AND jsonb_array_length(schedule) <= 20)
);
CREATE INDEX price_changes_in_use ON price_changes USING btree (starts_at, id) WHERE withdrawn_at IS NULL;
CREATE TRIGGER notify_catalog_changed AFTER INSERT OR UPDATE OF withdrawn_at ON price_changes FOR EACH STATEMENT EXECUTE FUNCTION notify_catalog_changed();

create table price_data (
  only_row boolean not null default true,
  published jsonb not null,
  added jsonb not null,
  fetched_at timestamptz not null,
  second_list jsonb,
  constraint price_data_only_row_check CHECK (only_row),
  constraint price_data_pkey PRIMARY KEY (only_row)
);
CREATE TRIGGER notify_catalog_changed AFTER INSERT OR UPDATE ON price_data FOR EACH STATEMENT EXECUTE FUNCTION notify_catalog_changed();

create table price_differences (
  model_id text not null,
  difference text not null,
  found_at timestamptz not null default now(),
  kind text not null default 'unreadable'::text,
  schedule jsonb,
  entry jsonb,
  rejected_at timestamptz,
  constraint price_differences_kind_check CHECK (kind = ANY (ARRAY['new'::text, 'cheaper'::text, 'dearer'::text, 'unreadable'::text, 'disputed'::text])),
  constraint price_differences_pkey PRIMARY KEY (model_id)
);

create table prices (
  id integer not null generated always as identity,
  digest text not null,
  model_id text not null,
  tiers jsonb not null,
  created_at timestamptz not null default now(),
  units jsonb,
  share_of integer,
  constraint prices_digest_key UNIQUE (digest),
  constraint prices_pkey PRIMARY KEY (id),
  constraint prices_share_of_fkey FOREIGN KEY (share_of) REFERENCES prices(id)
);

create table processor_customers (
  customer_id uuid not null,
  processor text not null,
  processor_customer_id text not null,
  constraint processor_customers_customer_id_fkey FOREIGN KEY (customer_id) REFERENCES customers(id),
  constraint processor_customers_pkey PRIMARY KEY (customer_id, processor)
);
CREATE TRIGGER refuse_deleted_customer BEFORE INSERT ON processor_customers FOR EACH ROW EXECUTE FUNCTION refuse_deleted_customer('customer_id');

create table processor_events (
  processor text not null,
  event_id text not null,
  type text not null,
  processor_payment_id text,
  reference text,
  received_at timestamptz not null default now(),
  handled_at timestamptz,
  outcome text,
  due_at timestamptz not null default now(),
  tries integer not null default 0,
  constraint processor_events_pkey PRIMARY KEY (processor, event_id)
);
CREATE INDEX processor_events_waiting ON processor_events USING btree (due_at) WHERE handled_at IS NULL;

create table profiles (
  customer_id uuid not null,
  full_name text not null,
  tax_id text not null,
  phone text,
  postal_code text,
  street text,
  street_number text,
  complement text,
  district text,
  city text,
  state text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  constraint profiles_customer_id_fkey FOREIGN KEY (customer_id) REFERENCES customers(id),
  constraint profiles_full_name_check CHECK (length(full_name) >= 1 AND length(full_name) <= 200),
  constraint profiles_pkey PRIMARY KEY (customer_id),
  constraint profiles_tax_id_check CHECK (tax_id ~ '^(\d{11}|[0-9A-Z]{12}\d{2})$'::text)
);
CREATE INDEX profiles_by_tax_id_prefix ON profiles USING btree (tax_id text_pattern_ops);
CREATE TRIGGER refuse_deleted_customer BEFORE INSERT ON profiles FOR EACH ROW EXECUTE FUNCTION refuse_deleted_customer('customer_id');

create table prompt_versions (
  prompt_id uuid not null,
  version integer not null,
  body text not null,
  change_note text,
  created_at timestamptz not null default now(),
  constraint prompt_versions_body_check CHECK (length(body) >= 1 AND length(body) <= 32000),
  constraint prompt_versions_change_note_check CHECK (length(change_note) <= 200),
  constraint prompt_versions_pkey PRIMARY KEY (prompt_id, version),
  constraint prompt_versions_prompt_id_fkey FOREIGN KEY (prompt_id) REFERENCES prompts(id) ON DELETE CASCADE,
  constraint prompt_versions_version_check CHECK (version > 0)
);

create table prompts (
  id uuid not null,
  customer_id uuid not null,
  slug text not null,
  name text not null,
  description text,
  variables text[] not null,
  tags text[] not null,
  default_model text,
  version integer not null default 1,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  parameters jsonb not null default '{}'::jsonb,
  constraint prompts_customer_id_fkey FOREIGN KEY (customer_id) REFERENCES customers(id),
  constraint prompts_customer_id_slug_key UNIQUE (customer_id, slug),
  constraint prompts_name_check CHECK (length(name) >= 3 AND length(name) <= 120),
  constraint prompts_parameters_check CHECK (jsonb_typeof(parameters) = 'object'::text),
  constraint prompts_pkey PRIMARY KEY (id)
);
CREATE INDEX prompts_by_customer ON prompts USING btree (customer_id, updated_at DESC, id DESC);
CREATE TRIGGER refuse_deleted_customer BEFORE INSERT ON prompts FOR EACH ROW EXECUTE FUNCTION refuse_deleted_customer('customer_id');

create table public_bills (
  id uuid not null,
  token text not null,
  customer_id uuid not null,
  usage_event_id uuid,
  session_id text,
  proofs jsonb,
  created_at timestamptz not null default now(),
  constraint public_bills_check CHECK ((usage_event_id IS NULL) <> (session_id IS NULL)),
  constraint public_bills_customer_id_fkey FOREIGN KEY (customer_id) REFERENCES customers(id),
  constraint public_bills_customer_id_session_id_key UNIQUE (customer_id, session_id),
  constraint public_bills_customer_id_usage_event_id_key UNIQUE (customer_id, usage_event_id),
  constraint public_bills_pkey PRIMARY KEY (id),
  constraint public_bills_session_id_check CHECK (length(session_id) >= 1 AND length(session_id) <= 80),
  constraint public_bills_token_check CHECK (length(token) = 32),
  constraint public_bills_token_key UNIQUE (token)
);
CREATE INDEX public_bills_by_customer ON public_bills USING btree (customer_id, created_at DESC, id DESC);

create unlogged table rate_windows (
  subject text not null,
  window_at timestamptz not null,
  requests bigint not null,
  tokens bigint not null,
  constraint rate_windows_pkey PRIMARY KEY (subject)
) with (fillfactor=50, autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=5000);

create table reconciliation_discrepancies (
  id uuid not null,
  subject text not null,
  kind text not null,
  status text not null default 'open'::text,
  processor text,
  processor_payment_id text,
  top_up_id uuid,
  upstream_id text,
  day date,
  ours_nano_brl bigint,
  theirs_nano_brl bigint,
  ours_pico_usd bigint,
  theirs_pico_usd bigint,
  first_seen_at timestamptz not null default now(),
  opened_at timestamptz not null default now(),
  last_seen_at timestamptz not null default now(),
  resolved_at timestamptz,
  explanation text,
  explainer text,
  explained_at timestamptz,
  constraint reconciliation_discrepancies_check CHECK ((status = 'gone'::text) = (resolved_at IS NOT NULL)),
  constraint reconciliation_discrepancies_check1 CHECK ((explanation IS NULL) = (explainer IS NULL) AND (explanation IS NULL) = (explained_at IS NULL)),
  constraint reconciliation_discrepancies_check2 CHECK (status <> 'explained'::text OR explanation IS NOT NULL),
  constraint reconciliation_discrepancies_check3 CHECK ((kind = 'upstream_cost'::text) = (ours_nano_brl IS NULL)),
  constraint reconciliation_discrepancies_check4 CHECK ((ours_nano_brl IS NULL) = (theirs_nano_brl IS NULL)),
  constraint reconciliation_discrepancies_check5 CHECK ((ours_pico_usd IS NULL) = (theirs_pico_usd IS NULL)),
  constraint reconciliation_discrepancies_check6 CHECK ((ours_pico_usd IS NULL) <> (ours_nano_brl IS NULL)),
  constraint reconciliation_discrepancies_explainer_check CHECK (explainer = ANY (ARRAY['operator'::text, 'admin'::text])),
  constraint reconciliation_discrepancies_explanation_check CHECK (length(explanation) >= 3 AND length(explanation) <= 500),
  constraint reconciliation_discrepancies_kind_check CHECK (kind = ANY (ARRAY['payment_without_top_up'::text, 'paid_there_only'::text, 'paid_here_only'::text, 'amount_differs'::text, 'returned_differs'::text, 'paid_twice'::text, 'upstream_cost'::text])),
  constraint reconciliation_discrepancies_pkey PRIMARY KEY (id),
  constraint reconciliation_discrepancies_status_check CHECK (status = ANY (ARRAY['open'::text, 'explained'::text, 'gone'::text])),
  constraint reconciliation_discrepancies_subject_kind_key UNIQUE (subject, kind)
);
CREATE INDEX reconciliation_discrepancies_by_time ON reconciliation_discrepancies USING btree (last_seen_at DESC, id DESC);
CREATE INDEX reconciliation_discrepancies_unresolved ON reconciliation_discrepancies USING btree (status) WHERE status <> 'gone'::text;

create table reconciliation_runs (
  id uuid not null,
  processor text not null,
  from_day date not null,
  to_day date not null,
  started_at timestamptz not null default now(),
  finished_at timestamptz,
  failure text,
  payments integer not null default 0,
  top_ups integer not null default 0,
  mended integer not null default 0,
  constraint reconciliation_runs_check CHECK (finished_at IS NULL OR failure IS NULL),
  constraint reconciliation_runs_pkey PRIMARY KEY (id)
);
CREATE INDEX reconciliation_runs_by_time ON reconciliation_runs USING btree (processor, started_at DESC);

create table referrals (
  customer_id uuid not null,
  referrer_id uuid not null,
  created_at timestamptz not null default now(),
  rewarded_at timestamptz,
  reward_nano_brl bigint,
  taken_back_nano_brl bigint not null default 0,
  rewarded_tax_id_digest bytea,
  closed_at timestamptz,
  closed_reason text,
  constraint referrals_check CHECK (customer_id <> referrer_id),
  constraint referrals_check1 CHECK ((rewarded_at IS NULL) = (reward_nano_brl IS NULL)),
  constraint referrals_closed_check CHECK ((closed_at IS NULL) = (closed_reason IS NULL)),
  constraint referrals_closed_reason_check CHECK (closed_reason = ANY (ARRAY['no_reward'::text, 'account_deleted'::text, 'own_tax_id'::text, 'tax_id_rewarded'::text, 'top_up_returned'::text, 'taken_back'::text])),
  constraint referrals_customer_id_fkey FOREIGN KEY (customer_id) REFERENCES customers(id),
  constraint referrals_pkey PRIMARY KEY (customer_id),
  constraint referrals_referrer_id_fkey FOREIGN KEY (referrer_id) REFERENCES customers(id),
  constraint referrals_reward_nano_brl_check CHECK (reward_nano_brl > 0),
  constraint referrals_rewarded_tax_id_digest_key UNIQUE (rewarded_tax_id_digest),
  constraint referrals_taken_back_check CHECK (taken_back_nano_brl >= 0 AND taken_back_nano_brl <= COALESCE(reward_nano_brl, 0::bigint))
);
CREATE INDEX referrals_by_referrer ON referrals USING btree (referrer_id, created_at);
CREATE INDEX referrals_open ON referrals USING btree (customer_id) WHERE closed_at IS NULL;
CREATE TRIGGER refuse_deleted_customer BEFORE INSERT ON referrals FOR EACH ROW EXECUTE FUNCTION refuse_deleted_customer('customer_id');

create table refund_parts (
  refund_id uuid not null,
  top_up_id uuid not null,
  amount_nano_brl bigint not null,
  status text not null default 'waiting'::text,
  is_manual boolean not null default false,
  error text,
  tries integer not null default 0,
  due_at timestamptz not null default now(),
  constraint refund_parts_amount_nano_brl_check CHECK (amount_nano_brl > 0 AND (amount_nano_brl % 10000000::bigint) = 0),
  constraint refund_parts_pkey PRIMARY KEY (refund_id, top_up_id),
  constraint refund_parts_refund_id_fkey FOREIGN KEY (refund_id) REFERENCES refunds(id),
  constraint refund_parts_status_check CHECK (status = ANY (ARRAY['waiting'::text, 'sent'::text, 'done'::text, 'failed'::text, 'taken'::text])),
  constraint refund_parts_top_up_id_fkey FOREIGN KEY (top_up_id) REFERENCES top_ups(id)
);
CREATE INDEX refund_parts_by_top_up ON refund_parts USING btree (top_up_id);
CREATE INDEX refund_parts_open ON refund_parts USING btree (due_at) WHERE status = ANY (ARRAY['waiting'::text, 'sent'::text]);

create table refunds (
  id uuid not null,
  customer_id uuid not null,
  amount_nano_brl bigint not null,
  kind text not null,
  status text not null,
  reason text,
  decision_note text,
  created_at timestamptz not null default now(),
  decided_at timestamptz,
  ended_at timestamptz,
  constraint refunds_amount_nano_brl_check CHECK (amount_nano_brl > 0 AND (amount_nano_brl % 10000000::bigint) = 0),
  constraint refunds_customer_id_fkey FOREIGN KEY (customer_id) REFERENCES accounts(customer_id),
  constraint refunds_decision_note_check CHECK (length(decision_note) <= 500),
  constraint refunds_kind_check CHECK (kind = ANY (ARRAY['withdrawal'::text, 'request'::text])),
  constraint refunds_pkey PRIMARY KEY (id),
  constraint refunds_reason_check CHECK (length(reason) <= 500),
  constraint refunds_status_check CHECK (status = ANY (ARRAY['requested'::text, 'approved'::text, 'processing'::text, 'done'::text, 'rejected'::text, 'failed'::text]))
);
CREATE INDEX refunds_by_customer ON refunds USING btree (customer_id, created_at DESC, id DESC);
CREATE INDEX refunds_open ON refunds USING btree (created_at, id) WHERE status = ANY (ARRAY['requested'::text, 'approved'::text, 'processing'::text]);

create table sandbox_mails (
  id uuid not null,
  customer_id uuid,
  email text not null,
  subject text not null,
  list_unsubscribe text,
  text text not null,
  html text not null,
  created_at timestamptz not null default now(),
  constraint sandbox_mails_customer_id_fkey FOREIGN KEY (customer_id) REFERENCES customers(id),
  constraint sandbox_mails_pkey PRIMARY KEY (id)
);
CREATE INDEX sandbox_mails_by_time ON sandbox_mails USING btree (created_at DESC, id DESC);
CREATE TRIGGER refuse_deleted_customer BEFORE INSERT ON sandbox_mails FOR EACH ROW EXECUTE FUNCTION refuse_deleted_customer('customer_id');

create table service_pause (
  only_row boolean not null default true,
  reason text not null,
  paused_at timestamptz not null default now(),
  constraint service_pause_only_row_check CHECK (only_row),
  constraint service_pause_pkey PRIMARY KEY (only_row)
);
CREATE TRIGGER notify_catalog_changed AFTER INSERT OR DELETE OR UPDATE ON service_pause FOR EACH STATEMENT EXECUTE FUNCTION notify_catalog_changed();

create table shield_counts (
  customer_id uuid not null,
  api_key_id uuid not null,
  day date not null,
  action text not null,
  kind text not null,
  occurrences bigint not null,
  constraint shield_counts_action_check CHECK (action = ANY (ARRAY['mask'::text, 'block'::text])),
  constraint shield_counts_api_key_id_fkey FOREIGN KEY (api_key_id) REFERENCES api_keys(id),
  constraint shield_counts_customer_id_fkey FOREIGN KEY (customer_id) REFERENCES customers(id),
  constraint shield_counts_occurrences_check CHECK (occurrences > 0),
  constraint shield_counts_pkey PRIMARY KEY (customer_id, day, api_key_id, action, kind)
);
CREATE TRIGGER refuse_deleted_customer BEFORE INSERT ON shield_counts FOR EACH ROW EXECUTE FUNCTION refuse_deleted_customer('customer_id');

create table sign_in_accounts (
  id uuid not null,
  user_id uuid not null,
  provider_id text not null,
  provider_account text not null,
  password text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  constraint sign_in_accounts_pkey PRIMARY KEY (id),
  constraint sign_in_accounts_user_id_fkey FOREIGN KEY (user_id) REFERENCES sign_in_users(id) ON DELETE CASCADE,
  constraint sign_in_accounts_user_id_provider_id_key UNIQUE (user_id, provider_id)
);
CREATE UNIQUE INDEX sign_in_accounts_of_providers ON sign_in_accounts USING btree (provider_id, provider_account);

create table sign_in_attempts (
  key_hash bytea not null,
  tries integer not null,
  ends_at timestamptz not null,
  constraint sign_in_attempts_key_hash_check CHECK (length(key_hash) = 32),
  constraint sign_in_attempts_pkey PRIMARY KEY (key_hash)
);
CREATE INDEX sign_in_attempts_by_end ON sign_in_attempts USING btree (ends_at);

create table sign_in_backup_codes (
  user_id uuid not null,
  code_hash bytea not null,
  constraint sign_in_backup_codes_code_hash_check CHECK (length(code_hash) = 32),
  constraint sign_in_backup_codes_pkey PRIMARY KEY (user_id, code_hash),
  constraint sign_in_backup_codes_user_id_fkey FOREIGN KEY (user_id) REFERENCES sign_in_second_factors(user_id) ON DELETE CASCADE
);

create table sign_in_passkeys (
  id uuid not null,
  user_id uuid not null,
  name text not null,
  public_key text not null,
  credential_id text not null,
  counter double precision not null,
  device_type text not null,
  is_backed_up boolean not null,
  transports text,
  aaguid text,
  created_at timestamptz not null default now(),
  constraint sign_in_passkeys_credential_id_key UNIQUE (credential_id),
  constraint sign_in_passkeys_name_check CHECK (length(name) >= 1 AND length(name) <= 100),
  constraint sign_in_passkeys_pkey PRIMARY KEY (id),
  constraint sign_in_passkeys_user_id_fkey FOREIGN KEY (user_id) REFERENCES sign_in_users(id) ON DELETE CASCADE
);
CREATE INDEX sign_in_passkeys_by_user ON sign_in_passkeys USING btree (user_id, created_at);

create table sign_in_second_factors (
  id uuid not null,
  user_id uuid not null,
  secret_sealed bytea not null,
  enabled_at timestamptz,
  last_step bigint not null default 0,
  created_at timestamptz not null default now(),
  reset_requested_by uuid,
  reset_requested_at timestamptz,
  reset_reason text,
  constraint sign_in_second_factors_check CHECK ((reset_requested_by IS NULL) = (reset_requested_at IS NULL) AND (reset_requested_by IS NULL) = (reset_reason IS NULL)),
  constraint sign_in_second_factors_pkey PRIMARY KEY (id),
  constraint sign_in_second_factors_reset_requested_by_fkey FOREIGN KEY (reset_requested_by) REFERENCES customers(id),
  constraint sign_in_second_factors_user_id_fkey FOREIGN KEY (user_id) REFERENCES sign_in_users(id) ON DELETE CASCADE,
  constraint sign_in_second_factors_user_id_key UNIQUE (user_id)
);
CREATE INDEX sign_in_second_factors_to_reset ON sign_in_second_factors USING btree (reset_requested_at) WHERE reset_requested_at IS NOT NULL;

create table sign_in_sessions (
  id uuid not null,
  user_id uuid not null,
  token text not null,
  expires_at timestamptz not null,
  ip text,
  user_agent text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  awaits_factor boolean not null default false,
  proved_at timestamptz not null default now(),
  factor_at timestamptz,
  constraint sign_in_sessions_pkey PRIMARY KEY (id),
  constraint sign_in_sessions_token_key UNIQUE (token),
  constraint sign_in_sessions_user_agent_check CHECK (length(user_agent) <= 400),
  constraint sign_in_sessions_user_id_fkey FOREIGN KEY (user_id) REFERENCES sign_in_users(id) ON DELETE CASCADE
);
CREATE INDEX sign_in_sessions_by_end ON sign_in_sessions USING btree (expires_at);
CREATE INDEX sign_in_sessions_by_user ON sign_in_sessions USING btree (user_id, created_at DESC);

create table sign_in_users (
  id uuid not null,
  email text not null,
  is_verified boolean not null default false,
  name text not null,
  image text,
  referral_code text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  accepted_terms text,
  constraint sign_in_users_email_check CHECK (email = lower(email)),
  constraint sign_in_users_email_key UNIQUE (email),
  constraint sign_in_users_image_check CHECK (image IS NULL),
  constraint sign_in_users_name_check CHECK (length(name) <= 200),
  constraint sign_in_users_pkey PRIMARY KEY (id),
  constraint sign_in_users_referral_code_check CHECK (length(referral_code) <= 40)
);
CREATE INDEX sign_in_users_unverified ON sign_in_users USING btree (created_at) WHERE NOT is_verified;

create table sign_in_verifications (
  id text not null,
  identifier text not null,
  value text not null,
  expires_at timestamptz not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  constraint sign_in_verifications_identifier_key UNIQUE (identifier),
  constraint sign_in_verifications_pkey PRIMARY KEY (id)
);
CREATE INDEX sign_in_verifications_by_end ON sign_in_verifications USING btree (expires_at);

create table stored_response_sums (
  customer_id uuid not null,
  responses bigint not null,
  bytes bigint not null,
  constraint stored_response_sums_customer_id_fkey FOREIGN KEY (customer_id) REFERENCES customers(id),
  constraint stored_response_sums_pkey PRIMARY KEY (customer_id)
);

create table stored_responses (
  id uuid not null,
  customer_id uuid not null,
  api_key_id uuid not null,
  previous_id uuid,
  is_failed boolean not null,
  input_bytes integer not null,
  response_bytes integer not null,
  input_sealed bytea storage external not null,
  response_sealed bytea storage external not null,
  created_at timestamptz not null default now(),
  place bigint not null default 0,
  bytes_before bigint not null default 0,
  constraint stored_responses_api_key_id_fkey FOREIGN KEY (api_key_id) REFERENCES api_keys(id),
  constraint stored_responses_customer_id_fkey FOREIGN KEY (customer_id) REFERENCES customers(id),
  constraint stored_responses_input_bytes_check CHECK (input_bytes > 0),
  constraint stored_responses_pkey PRIMARY KEY (id),
  constraint stored_responses_response_bytes_check CHECK (response_bytes > 0)
);
CREATE INDEX stored_responses_by_bytes ON stored_responses USING btree (customer_id, bytes_before);
CREATE INDEX stored_responses_by_place ON stored_responses USING btree (customer_id, place);
CREATE INDEX stored_responses_by_time ON stored_responses USING btree (customer_id, created_at, id);

create table task_spends (
  api_key_id uuid not null,
  session_id text collate "C" not null,
  customer_id uuid not null,
  limit_nano_brl bigint not null,
  spent_nano_brl bigint not null default 0,
  held_nano_brl bigint not null default 0,
  spent_since timestamptz not null default clock_timestamp(),
  last_held_at timestamptz not null default clock_timestamp(),
  overdrawn_nano_brl bigint not null default 0,
  constraint task_spends_api_key_id_fkey FOREIGN KEY (api_key_id) REFERENCES api_keys(id),
  constraint task_spends_customer_id_fkey FOREIGN KEY (customer_id) REFERENCES customers(id),
  constraint task_spends_held_nano_brl_check CHECK (held_nano_brl >= 0),
  constraint task_spends_limit_nano_brl_check CHECK (limit_nano_brl >= 0),
  constraint task_spends_overdrawn_nano_brl_check CHECK (overdrawn_nano_brl >= 0),
  constraint task_spends_pkey PRIMARY KEY (api_key_id, session_id),
  constraint task_spends_spent_nano_brl_check CHECK (spent_nano_brl >= 0)
) with (fillfactor=60);
CREATE INDEX task_spends_by_customer ON task_spends USING btree (customer_id);
CREATE TRIGGER note_overdraft BEFORE UPDATE ON task_spends FOR EACH ROW EXECUTE FUNCTION note_task_overdraft();

create table team_budgets (
  team_id uuid not null,
  timezone text not null,
  limit_nano_brl bigint,
  period_started_at timestamptz not null default '-infinity'::timestamptz,
  spent_nano_brl bigint not null default 0,
  held_nano_brl bigint not null default 0,
  spent_since timestamptz not null default clock_timestamp(),
  spent_before_nano_brl bigint not null default 0,
  overdrawn_nano_brl bigint not null default 0,
  constraint team_budgets_held_nano_brl_check CHECK (held_nano_brl >= 0),
  constraint team_budgets_limit_nano_brl_check CHECK (limit_nano_brl >= 0),
  constraint team_budgets_overdrawn_nano_brl_check CHECK (overdrawn_nano_brl >= 0),
  constraint team_budgets_pkey PRIMARY KEY (team_id),
  constraint team_budgets_spent_nano_brl_check CHECK (spent_nano_brl >= 0),
  constraint team_budgets_team_id_fkey FOREIGN KEY (team_id) REFERENCES teams(id)
) with (fillfactor=60);
CREATE TRIGGER note_overdraft BEFORE INSERT OR UPDATE ON team_budgets FOR EACH ROW EXECUTE FUNCTION note_cap_overdraft();

create table team_invitations (
  id uuid not null,
  team_id uuid not null,
  email text not null,
  role text not null,
  token_hash bytea not null,
  invited_by uuid not null,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  accepted_at timestamptz,
  revoked_at timestamptz,
  constraint team_invitations_invited_by_fkey FOREIGN KEY (invited_by) REFERENCES customers(id),
  constraint team_invitations_pkey PRIMARY KEY (id),
  constraint team_invitations_role_check CHECK (role = ANY (ARRAY['admin'::text, 'member'::text])),
  constraint team_invitations_team_id_fkey FOREIGN KEY (team_id) REFERENCES teams(id),
  constraint team_invitations_token_hash_key UNIQUE (token_hash)
);
CREATE INDEX team_invitations_by_email ON team_invitations USING btree (email);
CREATE INDEX team_invitations_by_inviter ON team_invitations USING btree (invited_by);
CREATE INDEX team_invitations_by_team ON team_invitations USING btree (team_id, created_at);
CREATE INDEX team_invitations_open ON team_invitations USING btree (email, created_at) WHERE accepted_at IS NULL AND revoked_at IS NULL;
CREATE TRIGGER refuse_deleted_customer BEFORE INSERT ON team_invitations FOR EACH ROW EXECUTE FUNCTION refuse_deleted_customer('invited_by');

create table team_members (
  team_id uuid not null,
  customer_id uuid not null,
  role text not null,
  joined_at timestamptz not null default now(),
  constraint team_members_customer_id_fkey FOREIGN KEY (customer_id) REFERENCES customers(id),
  constraint team_members_pkey PRIMARY KEY (team_id, customer_id),
  constraint team_members_role_check CHECK (role = ANY (ARRAY['admin'::text, 'member'::text])),
  constraint team_members_team_id_fkey FOREIGN KEY (team_id) REFERENCES teams(id)
);
CREATE INDEX team_members_by_customer ON team_members USING btree (customer_id, joined_at);
CREATE TRIGGER refuse_deleted_customer BEFORE INSERT ON team_members FOR EACH ROW EXECUTE FUNCTION refuse_deleted_customer('customer_id');

create table teams (
  id uuid not null,
  customer_id uuid not null,
  name text not null,
  created_at timestamptz not null default now(),
  deleted_at timestamptz,
  constraint teams_customer_id_fkey FOREIGN KEY (customer_id) REFERENCES customers(id),
  constraint teams_name_check CHECK (length(name) >= 3 AND length(name) <= 50),
  constraint teams_pkey PRIMARY KEY (id)
);
CREATE INDEX teams_by_customer ON teams USING btree (customer_id, created_at);
CREATE TRIGGER refuse_deleted_customer BEFORE INSERT ON teams FOR EACH ROW EXECUTE FUNCTION refuse_deleted_customer('customer_id');

create table top_ups (
  id uuid not null,
  customer_id uuid not null,
  amount_nano_brl bigint not null,
  method text not null,
  status top_up_status not null default 'pending'::top_up_status,
  processor text not null,
  processor_payment_id text,
  pix_payload text,
  pix_qr_code_base64 text,
  boleto_url text,
  boleto_line text,
  page_url text,
  expires_at timestamptz,
  created_at timestamptz not null default now(),
  paid_at timestamptz,
  returned_nano_brl bigint not null default 0,
  checked_at timestamptz not null default now(),
  refunding_nano_brl bigint not null default 0,
  payment_method_id uuid,
  card_brand text,
  card_last_four text,
  was_in_review boolean not null default false,
  is_automatic boolean not null default false,
  constraint top_ups_amount_nano_brl_check CHECK (amount_nano_brl > 0 AND (amount_nano_brl % 10000000::bigint) = 0),
  constraint top_ups_check CHECK (returned_nano_brl >= 0 AND returned_nano_brl <=
CASE
    WHEN paid_at IS NULL THEN 0::bigint
    ELSE amount_nano_brl
END),
  constraint top_ups_check1 CHECK (refunding_nano_brl >= 0 AND (returned_nano_brl + refunding_nano_brl) <= amount_nano_brl),
  constraint top_ups_check2 CHECK (paid_at IS NOT NULL OR refunding_nano_brl = 0),
  constraint top_ups_check3 CHECK ((method = 'card'::text) = (card_last_four IS NOT NULL)),
  constraint top_ups_check4 CHECK (method = 'card'::text OR NOT is_automatic),
  constraint top_ups_customer_id_fkey FOREIGN KEY (customer_id) REFERENCES accounts(customer_id),
  constraint top_ups_method_check CHECK (method = ANY (ARRAY['pix'::text, 'boleto'::text, 'card'::text])),
  constraint top_ups_pkey PRIMARY KEY (id),
  constraint top_ups_processor_processor_payment_id_key UNIQUE (processor, processor_payment_id)
);
CREATE INDEX top_ups_automatic ON top_ups USING btree (customer_id, created_at) WHERE is_automatic;
CREATE UNIQUE INDEX top_ups_automatic_pending ON top_ups USING btree (customer_id) WHERE is_automatic AND status = 'pending'::top_up_status;
CREATE INDEX top_ups_by_customer ON top_ups USING btree (customer_id, created_at DESC, id DESC);
CREATE INDEX top_ups_by_payment ON top_ups USING btree (processor_payment_id) WHERE processor_payment_id IS NOT NULL;
CREATE INDEX top_ups_by_payment_time ON top_ups USING btree (paid_at) WHERE paid_at IS NOT NULL;
CREATE INDEX top_ups_paid_unchecked ON top_ups USING btree (checked_at) WHERE paid_at IS NOT NULL AND (status = ANY (ARRAY['paid'::top_up_status, 'refund_pending'::top_up_status, 'partially_refunded'::top_up_status]));
CREATE INDEX top_ups_reversed ON top_ups USING btree (customer_id) WHERE status = ANY (ARRAY['chargeback'::top_up_status, 'refunded'::top_up_status]);
CREATE INDEX top_ups_unpaid ON top_ups USING btree (checked_at) WHERE paid_at IS NULL AND (status = ANY (ARRAY['pending'::top_up_status, 'expired'::top_up_status]));
CREATE TRIGGER limit_card_charges BEFORE INSERT ON top_ups FOR EACH ROW WHEN (new.method = 'card'::text) EXECUTE FUNCTION limit_card_charges();
CREATE TRIGGER refuse_deleted_customer BEFORE INSERT ON top_ups FOR EACH ROW EXECUTE FUNCTION refuse_deleted_customer('customer_id');

create table trial_credits (
  customer_id uuid not null,
  amount_nano_brl bigint not null,
  tax_id_digest bytea not null,
  mailbox_digest bytea not null,
  device_digest bytea,
  network_digest bytea not null,
  granted_at timestamptz not null default now(),
  constraint trial_credits_amount_nano_brl_check CHECK (amount_nano_brl > 0),
  constraint trial_credits_device_digest_key UNIQUE (device_digest),
  constraint trial_credits_mailbox_digest_key UNIQUE (mailbox_digest),
  constraint trial_credits_pkey PRIMARY KEY (customer_id),
  constraint trial_credits_tax_id_digest_key UNIQUE (tax_id_digest)
);
CREATE INDEX trial_credits_by_time ON trial_credits USING btree (granted_at);

create table upstream_cost_days (
  upstream_id text not null,
  day date not null,
  ours_pico_usd bigint not null,
  theirs_pico_usd bigint not null,
  compared_at timestamptz not null default now(),
  constraint upstream_cost_days_pkey PRIMARY KEY (upstream_id, day)
);
CREATE INDEX upstream_cost_days_by_day ON upstream_cost_days USING btree (day);

create table upstream_costs (
  upstream_id text not null,
  day date not null,
  model text not null default ''::text,
  cost_pico_usd bigint not null,
  imported_at timestamptz not null default now(),
  constraint upstream_costs_pkey PRIMARY KEY (upstream_id, day, model)
);

create table upstream_health_hours (
  hour_at timestamptz not null,
  upstream_id text not null,
  vendor text not null,
  ok_count sample_count not null,
  failed_count sample_count not null,
  latency_counts latency_counts not null,
  constraint upstream_health_hours_pkey PRIMARY KEY (hour_at, upstream_id, vendor)
) with (fillfactor=50);

create table upstream_models (
  upstream_id text not null,
  models jsonb not null,
  read_at timestamptz not null,
  constraint upstream_models_pkey PRIMARY KEY (upstream_id)
);
CREATE TRIGGER notify_catalog_changed AFTER INSERT OR UPDATE ON upstream_models FOR EACH STATEMENT EXECUTE FUNCTION notify_catalog_changed();

create table upstreams (
  id uuid not null,
  upstream_id text not null,
  kind text not null,
  base_url text,
  key_sealed bytea,
  key_end text,
  state text not null default 'active'::text,
  created_at timestamptz not null default now(),
  constraint upstreams_check CHECK (state <> 'deleted'::text OR key_sealed IS NULL AND key_end IS NULL),
  constraint upstreams_pkey PRIMARY KEY (id),
  constraint upstreams_state_check CHECK (state = ANY (ARRAY['active'::text, 'draining'::text, 'paused'::text, 'deleted'::text])),
  constraint upstreams_upstream_id_key UNIQUE (upstream_id)
);
CREATE TRIGGER notify_catalog_changed AFTER INSERT OR DELETE OR UPDATE ON upstreams FOR EACH STATEMENT EXECUTE FUNCTION notify_catalog_changed();

create table usage_days (
  customer_id uuid not null,
  day_at timestamptz not null,
  api_key_id uuid not null,
  model_id text not null,
  charged_requests bigint not null,
  released_requests bigint not null,
  prompt_tokens bigint not null,
  completion_tokens bigint not null,
  cost_upstream_pico_usd bigint not null,
  cost_billed_nano_brl bigint not null,
  constraint usage_days_pkey PRIMARY KEY (customer_id, day_at, api_key_id, model_id)
);

create table usage_destinations (
  id uuid not null,
  customer_id uuid not null,
  kind text not null,
  url text not null,
  secret_sealed bytea not null,
  public_key text,
  header_names text[] not null,
  includes_content boolean not null,
  created_at timestamptz not null default now(),
  disabled_at timestamptz,
  disabled_reason text,
  sent_until timestamptz not null default clock_timestamp(),
  sent_id uuid not null default '00000000-0000-0000-0000-000000000000'::uuid,
  due_at timestamptz not null default now(),
  tries integer not null default 0,
  failures integer not null default 0,
  failing_since timestamptz,
  latency_ms integer,
  last_success_at timestamptz,
  last_failed_at timestamptz,
  last_error text,
  last_http_status integer,
  last_answer text,
  sent bigint not null default 0,
  rejected bigint not null default 0,
  given_up bigint not null default 0,
  test_asked_at timestamptz,
  tested_at timestamptz,
  test_error text,
  constraint usage_destinations_check CHECK ((disabled_at IS NULL) = (disabled_reason IS NULL)),
  constraint usage_destinations_customer_id_fkey FOREIGN KEY (customer_id) REFERENCES customers(id),
  constraint usage_destinations_disabled_reason_check CHECK (disabled_reason = ANY (ARRAY['customer'::text, 'failing'::text])),
  constraint usage_destinations_kind_check CHECK (kind = ANY (ARRAY['langfuse'::text, 'otlp'::text])),
  constraint usage_destinations_pkey PRIMARY KEY (id)
) with (fillfactor=60);
CREATE INDEX usage_destinations_by_customer ON usage_destinations USING btree (customer_id, created_at);
CREATE INDEX usage_destinations_due ON usage_destinations USING btree (due_at, id) WHERE disabled_at IS NULL;
CREATE TRIGGER refuse_deleted_customer BEFORE INSERT ON usage_destinations FOR EACH ROW EXECUTE FUNCTION refuse_deleted_customer('customer_id');

create table usage_events (
  id uuid not null,
  customer_id uuid not null,
  api_key_id uuid not null,
  request_id uuid not null,
  session_id text,
  model_id text not null,
  upstream_id text,
  is_stream boolean not null,
  outcome call_outcome not null,
  reason text,
  usage_kind usage_kind not null,
  prompt_tokens integer not null,
  cached_tokens integer not null,
  cache_write_tokens integer not null,
  completion_tokens integer not null,
  reasoning_tokens integer not null,
  held_nano_brl nano_brl not null,
  cost_upstream_pico_usd bigint not null,
  cost_billed_nano_brl bigint not null,
  price_id integer not null,
  fx_rate_id integer not null,
  fx_rate_e4 integer not null,
  markup_e4 integer not null,
  first_byte_ms integer,
  duration_ms integer,
  created_at timestamptz not null,
  settled_at timestamptz not null,
  units jsonb,
  attempts jsonb,
  team_id uuid,
  corrects_id uuid,
  in_budget boolean not null default false,
  in_cap boolean not null default true,
  in_caps smallint not null default 0,
  held_price_id integer,
  constraint usage_events_pkey PRIMARY KEY (id, created_at)
) partition by RANGE (created_at);
CREATE INDEX usage_events_by_corrected ON ONLY usage_events USING btree (corrects_id) WHERE corrects_id IS NOT NULL;
CREATE INDEX usage_events_by_customer ON ONLY usage_events USING btree (customer_id, created_at DESC, id DESC);
CREATE INDEX usage_events_by_session ON ONLY usage_events USING btree (customer_id, session_id, created_at, id) WHERE session_id IS NOT NULL;
CREATE INDEX usage_events_by_settlement ON ONLY usage_events USING brin (settled_at) WITH (autosummarize='on');
CREATE INDEX usage_events_by_time ON ONLY usage_events USING brin (created_at) WITH (autosummarize='on');

create table usage_hours (
  customer_id uuid not null,
  hour_at timestamptz not null,
  api_key_id uuid not null,
  model_id text not null,
  charged_requests bigint not null,
  released_requests bigint not null,
  prompt_tokens bigint not null,
  completion_tokens bigint not null,
  cost_upstream_pico_usd bigint not null,
  cost_billed_nano_brl bigint not null,
  constraint usage_hours_pkey PRIMARY KEY (customer_id, hour_at, api_key_id, model_id)
) with (fillfactor=50);

create table usage_refusals (
  customer_id uuid not null,
  hour_at timestamptz not null,
  id uuid not null default gen_random_uuid(),
  api_key_id uuid,
  model_id text,
  code text not null,
  status smallint not null,
  refusals bigint not null,
  first_at timestamptz not null,
  last_at timestamptz not null,
  constraint usage_refusals_api_key_id_fkey FOREIGN KEY (api_key_id) REFERENCES api_keys(id),
  constraint usage_refusals_counted UNIQUE NULLS NOT DISTINCT (customer_id, hour_at, api_key_id, model_id, code, status),
  constraint usage_refusals_customer_id_fkey FOREIGN KEY (customer_id) REFERENCES customers(id),
  constraint usage_refusals_pkey PRIMARY KEY (customer_id, hour_at, id),
  constraint usage_refusals_refusals_check CHECK (refusals > 0)
);
CREATE INDEX usage_refusals_by_hour ON usage_refusals USING brin (hour_at);
CREATE TRIGGER refuse_deleted_customer BEFORE INSERT ON usage_refusals FOR EACH ROW EXECUTE FUNCTION refuse_deleted_customer('customer_id');

create table usage_sessions (
  customer_id uuid not null,
  session_id text collate "C" not null,
  requests bigint not null,
  prompt_tokens bigint not null,
  completion_tokens bigint not null,
  cost_billed_nano_brl bigint not null,
  model_ids text[] not null,
  first_request_at timestamptz not null,
  last_request_at timestamptz not null,
  constraint usage_sessions_pkey PRIMARY KEY (customer_id, session_id)
) with (fillfactor=60);
CREATE INDEX usage_sessions_by_time ON usage_sessions USING btree (customer_id, last_request_at DESC, session_id DESC);

create table videos (
  id uuid not null,
  customer_id uuid not null,
  api_key_id uuid not null,
  model_id text not null,
  upstream_id text not null,
  upstream_job text not null,
  price_id integer not null,
  unit text not null,
  seconds integer not null,
  size text,
  status text not null default 'queued'::text,
  progress smallint not null default 0,
  error_code text,
  created_at timestamptz not null default now(),
  completed_at timestamptz,
  due_at timestamptz,
  tries integer not null default 0,
  constraint videos_api_key_id_fkey FOREIGN KEY (api_key_id) REFERENCES api_keys(id),
  constraint videos_check CHECK ((due_at IS NULL) = (completed_at IS NOT NULL)),
  constraint videos_check1 CHECK ((completed_at IS NULL) = (status = ANY (ARRAY['queued'::text, 'in_progress'::text]))),
  constraint videos_customer_id_fkey FOREIGN KEY (customer_id) REFERENCES customers(id),
  constraint videos_pkey PRIMARY KEY (id),
  constraint videos_progress_check CHECK (progress >= 0 AND progress <= 100),
  constraint videos_seconds_check CHECK (seconds > 0),
  constraint videos_status_check CHECK (status = ANY (ARRAY['queued'::text, 'in_progress'::text, 'completed'::text, 'failed'::text]))
);
CREATE INDEX videos_by_customer ON videos USING btree (customer_id, id);
CREATE INDEX videos_by_end ON videos USING btree (completed_at) WHERE completed_at IS NOT NULL;
CREATE INDEX videos_due ON videos USING btree (due_at) WHERE due_at IS NOT NULL;
CREATE TRIGGER refuse_deleted_customer BEFORE INSERT ON videos FOR EACH ROW EXECUTE FUNCTION refuse_deleted_customer('customer_id');

create table webhook_attempts (
  id uuid not null,
  endpoint_id uuid not null,
  customer_id uuid not null,
  message_id uuid not null,
  event_type text not null,
  body text not null,
  try_number integer not null default 1,
  is_replay boolean not null default false,
  first_failed_at timestamptz,
  status text not null default 'queued'::text,
  due_at timestamptz not null default now(),
  lease_id uuid,
  leased_until timestamptz,
  http_status integer,
  latency_ms integer,
  response_head text,
  error text,
  created_at timestamptz not null default now(),
  finished_at timestamptz,
  constraint webhook_attempts_body_check CHECK (octet_length(body) < 20000),
  constraint webhook_attempts_check CHECK ((status = 'running'::text) = (lease_id IS NOT NULL AND leased_until IS NOT NULL)),
  constraint webhook_attempts_check1 CHECK ((status = ANY (ARRAY['delivered'::text, 'failed'::text])) = (finished_at IS NOT NULL)),
  constraint webhook_attempts_customer_id_fkey FOREIGN KEY (customer_id) REFERENCES customers(id),
  constraint webhook_attempts_endpoint_id_fkey FOREIGN KEY (endpoint_id) REFERENCES webhook_endpoints(id),
  constraint webhook_attempts_pkey PRIMARY KEY (id),
  constraint webhook_attempts_response_head_check CHECK (octet_length(response_head) <= 2048),
  constraint webhook_attempts_status_check CHECK (status = ANY (ARRAY['queued'::text, 'running'::text, 'delivered'::text, 'failed'::text])),
  constraint webhook_attempts_try_number_check CHECK (try_number > 0)
);
CREATE INDEX webhook_attempts_by_customer ON webhook_attempts USING btree (customer_id, created_at DESC, id DESC);
CREATE INDEX webhook_attempts_by_endpoint ON webhook_attempts USING btree (endpoint_id, created_at DESC, id DESC);
CREATE INDEX webhook_attempts_by_time ON webhook_attempts USING btree (created_at);
CREATE INDEX webhook_attempts_due ON webhook_attempts USING btree (due_at) WHERE status = 'queued'::text;
CREATE INDEX webhook_attempts_running ON webhook_attempts USING btree (leased_until, endpoint_id, customer_id) WHERE status = 'running'::text;
CREATE INDEX webhook_attempts_waiting ON webhook_attempts USING btree (endpoint_id, due_at, id) WHERE status = 'queued'::text;
CREATE TRIGGER refuse_deleted_customer BEFORE INSERT ON webhook_attempts FOR EACH ROW EXECUTE FUNCTION refuse_deleted_customer('customer_id');

create table webhook_endpoints (
  id uuid not null,
  customer_id uuid not null,
  url text not null,
  description text,
  event_types text[],
  secret_sealed bytea,
  created_at timestamptz not null default now(),
  disabled_at timestamptz,
  disabled_reason text,
  failing_since timestamptz,
  deleted_at timestamptz,
  constraint webhook_endpoints_check CHECK ((disabled_at IS NULL) = (disabled_reason IS NULL)),
  constraint webhook_endpoints_check1 CHECK ((deleted_at IS NULL) = (secret_sealed IS NOT NULL)),
  constraint webhook_endpoints_customer_id_fkey FOREIGN KEY (customer_id) REFERENCES customers(id),
  constraint webhook_endpoints_disabled_reason_check CHECK (disabled_reason = ANY (ARRAY['customer'::text, 'gone'::text, 'failing'::text])),
  constraint webhook_endpoints_pkey PRIMARY KEY (id),
  constraint webhook_endpoints_url_check CHECK (length(url) >= 1 AND length(url) <= 2000)
);
CREATE INDEX webhook_endpoints_by_customer ON webhook_endpoints USING btree (customer_id, created_at, id);
CREATE INDEX webhook_endpoints_deleted ON webhook_endpoints USING btree (deleted_at) WHERE deleted_at IS NOT NULL;
CREATE INDEX webhook_endpoints_failing ON webhook_endpoints USING btree (COALESCE(disabled_at, failing_since) DESC, id DESC) WHERE deleted_at IS NULL AND ((disabled_reason = ANY (ARRAY['gone'::text, 'failing'::text])) OR failing_since IS NOT NULL);
CREATE TRIGGER refuse_deleted_customer BEFORE INSERT ON webhook_endpoints FOR EACH ROW EXECUTE FUNCTION refuse_deleted_customer('customer_id');

create type cap_room as (
  cap text,
  limit_nano_brl bigint,
  left_nano_brl bigint,
  until timestamptz
);

create type closed_holds as (
  customer_id uuid,
  api_key_id uuid,
  team_id uuid,
  model_id text,
  hour_at timestamptz,
  tokens_window_at timestamptz,
  calls integer,
  charged integer,
  prompt_tokens bigint,
  completion_tokens bigint,
  cost bigint,
  billed bigint,
  held bigint,
  budget_held bigint,
  budget_spent bigint,
  tokens_more bigint,
  session_uses session_use[],
  overrun bigint,
  overrun_ids uuid[],
  in_caps smallint,
  task_session_id text
);

create type key_room as (
  api_key_id uuid,
  version integer,
  team_id uuid,
  team_left bigint,
  budget_left bigint,
  has_caps boolean,
  minute_limit bigint,
  minute_left bigint,
  minute_until timestamptz,
  day_limit bigint,
  day_left bigint,
  day_until timestamptz
);

create type ledger_attempt as (
  id uuid,
  is_repeated boolean,
  customer_id uuid,
  api_key_id uuid,
  key_version integer,
  key_place integer,
  key_offset integer,
  ip_place integer,
  ip_offset integer,
  requests_per_minute bigint,
  ip_requests_per_minute bigint,
  tokens_per_minute bigint,
  request_id uuid,
  session_id text,
  model_id text,
  is_stream boolean,
  amount_nano_brl bigint,
  budget_pico_usd bigint,
  price_id integer,
  fx_rate_id integer,
  fx_rate_e4 integer,
  markup_e4 integer,
  prompt_tokens_estimated integer,
  tokens_counted bigint,
  task_limit_nano_brl bigint
);

create type ledger_checkpoint as (
  id uuid,
  output_tokens_seen integer
);

create type ledger_resolution as (
  id uuid,
  outcome call_outcome,
  reason text,
  upstream_id text,
  usage_kind usage_kind,
  prompt_tokens integer,
  cached_tokens integer,
  cache_write_tokens integer,
  completion_tokens integer,
  reasoning_tokens integer,
  cost_pico_usd bigint,
  billed_nano_brl bigint,
  billed_pico_usd bigint,
  first_byte_ms integer,
  duration_ms integer,
  answered_price_id integer,
  units jsonb,
  attempts jsonb,
  customer_id uuid,
  is_final boolean
);

create type session_use as (
  session_id text,
  model_id text,
  prompt_tokens integer,
  completion_tokens integer,
  billed_nano_brl bigint,
  at timestamptz,
  requests integer
);

create type window_tokens as (
  subject text,
  window_at timestamptz,
  tokens_more bigint
);

-- src/customers/sql/refuse-deleted-customer.sql: refuse_deleted_customer() returns trigger set search_path=functions, public
-- src/money/catalog/sql/notify-catalog-changed.sql: notify_catalog_changed() returns trigger set search_path=functions, public
-- src/money/fx/sql/digest-fx-rate.sql: digest_fx_rate() returns trigger set search_path=functions, public
-- src/money/ledger/sql/balance-events.sql: emit_balance_turned(p_customer_id uuid, p_balance bigint) returns void
-- src/money/ledger/sql/balance-events.sql: emit_balance_turned_by_entry() returns trigger set search_path=functions, public
-- src/money/ledger/sql/batch.sql: ledger_batch(p_node_id uuid, p_customer_ids uuid[], p_resolutions ledger_resolution[], p_checkpoints ledger_checkpoint[], p_subjects text[], p_subject_requests bigint[], p_attempts ledger_attempt[], p_commits_asynchronously boolean, p_skip_locked boolean) returns text
-- src/money/ledger/sql/budgets.sql: budget_period_start(period text, timezone text) returns timestamptz
-- src/money/ledger/sql/budgets.sql: budget_period_start(period text, timezone text, p_at timestamptz) returns timestamptz
-- src/money/ledger/sql/budgets.sql: cap_bit(period text) returns smallint
-- src/money/ledger/sql/budgets.sql: cap_period_end(period text, timezone text, p_at timestamptz) returns timestamptz
-- src/money/ledger/sql/budgets.sql: first_instant(local timestamp without time zone, timezone text) returns timestamptz
-- src/money/ledger/sql/budgets.sql: limits_of(p_id uuid) returns jsonb
-- src/money/ledger/sql/budgets.sql: note_budget() returns trigger set search_path=functions, public
-- src/money/ledger/sql/budgets.sql: note_cap() returns trigger set search_path=functions, public
-- src/money/ledger/sql/checkpoint.sql: checkpoint_holds(p_checkpoints ledger_checkpoint[]) returns text
-- src/money/ledger/sql/correct.sql: add_correction_event(e usage_events, p_requests integer) returns void
-- src/money/ledger/sql/correct.sql: resolve_again(r ledger_resolution) returns text
-- src/money/ledger/sql/debts.sql: note_debt(p_customer_id uuid, p_before bigint, p_after bigint, p_cause text, p_hold_ids uuid[]) returns void
-- src/money/ledger/sql/debts.sql: note_debt_of_entry() returns trigger set search_path=functions, public
-- src/money/ledger/sql/entries.sql: empty_by_late_credit() returns trigger set search_path=functions, public
-- src/money/ledger/sql/entries.sql: empty_deleted_account(p_customer_id uuid, p_reference text) returns void
-- src/money/ledger/sql/entries.sql: post_entry(p_id uuid, p_customer_id uuid, p_kind text, p_reason text, p_amount_nano_brl bigint, p_reference text, p_note text, p_may_overdraw boolean) returns text
-- src/money/ledger/sql/entries.sql: promotional_left(a accounts) returns bigint
-- src/money/ledger/sql/hold.sql: count_requests(p_subjects text[], p_subject_requests bigint[], p_minute timestamptz, OUT requests bigint[], OUT tokens bigint[], OUT windows_at timestamptz[]) returns record
-- src/money/ledger/sql/hold.sql: epoch_ms(p_at timestamptz) returns bigint
-- src/money/ledger/sql/hold.sql: hold_in_caps(a ledger_attempt, k key_room) returns smallint
-- src/money/ledger/sql/hold.sql: least_cap(a ledger_attempt, k key_room) returns cap_room
-- src/money/ledger/sql/hold.sql: read_key_room(p_api_key_id uuid, p_now timestamptz) returns key_room
-- src/money/ledger/sql/hold.sql: take_holds(p_node_id uuid, p_subjects text[], p_subject_requests bigint[], p_attempts ledger_attempt[]) returns text
-- src/money/ledger/sql/hold.sql: verdict_text(p_verdict text, p_key_sequence bigint, p_ip_sequence bigint, p_balance bigint, p_held bigint, p_budget_left bigint, p_team_left bigint, p_cap_left bigint, p_cap_limit bigint, p_cap_until bigint) returns text
-- src/money/ledger/sql/months.sql: archived_until() returns timestamptz
-- src/money/ledger/sql/months.sql: ensure_usage_partitions(months_ahead integer) returns integer set lock_timeout=200ms
-- src/money/ledger/sql/overdrafts.sql: note_budget_overdraft() returns trigger set search_path=functions, public
-- src/money/ledger/sql/overdrafts.sql: note_cap_overdraft() returns trigger set search_path=functions, public
-- src/money/ledger/sql/overdrafts.sql: note_task_overdraft() returns trigger set search_path=functions, public
-- src/money/ledger/sql/overdrafts.sql: overdraft_after(p_recorded bigint, p_held_change bigint, p_spent_change bigint, p_excess bigint) returns bigint
-- src/money/ledger/sql/seals.sql: charge_leaf(e usage_events) returns bytea
-- src/money/ledger/sql/seals.sql: charge_text(e usage_events) returns text
-- src/money/ledger/sql/seals.sql: charges_head(p_previous bytea, s audit_seals) returns bytea
-- src/money/ledger/sql/seals.sql: seal_hash(p_previous bytea, s audit_seals) returns bytea
-- src/money/ledger/sql/settle.sql: add_session_uses(p_customer_id uuid, p_uses session_use[]) returns void
-- src/money/ledger/sql/settle.sql: resolve_holds(p_resolutions ledger_resolution[], OUT words text, OUT windows window_tokens[]) returns record
-- src/money/ledger/sql/settle.sql: settle_holds(g closed_holds, p_now timestamptz, p_cause text) returns void
-- src/money/ledger/sql/settle.sql: settle_rest(g closed_holds, p_days_until timestamptz, p_now timestamptz) returns void
-- src/money/payments/sql/limit-card-charges.sql: limit_card_charges() returns trigger set search_path=functions, public
-- src/money/usage/sql/roll-up-days.sql: roll_usage_days(p_customer_id uuid) returns void
-- src/money/usage/sql/usage-between.sql: event_charges(p_outcome call_outcome, p_reason text) returns bigint
-- src/money/usage/sql/usage-between.sql: first_day_start(p_timezone text, p_days integer) returns timestamptz
-- src/money/usage/sql/usage-between.sql: usage_between(p_customer_id uuid, p_from timestamptz, p_to timestamptz) returns TABLE(api_key_id uuid, model_id text, charged_requests bigint, released_requests bigint, prompt_tokens bigint, completion_tokens bigint, cost_upstream_pico_usd bigint, cost_billed_nano_brl bigint) set enable_sort=off
-- src/platform/health/sql/add-counts.sql: add_counts(one bigint[], other bigint[]) returns bigint[]
