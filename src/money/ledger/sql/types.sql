-- The types of the rows that the ledger's functions take and pass on. `src/money/ledger/lane/ledger-fields.ts` lists the
-- attributes of the first three in this order, and test/ledger/ledger-fields.test.ts compares the two.

-- A request for a hold, or a request that is only counted (`id` is null).
-- `key_place` and `ip_place`: the places of the attempt's rate windows in the sorted subjects of the batch, from 1.
-- `key_offset` and `ip_offset`: how many new requests of the batch come after this one in its windows, from 0 down.
create type ledger_attempt as (
  id uuid, is_repeated bool, customer_id uuid, api_key_id uuid, key_version int4,
  key_place int4, key_offset int4, ip_place int4, ip_offset int4,
  requests_per_minute int8, ip_requests_per_minute int8, tokens_per_minute int8,
  request_id uuid, session_id text, model_id text, is_stream bool,
  amount_nano_brl int8, budget_pico_usd int8, price_id int4, fx_rate_id int4,
  fx_rate_e4 int4, markup_e4 int4, prompt_tokens_estimated int4, tokens_counted int8,
  -- The cap of its task, which is its session; null for none.
  task_limit_nano_brl int8
);

-- The outcome of a hold. `is_final`: the node that ran the call reports it, so if the hold was resolved differently, this
-- outcome corrects that one.
create type ledger_resolution as (
  id uuid, outcome call_outcome, reason text, upstream_id text, usage_kind usage_kind,
  prompt_tokens int4, cached_tokens int4, cache_write_tokens int4,
  completion_tokens int4, reasoning_tokens int4,
  cost_pico_usd int8, billed_nano_brl int8, billed_pico_usd int8,
  first_byte_ms int4, duration_ms int4, answered_price_id int4, units jsonb, attempts jsonb,
  customer_id uuid, is_final bool
);

-- The progress of a running call.
create type ledger_checkpoint as (id uuid, output_tokens_seen int4);

-- A charge in a usage session. `requests` is 1, or -1 for a reversal.
create type session_use as (
  session_id text, model_id text, prompt_tokens int4, completion_tokens int4, billed_nano_brl int8, at timestamptz,
  requests int4
);

-- Resolved holds of one customer, key, team, model, hour, rate window and caps: the sums by which the customer's rows change.
create type closed_holds as (
  customer_id uuid, api_key_id uuid, team_id uuid, model_id text, hour_at timestamptz, tokens_window_at timestamptz,
  calls int4, charged int4, prompt_tokens int8, completion_tokens int8, cost int8, billed int8, held int8,
  budget_held int8, budget_spent int8, tokens_more int8, session_uses session_use[],
  -- The amounts by which charges exceeded their holds, and the calls concerned.
  overrun int8, overrun_ids uuid[],
  -- As in `holds`. With a cap per task, the holds are of one session.
  in_caps int2, task_session_id text
);

-- The change of the tokens of a rate window.
create type window_tokens as (subject text, window_at timestamptz, tokens_more int8);

-- What a key may still hold, with the values of the rows that its holds change. `team_left` and `budget_left` are null without
-- such a limit; the two caps too.
create type key_room as (
  api_key_id uuid, version int4, team_id uuid, team_left int8, budget_left int8, has_caps bool,
  minute_limit int8, minute_left int8, minute_until timestamptz, day_limit int8, day_left int8, day_until timestamptz
);

-- A cap of a key or of a task: what it has left, and the end of its period (a task has none).
create type cap_room as (cap text, limit_nano_brl int8, left_nano_brl int8, until timestamptz);
