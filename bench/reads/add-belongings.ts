/** The customers' resources other than usage, so that every list has several pages. */
import type pg from 'pg'

const HEAVY = {
  prompts: 200,
  notifications: 5_000,
  auditRows: 5_000,
  referrals: 300,
  topUps: 500,
  refunds: 300,
  webhooks: 5,
  attempts: 5_000,
  alerts: 50,
}
const OTHERS = {
  prompts: 3,
  notifications: 20,
  auditRows: 10,
  topUps: 12,
  refunds: 2,
  webhooks: 1,
  attempts: 20,
  alerts: 2,
}

const each = (heavy: number, others: number): string =>
  `generate_series(1, case when c.no = 1 then ${heavy} else ${others} end) as n`

/**
 * Each step runs once on a history, so an older history gets the steps that were written since. All run before
 * the first event, because the runs of prompts are sessions.
 */
export async function addBelongings(client: pg.Client): Promise<void> {
  await client.query('create table if not exists bench.steps (name text primary key)')
  for (const [name, statements] of Object.entries(STEPS)) {
    await client.query('begin')
    const { rowCount } = await client.query(
      'insert into bench.steps values ($1) on conflict do nothing',
      [name],
    )
    if (rowCount) await client.query(statements)
    await client.query('commit')
  }
}

/** Bodies of 100 to 3,000 characters; the heavy customer's first prompt has 200 versions, the others up to 10. */
const PROMPTS = `
  create table bench.prompts as
  select c.no as customer_no, n::int4 as prompt_no, uuidv7(make_interval(hours => -8700 + n)) as id, c.id as customer_id,
   case when c.no = 1 and n = 1 then 200 else 1 + floor(10 * random())::int4 end as version,
   now() - make_interval(hours => 8700 - n) as created_at
  from bench.customers c, ${each(HEAVY.prompts, OTHERS.prompts)};
  create unique index on bench.prompts (customer_no, prompt_no);
  insert into prompts (id, customer_id, slug, name, description, variables, tags, default_model, version, created_at, updated_at)
  select id, customer_id, 'prompt-' || prompt_no, 'Prompt ' || prompt_no, 'Resume um texto', '{texto,idioma}', '{resumo,bench}',
   'gpt-4o-mini', version, created_at, created_at + make_interval(hours => version * 10)
  from bench.prompts;
  insert into prompt_versions (prompt_id, version, body, change_note, created_at)
  select id, v, 'Resuma em {{idioma}}: {{texto}}. ' || repeat('Responda com cuidado. ', 5 + floor(130 * random())::int4),
   'Versão ' || v, created_at + make_interval(hours => v * 10)
  from bench.prompts, generate_series(1, version) as v`

/** Tax ids that begin with ten zeros are not assigned. */
const PROFILES = `
  insert into profiles (customer_id, full_name, tax_id, city, state)
  select id, 'Cliente ' || no, lpad((no % 10)::text, 11, '0'), 'São Paulo', 'SP' from bench.customers`

const NOTIFICATIONS = `
  insert into notifications (id, customer_id, template, status, error, sent_at)
  select uuidv7(at - now()), id, (array['balance_low', 'weekly_digest', 'top_up_succeeded', 'key_created'])[1 + n % 4],
    case when n % 20 = 0 then 'failed' else 'sent' end, case when n % 20 = 0 then 'mailbox unavailable' end, at
  from bench.customers c, ${each(HEAVY.notifications, OTHERS.notifications)}, lateral (select now() - make_interval(mins => n * 90) as at) t`

const AUDIT_ROWS = `
  insert into audit_log (id, created_at, actor_kind, actor_id, api_key_id, ip, action, customer_id, subject_id, details)
  select uuidv7(at - now()), at, 'customer', c.id, k.id, '203.0.113.' || n % 256,
    (array['api_key.created', 'profile.changed', 'prompt.created', 'team.created'])[1 + n % 4], c.id, gen_random_uuid()::text, '{"fields": ["name"]}'
  from bench.customers c join bench.keys k on k.customer_no = c.no and k.key_no = 1, ${each(HEAVY.auditRows, OTHERS.auditRows)},
    lateral (select now() - make_interval(mins => n * 90) as at) t`

const REFERRALS = `
  insert into referrals (customer_id, referrer_id, created_at, rewarded_at, reward_nano_brl)
  select c.id, heavy.id, now() - make_interval(hours => c.no), case when c.no % 2 = 0 then now() end, case when c.no % 2 = 0 then 10000000000 end
  from bench.customers c, bench.customers heavy where heavy.no = 1 and c.no between 2 and ${HEAVY.referrals + 1}`

const REWARDS = `
  with entries as (
    insert into ledger_entries (id, customer_id, kind, reason, amount_nano_brl, reference)
    select uuidv7(), referrer_id, 'credit', 'referral', reward_nano_brl, customer_id::text from referrals where rewarded_at is not null
    returning customer_id, amount_nano_brl
  )
  update accounts a set credited_nano_brl = credited_nano_brl + total
  from (select customer_id, sum(amount_nano_brl) as total from entries group by 1) e where e.customer_id = a.customer_id;
  update customers set referral_code = 'BENCH001' where id = (select id from bench.customers where no = 1)`

/** The heavy customer owns teams with keys in use (see add-customers.ts), and is a member of twenty others. */
const TEAMS = `
  create temp table more_teams on commit drop as
  select uuidv7(interval '-360 days') as id, c.id as customer_id from bench.customers c
  where not exists (select 1 from teams t where t.customer_id = c.id);
  insert into teams (id, customer_id, name, created_at) select id, customer_id, 'Equipe', now() - interval '360 days' from more_teams;
  insert into team_budgets (team_id, timezone) select id, 'America/Sao_Paulo' from more_teams;
  insert into team_members (team_id, customer_id, role)
  select t.id, c.id, 'member' from more_teams t join bench.customers c on c.no between 30 and 32 and c.id <> t.customer_id`

/** Top-ups of 50 reais each, paid, and credited as a real payment is. */
const TOP_UPS = `
  create temp table paid on commit drop as
  select uuidv7(at - now()) as id, c.id as customer_id, at, 50000000000 as amount, n
  from bench.customers c, ${each(HEAVY.topUps, OTHERS.topUps)}, lateral (select now() - make_interval(hours => n * 16) as at) t;
  insert into top_ups (id, customer_id, amount_nano_brl, method, status, processor, processor_payment_id, created_at, paid_at)
  select id, customer_id, amount, case when n % 5 = 0 then 'boleto' else 'pix' end, 'paid', 'bench', id, at, at + interval '1 minute' from paid;
  insert into ledger_entries (id, customer_id, kind, reason, amount_nano_brl, reference, created_at)
  select uuidv7(at - now()), customer_id, 'credit', 'top_up', amount, id, at from paid;
  update accounts a set credited_nano_brl = credited_nano_brl + total
  from (select customer_id, sum(amount) as total from paid group by 1) p where p.customer_id = a.customer_id`

/** Refunds of 10 reais each, rejected: the money left the balance and came back. */
const REFUNDS = `
  create temp table asked on commit drop as
  select uuidv7(at - now()) as id, c.id as customer_id, at, 10000000000 as amount, t.id as top_up_id
  from bench.customers c, ${each(HEAVY.refunds, OTHERS.refunds)},
    lateral (select id, paid_at + interval '1 hour' as at from top_ups where customer_id = c.id order by id offset n - 1 limit 1) t;
  insert into refunds (id, customer_id, amount_nano_brl, kind, status, reason, decision_note, created_at, decided_at, ended_at)
  select id, customer_id, amount, 'request', 'rejected', 'Engano', 'Fora do prazo', at, at, at from asked;
  insert into refund_parts (refund_id, top_up_id, amount_nano_brl, status) select id, top_up_id, amount, 'failed' from asked;
  insert into ledger_entries (id, customer_id, kind, reason, amount_nano_brl, reference, created_at)
  select uuidv7(at - now()), customer_id, 'debit', 'refund', amount, id::text, at from asked
  union all
  select uuidv7(at - now()), customer_id, 'credit', 'refund_rejected', amount, id || ':' || top_up_id, at from asked;
  update accounts a set credited_nano_brl = credited_nano_brl + total, debited_nano_brl = debited_nano_brl + total
  from (select customer_id, sum(amount) as total from asked group by 1) s where s.customer_id = a.customer_id`

/** Disabled webhooks, so that a server on this history sends nothing. */
const WEBHOOKS = `
  create temp table endpoints on commit drop as
  select uuidv7(interval '-300 days') as id, c.id as customer_id, c.no as customer_no, n
  from bench.customers c, ${each(HEAVY.webhooks, OTHERS.webhooks)};
  insert into webhook_endpoints (id, customer_id, url, secret_sealed, created_at, disabled_at, disabled_reason)
  select id, customer_id, 'https://example.com/webhooks/' || n, sha256(id::text::bytea), now() - interval '300 days', now(), 'customer' from endpoints;
  insert into webhook_attempts (id, endpoint_id, customer_id, message_id, event_type, body, status, due_at, http_status, latency_ms,
    response_head, error, created_at, finished_at)
  select uuidv7(at - now()), e.id, t.id, gen_random_uuid(), 'balance.low', '{"data": "' || repeat('x', 400) || '"}',
    case when t.n % 20 = 0 then 'failed' else 'delivered' end, at, case when t.n % 20 = 0 then 500 else 200 end, 20 + t.n % 300,
    'ok', case when t.n % 20 = 0 then 'http_status' end, at, at + interval '1 second'
  from (select c.no, c.id, n, now() - make_interval(mins => 80 * n) as at
      from bench.customers c, ${each(HEAVY.attempts, OTHERS.attempts)}) t
    join endpoints e on e.customer_no = t.no and e.n = 1`

/** Disabled alerts, so that a server on this history evaluates nothing. */
const ALERTS = `
  insert into alerts (id, customer_id, name, kind, threshold_nano, channels, is_enabled, created_at, updated_at)
  select uuidv7(at - now()), c.id, 'Alerta ' || n, 'monthly_spend', n * 10000000000, '{email,webhook}', false, at, at
  from bench.customers c, ${each(HEAVY.alerts, OTHERS.alerts)}, lateral (select now() - make_interval(hours => n * 16) as at) t`

/** Two saved cards each, which cannot be charged, and a disabled automatic top-up. */
const CARDS = `
  insert into payment_methods (id, customer_id, processor, token_sealed, brand, last_four, holder_name, expiry_month, expiry_year)
  select uuidv7(make_interval(hours => -n)), c.id, 'bench', sha256(c.id::text::bytea), 'VISA', '4444', 'CLIENTE', 12, 2099
  from bench.customers c, generate_series(1, 2) n;
  insert into automatic_top_ups (customer_id, is_enabled, threshold_nano_brl, amount_nano_brl, payment_method_id, remote_ip)
  select distinct on (customer_id) customer_id, false, 10000000000, 50000000000, id, '127.0.0.1' from payment_methods
  where processor = 'bench' order by customer_id, id`

const STEPS: Record<string, string> = {
  prompts: PROMPTS,
  profiles: PROFILES,
  notifications: NOTIFICATIONS,
  audit_log: AUDIT_ROWS,
  referrals: `${REFERRALS}; ${REWARDS}`,
  teams: TEAMS,
  top_ups: TOP_UPS,
  refunds: REFUNDS,
  webhooks: WEBHOOKS,
  alerts: ALERTS,
  payment_methods: CARDS,
}
