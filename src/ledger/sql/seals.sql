-- The hash of a seal, over its own content and the hash of the seal before it.
create function seal_hash(p_previous bytea, s audit_seals) returns bytea language sql immutable as $$
  select sha256(coalesce(p_previous, '') || s.rows_hash || s.sums_hash || convert_to(concat_ws('|',
    s.number, extract(epoch from s.from_at), extract(epoch from s.to_at), s.events, s.breaches), 'UTF8'))
$$;
