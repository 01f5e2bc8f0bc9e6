-- Resolves, checkpoints and takes holds for a whole batch of calls, in one round trip and one commit.
--
-- Locks are taken in one order: accounts by customer id, then rate windows by subject; every other row belongs to one
-- customer. Every read of an account that a write depends on is a locking read, and every write is an increment, so
-- the order and the content of a batch can cost time and never money.
--
-- `p_customer_ids`: the customers of the resolutions and the attempts. Their accounts are always locked first, in the
-- order of their ids.
-- `p_skip_locked`: if another transaction holds one of those locks, the batch does nothing and returns `busy;` and the
-- ids, separated by commas, of the customers whose accounts are locked.
-- `p_commits_asynchronously`: the commit does not wait for the disk. The batch takes effect at once for every connection,
-- and only a crash of the database right afterwards loses it, as a whole. The caller must not answer a client because of
-- it before a later commit that waits for the disk: a resolution that is not `missing`, or a checkpoint that found its
-- hold.
--
-- Returns, separated by `;`: the words of `resolve_holds`; the result of `checkpoint_holds`; and, if there are attempts,
-- the result of `take_holds`.
create function ledger_batch(
  p_node_id uuid, p_customer_ids uuid[], p_resolutions ledger_resolution[], p_checkpoints ledger_checkpoint[],
  p_subjects text[], p_subject_requests int8[], p_attempts ledger_attempt[], p_commits_asynchronously bool, p_skip_locked bool
) returns text language plpgsql as $$
declare
  v_busy text;
  v_words text := '';
  v_windows window_tokens[] := '{}';
  v_lost text := '';
  v_verdicts text := '';
begin
  if p_commits_asynchronously then
    perform set_config('synchronous_commit', 'off', true);
  end if;
  if p_skip_locked then
    with locked as (
      select customer_id from accounts where customer_id = any (p_customer_ids)
      order by customer_id for no key update skip locked
    )
    select string_agg(customer_id::text, ',') into v_busy from accounts a
    where customer_id = any (p_customer_ids) and not exists (select from locked where locked.customer_id = a.customer_id);
    if v_busy is not null then
      return 'busy;' || v_busy;
    end if;
  else
    perform 1 from accounts where customer_id = any (p_customer_ids) order by customer_id for no key update;
  end if;
  if p_checkpoints is not null then
    v_lost := checkpoint_holds(p_checkpoints);
  end if;
  if p_resolutions is not null then
    select words, windows into v_words, v_windows from resolve_holds(p_resolutions);
    if v_windows <> '{}' then
      -- In the order of `p_subjects`, in which `count_requests` locks them, whatever the language of the database.
      perform 1 from rate_windows
      where subject = any (p_subjects || array(select subject from unnest(v_windows)))
      order by subject collate "C" for no key update;
      update rate_windows w set tokens = greatest(0, w.tokens + m.tokens_more)
      from (select subject, window_at, sum(tokens_more) as tokens_more from unnest(v_windows) group by 1, 2) m
      where w.subject = m.subject and w.window_at = m.window_at;
    end if;
  end if;
  if p_attempts is not null then
    v_verdicts := ';' || take_holds(p_node_id, p_subjects, p_subject_requests, p_attempts);
  end if;
  return v_words || ';' || v_lost || v_verdicts;
end $$;
