-- Records by how much budgets and caps exceed their limits (`held + spent - limit`), each time with a cause. Only two
-- causes exist: a settlement whose charges exceed their holds, and a changed limit. A hold is no cause: if two holds ever
-- took the same room, the excess would be larger than the recorded overdraft, and the audit would report it.
--
-- A settlement gives back a hold and spends: the recorded overdraft grows by the sum of both changes where they are
-- positive, and is never above the excess. Where the held amount grows, a hold was taken, and nothing is recorded.
create function overdraft_after(p_recorded int8, p_held_change int8, p_spent_change int8, p_excess int8)
  returns int8 language sql immutable as $$
  select least(greatest(0, p_excess),
    p_recorded + case when p_held_change <= 0 then greatest(0, p_held_change + p_spent_change) else 0 end)
$$;

create function note_budget_overdraft() returns trigger language plpgsql set search_path from current as $$
declare
  v_excess int8 := new.held_pico_usd + new.spent_pico_usd - new.limit_pico_usd;
begin
  if tg_op = 'INSERT' or (new.limit_pico_usd, new.spent_since) is distinct from (old.limit_pico_usd, old.spent_since) then
    new.overdrawn_pico_usd := greatest(0, v_excess);
  else
    new.overdrawn_pico_usd := overdraft_after(old.overdrawn_pico_usd, new.held_pico_usd - old.held_pico_usd,
      new.spent_pico_usd - case when new.period_started_at = old.period_started_at then old.spent_pico_usd else 0 end,
      v_excess);
  end if;
  return new;
end $$;

-- Caps in BRL with a period, of teams and of keys. A team's cap without a limit is never overdrawn.
create function note_cap_overdraft() returns trigger language plpgsql set search_path from current as $$
declare
  v_excess int8 := coalesce(new.held_nano_brl + new.spent_nano_brl - new.limit_nano_brl, 0);
begin
  if tg_op = 'INSERT' or (new.limit_nano_brl, new.spent_since) is distinct from (old.limit_nano_brl, old.spent_since) then
    new.overdrawn_nano_brl := greatest(0, v_excess);
  else
    new.overdrawn_nano_brl := overdraft_after(old.overdrawn_nano_brl, new.held_nano_brl - old.held_nano_brl,
      new.spent_nano_brl - case when new.period_started_at = old.period_started_at then old.spent_nano_brl else 0 end,
      v_excess);
  end if;
  return new;
end $$;

-- A task has no period. Its limit changes only with a hold, which fits the new limit.
create function note_task_overdraft() returns trigger language plpgsql set search_path from current as $$
declare
  v_excess int8 := new.held_nano_brl + new.spent_nano_brl - new.limit_nano_brl;
begin
  if new.limit_nano_brl <> old.limit_nano_brl then
    new.overdrawn_nano_brl := greatest(0, v_excess);
  else
    new.overdrawn_nano_brl := overdraft_after(old.overdrawn_nano_brl, new.held_nano_brl - old.held_nano_brl,
      new.spent_nano_brl - old.spent_nano_brl, v_excess);
  end if;
  return new;
end $$;

create or replace trigger note_overdraft before insert or update on api_key_budgets
  for each row execute function note_budget_overdraft();
create or replace trigger note_overdraft before insert or update on team_budgets
  for each row execute function note_cap_overdraft();
create or replace trigger note_overdraft before insert or update on key_caps
  for each row execute function note_cap_overdraft();
create or replace trigger note_overdraft before update on task_spends
  for each row execute function note_task_overdraft();
