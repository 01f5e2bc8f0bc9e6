/** Seeds the customers of a schedule with all of their rows, in one statement. */
import { sql } from 'kysely'
import { createId } from '../../src/platform/lib/ids.ts'
import type { Prepared } from './prepared.ts'
import { KEYS, type CustomerSpec, type KeyName } from './steps.ts'
import { toNanoBrl, toPicoUsd } from './world.ts'

export interface SeededCustomer {
  readonly id: string
  readonly teamId: string
  readonly keyIds: Readonly<Record<KeyName, string>>
}

export async function seedCustomers(
  prepared: Prepared,
  specs: readonly CustomerSpec[],
): Promise<SeededCustomer[]> {
  const customers = specs.map(() => ({
    id: createId(),
    teamId: createId(),
    keyIds: Object.fromEntries(KEYS.map((name) => [name, createId()])) as Record<KeyName, string>,
  }))
  const rows = customers.map(({ id, teamId, keyIds }, index) => {
    const { balance, budget, cap } = specs[index] as CustomerSpec
    return {
      id,
      team_id: teamId,
      credited: toNanoBrl(balance).toString(),
      budget: toPicoUsd(budget).toString(),
      cap: cap === null ? null : toNanoBrl(cap).toString(),
      keys: KEYS.map((name) => ({
        id: keyIds[name],
        has_team: name === 'team' || name === 'both',
        has_budget: name === 'budget' || name === 'both',
        has_caps: name === 'task',
      })),
    }
  })
  const statement = sql`
    with spec as (
      select * from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
        as s (id uuid, team_id uuid, credited int8, budget int8, cap int8, keys jsonb)
    ), key as (
      select s.id as customer_id, s.team_id, s.budget, k.* from spec s,
        jsonb_to_recordset(s.keys) as k (id uuid, has_team bool, has_budget bool, has_caps bool)
    ), customer as (
      insert into customers (id, name) select id, 'Teste' from spec
    ), account as (
      insert into accounts (customer_id, credited_nano_brl) select id, credited from spec
    ), entry as (
      insert into ledger_entries (id, customer_id, kind, reason, amount_nano_brl, reference)
      select gen_random_uuid(), id, 'credit', 'top_up', credited, id::text from spec where credited > 0
    ), team as (
      insert into teams (id, customer_id, name) select team_id, id, 'equipe' from spec
    ), cap as (
      insert into team_budgets (team_id, timezone, limit_nano_brl) select team_id, 'UTC', cap from spec
    ), api_key as (
      insert into api_keys (id, customer_id, name, secret_hash, last_four, requests_per_minute, team_id)
      select id, customer_id, 'chave', uuid_send(id), 'xxxx', 1000000, case when has_team then team_id end from key
    ), cap_of_day as (
      -- Never reached, but held and spent.
      insert into key_caps (api_key_id, period, timezone, limit_nano_brl)
      select id, 'day', 'UTC', ${toNanoBrl(1_000_000)} from key where has_caps
    )
    insert into api_key_budgets (api_key_id, period, timezone, limit_pico_usd)
    select id, 'lifetime', 'UTC', budget from key where has_budget`
  await prepared.run('seed_customers', statement)
  return customers
}
