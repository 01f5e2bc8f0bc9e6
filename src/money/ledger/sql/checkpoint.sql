-- Records the progress of running calls. Returns, separated by commas, the places in `p_checkpoints`, from 1, of the
-- checkpoints that found no hold to write to. A locked hold is skipped: it is being resolved, or gets its next checkpoint.
-- So a checkpoint never waits for a lock while it holds others.
create function checkpoint_holds(p_checkpoints ledger_checkpoint[]) returns text language plpgsql as $$
declare
  v_lost text;
begin
  with checkpoints as (
    select * from rows from (unnest(p_checkpoints)) with ordinality as c(id, output_tokens_seen, place)
  ), free as (
    select h.id, c.output_tokens_seen as seen, c.place from holds h join checkpoints c on c.id = h.id
    for no key update of h skip locked
  ), written as (
    update holds h
    set dispatched_at = coalesce(h.dispatched_at, now()),
      output_began_at = case when free.seen > 0 then coalesce(h.output_began_at, now()) else h.output_began_at end,
      output_tokens_seen = greatest(h.output_tokens_seen, free.seen)
    from free where h.id = free.id
    returning free.place
  )
  select string_agg(place::text, ',') into v_lost from checkpoints where place not in (select place from written);
  return coalesce(v_lost, '');
end $$;
