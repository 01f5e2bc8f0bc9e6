-- The hash of a seal, over its own content and the hash of the seal before it.
create function seal_hash(p_previous bytea, s audit_seals) returns bytea language sql immutable as $$
  select sha256(coalesce(p_previous, '') || s.rows_hash || s.sums_hash || s.charges_head ||
    convert_to(concat_ws('|',
      s.number, extract(epoch from s.from_at), extract(epoch from s.to_at), s.events, s.breaches), 'UTF8'))
$$;

-- What anybody may know of an event if its customer shows it: the text that the tree of its seal covers. The ids of
-- customer, key, team and request are in `holder` only, which nobody can guess: the event's own id has 62 random bits.
-- It is the text that `json_build_object` makes of these fields, which takes more than twice as long.
create function charge_text(e usage_events) returns text language sql stable as $$
  select '{"version" : 1, "id" : "' || e.id
    -- An infinite time has no text.
    || '", "created_at" : '
    || coalesce('"' || to_char(e.created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') || '"', 'null')
    || ', "settled_at" : '
    || coalesce('"' || to_char(e.settled_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') || '"', 'null')
    || ', "model_id" : ' || to_json(e.model_id)
    || ', "outcome" : "' || e.outcome
    || '", "usage_kind" : "' || e.usage_kind
    || '", "prompt_tokens" : ' || e.prompt_tokens
    || ', "cached_tokens" : ' || e.cached_tokens
    || ', "cache_write_tokens" : ' || e.cache_write_tokens
    || ', "completion_tokens" : ' || e.completion_tokens
    || ', "reasoning_tokens" : ' || e.reasoning_tokens
    || ', "units" : ' || coalesce(e.units::text, 'null')
    -- Amounts as text: they can be larger than the whole numbers that JavaScript reads exactly.
    || ', "cost_upstream_pico_usd" : "' || e.cost_upstream_pico_usd
    || '", "fx_rate_e4" : ' || e.fx_rate_e4
    || ', "markup_e4" : ' || e.markup_e4
    || ', "cost_billed_nano_brl" : "' || e.cost_billed_nano_brl
    || '", "corrects_id" : ' || coalesce('"' || e.corrects_id || '"', 'null')
    || ', "holder" : "' || encode(sha256(convert_to(
      e.id || '|' || e.customer_id || '|' || e.api_key_id || coalesce('|' || e.team_id, '') || '|' || e.request_id,
      'UTF8')), 'hex')
    || '"}'
$$;

-- The leaf of an event in the tree of its seal (RFC 9162, section 2.1.1).
create function charge_leaf(e usage_events) returns bytea language sql stable as $$
  select sha256('\x00'::bytea || convert_to(charge_text(e), 'UTF8'))
$$;

-- The public chain after a seal: over the chain before it, the root of its tree, and its time.
create function charges_head(p_previous bytea, s audit_seals) returns bytea language sql immutable as $$
  select sha256('\x02'::bytea || coalesce(p_previous, '') || s.charges_root || convert_to(concat_ws('|',
    s.number, extract(epoch from s.from_at), extract(epoch from s.to_at)), 'UTF8'))
$$;
