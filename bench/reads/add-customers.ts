/**
 * The customers of the history with their accounts and keys, and the small tables that the generator
 * joins (schema `bench`). Customer 1 is the heavy one.
 */
import type pg from 'pg'
import { registerPrices } from '../../src/money/catalog/register-prices.ts'
import { API_KEY_PREFIX } from '../../src/customers/key-secret.ts'
import type { Database } from '../../src/platform/db/open.ts'
import { loadHistoryModels } from './history-models.ts'

const HEAVY_KEYS = 5
const OTHER_KEYS = 2
const HEAVY_TEAMS = 5

export async function addCustomers(client: pg.Client, customers: number): Promise<void> {
  await client.query(
    `create table bench.customers as
     select no::int4 as no, uuidv7(interval '-370 days') as id from generate_series(1, $1::int4) as no`,
    [customers],
  )
  await client.query(`
    create unique index on bench.customers (no);
    insert into customers (id, name, email, created_at)
    select id, 'Cliente ' || no, 'cliente-' || no || '@example.com', now() - interval '370 days' from bench.customers;
    insert into accounts (customer_id) select id from bench.customers`)
  await addTeams(client)
  await addKeys(client)
}

/** Teams of the heavy customer, whose keys are used, and one team of each of twenty others, of which it is a member. */
async function addTeams(client: pg.Client): Promise<void> {
  await client.query(`
    create table bench.teams as
    select t::int4 as no, uuidv7(interval '-365 days') as id, 1 as customer_no from generate_series(1, ${HEAVY_TEAMS}) as t
    union all
    select 100 + t, uuidv7(interval '-360 days'), 1 + t from generate_series(1, 20) as t;
    insert into teams (id, customer_id, name, created_at)
    select t.id, c.id, 'Equipe ' || t.no, now() - interval '360 days' from bench.teams t join bench.customers c on c.no = t.customer_no;
    insert into team_budgets (team_id, timezone, limit_nano_brl) select id, 'America/Sao_Paulo', 1000000000000000 from bench.teams;
    insert into team_members (team_id, customer_id, role)
    select t.id, c.id, case when c.no % 5 = 0 then 'admin' else 'member' end
    from bench.teams t join bench.customers c on case when t.no < 100 then c.no between 20 + t.no * 3 and 30 + t.no * 3 else c.no = 1 end;
    insert into team_invitations (id, team_id, email, role, token_hash, invited_by, expires_at)
    select uuidv7(), t.id, 'convite-' || n || '@example.com', 'member', sha256((t.id || ' ' || n)::bytea), c.id, now() + interval '7 days'
    from bench.teams t join bench.customers c on c.no = t.customer_no, generate_series(1, 5) as n`)
}

/** Secrets are predictable: anyone who can reach this database can read all of it anyway. */
async function addKeys(client: pg.Client): Promise<void> {
  await client.query(`
    create table bench.keys as
    select c.no as customer_no, n::int4 as key_no, uuidv7(interval '-366 days') as id, null::uuid as team_id
    from bench.customers c, generate_series(1, case when c.no = 1 then ${HEAVY_KEYS} else ${OTHER_KEYS} end) as n
    union all
    select 1, ${HEAVY_KEYS} + no, uuidv7(interval '-365 days'), id from bench.teams where no <= ${HEAVY_TEAMS};
    create unique index on bench.keys (customer_no, key_no);
    insert into api_keys (id, customer_id, name, scope, secret_hash, last_four, requests_per_minute, tokens_per_minute, team_id, created_at)
    select k.id, c.id, 'Chave ' || k.key_no, case when team_id is null then 'manage' else 'calls' end::key_scope, sha256(secret::bytea), right(secret, 4), 120,
      case when k.key_no = 1 then 1000000 end, k.team_id, now() - interval '366 days' + make_interval(mins => k.key_no)
    from bench.keys k join bench.customers c on c.no = k.customer_no, ${SECRET};
    insert into api_key_budgets (api_key_id, period, timezone, limit_pico_usd)
    select id, 'month', 'America/Sao_Paulo', 1000000000000000000 from bench.keys where key_no = 2`)
}

/** Of 32 characters and the checksum of `src/customers/key-secret.ts`, from PostgreSQL 18 on. */
const SECRET = `lateral (
  select text || string_agg(
    substr('0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz', (crc32(text::bytea) / power(62, digit)::int8 % 62)::int4 + 1, 1),
    '' order by digit desc) as secret
  from (select '${API_KEY_PREFIX}' || left(encode(sha256(('bench ' || k.id)::bytea), 'hex'), 32) as text), generate_series(0, 5) digit
  group by text) s`

/** The measured callers: customers by number, each with one of their keys. */
export async function findCaller(
  client: pg.Client,
  customerNo: number,
): Promise<{ customerId: string; keyId: string; secret: string; email: string }> {
  const { rows } = await client.query(
    `select c.id as "customerId", k.id as "keyId", secret, u.email
     from bench.customers c join customers u on u.id = c.id
     join bench.keys k on k.customer_no = c.no and k.key_no = 1, ${SECRET} where c.no = $1`,
    [customerNo],
  )
  if (!rows[0]) throw new Error(`the history has no customer ${customerNo}`)
  return rows[0]
}

/** Stores the models with their prices; repeated in each run, because prices may have changed. */
export async function storeModels(client: pg.Client, db: Database): Promise<void> {
  const models = await registerPrices(db, loadHistoryModels())
  await client.query(`drop table if exists bench.models;
    create table bench.models (
      no int4 primary key, id text, price_id int4, markup_e4 int4, input int8, cached_input int8, cache_write int8,
      output int8, reasoning int8, second int8, is_text bool)`)
  for (const [place, model] of models.entries()) {
    const tier = model.price.tiers[0]
    if (!tier) throw new Error(`the price of "${model.id}" has no tier`)
    await client.query(
      'insert into bench.models values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)',
      [
        place,
        model.id,
        model.price.id,
        model.markupE4,
        tier.input,
        tier.cachedInput,
        tier.cacheWrite,
        tier.output,
        tier.reasoning,
        model.price.units?.audio_seconds ?? null,
        model.category === 'llm',
      ],
    )
  }
}
