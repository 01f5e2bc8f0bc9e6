// deep: an attack
/**
 * Two nodes take calls for the keys of one account at once, while the caps of the team and of the keys change and their
 * months, days and minutes end. A trigger of the test's database sums, at every hold, what is held and was charged: from
 * the holds and the events alone, never from the counters of the ledger.
 */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { decimalBrl } from '../../src/platform/lib/money.ts'
import { ask, askChat, billedIn, sound } from '../harness/ask.ts'
import { assertAudit, untilNoHoldIsOpen } from '../harness/assert-audit.ts'
import { writeConfigFile, type ConfigFile } from '../harness/config-file.ts'
import { effort, seedOr } from '../harness/effort.ts'
import { startLocalNode, type LocalNode } from '../harness/local-node.ts'
import {
  startScriptedUpstream,
  eventOf,
  type Behaviour,
  type ScriptedUpstream,
} from '../harness/scripted-upstream.ts'
import { createTestDatabase, seedCustomer, type TestDatabase } from '../harness/test-database.ts'
import { createRandom, type Random } from '../faults/random.ts'

const SEED = seedOr(30)
const ROUNDS = effort({ ordinary: 2, full: 60 })
const STEPS = 130
const AT_ONCE = 12

let database: TestDatabase
let upstream: ScriptedUpstream
let config: ConfigFile
let nodes: LocalNode[]

before(async () => {
  database = await createTestDatabase()
  upstream = await startScriptedUpstream()
  config = await writeConfigFile({
    upstreams: [{ id: 'raced', kind: 'openai-compatible', base_url: upstream.baseUrl, retries: 0 }],
    models: [
      {
        id: 'raced',
        category: 'llm',
        prices: { input: 1, output: 1000 },
        routes: [{ upstream: 'raced', model: 'raced' }],
        max_output_tokens: 10_000,
      },
    ],
  } as never)
  nodes = await Promise.all(
    [1, 2].map(() =>
      startLocalNode({ databaseUrl: database.databaseUrl, env: { CATRACA_CONFIG: config.path } }),
    ),
  )
  await sql`
    create table excesses (what text, used numeric, cap numeric, at timestamptz default clock_timestamp());
    create function sum_used() returns trigger language plpgsql as $$
    declare v_now timestamptz := clock_timestamp();
    begin
      insert into excesses (what, used, cap)
      select what, used, cap from (
        select 'team ' || b.team_id as what, b.limit_nano_brl as cap,
          (select coalesce(sum(amount_nano_brl), 0) from holds h where h.team_id = b.team_id)
          + (select coalesce(sum(cost_billed_nano_brl), 0) from usage_events e where e.team_id = b.team_id
            and e.settled_at >= date_trunc('month', v_now at time zone b.timezone) at time zone b.timezone) as used
        from team_budgets b where b.team_id in (select team_id from taken)
        union all
        select c.period || ' ' || c.api_key_id, c.limit_nano_brl,
          (select coalesce(sum(amount_nano_brl), 0) from holds h where h.api_key_id = c.api_key_id)
          + (select coalesce(sum(cost_billed_nano_brl), 0) from usage_events e where e.api_key_id = c.api_key_id
            -- A minute begins at the same instant in each zone, also in these, which differ from UTC by seconds.
            and e.settled_at >= case c.period when 'minute' then date_trunc('minute', v_now)
              else date_trunc(c.period, v_now at time zone c.timezone) at time zone c.timezone end)
        from key_caps c where c.api_key_id in (select api_key_id from taken)
        union all
        select 'task ' || k.id || t.session_id, t.limit_nano_brl,
          (select coalesce(sum(amount_nano_brl), 0) from holds h where h.api_key_id = k.id and h.session_id = t.session_id)
          + (select coalesce(sum(cost_billed_nano_brl), 0) from usage_events e where e.api_key_id = k.id and e.session_id = t.session_id)
        from taken t0 join api_keys k on k.id = t0.api_key_id and k.task_limit_nano_brl is not null
        join task_spends t on t.api_key_id = k.id and t.session_id = t0.session_id
        union all
        select 'budget ' || b.api_key_id, b.limit_pico_usd,
          (select coalesce(sum(budget_pico_usd), 0) from holds h where h.api_key_id = b.api_key_id)
          + (select coalesce(sum(div(cost_upstream_pico_usd::numeric * markup_e4 + 5000, 10000)), 0)
            from usage_events e where e.api_key_id = b.api_key_id
            and e.settled_at >= case b.period when 'lifetime' then '-infinity'
              else date_trunc(b.period, v_now at time zone b.timezone) at time zone b.timezone end)
        from api_key_budgets b where b.api_key_id in (select api_key_id from taken)
        union all
        select 'balance', credited_nano_brl - debited_nano_brl,
          (select coalesce(sum(amount_nano_brl), 0) from holds h where h.customer_id = a.customer_id)
          + (select coalesce(sum(cost_billed_nano_brl), 0) from usage_events e where e.customer_id = a.customer_id)
        from accounts a where a.customer_id in (select customer_id from taken)
      ) sums where used > cap;
      return null;
    end $$;
    create trigger sum_used after insert on holds referencing new table as taken
      for each statement execute function sum_used();`.execute(database.db)
})

after(async () => {
  for (const node of nodes) await node.stop()
  for (const node of nodes) await node.remove()
  await upstream.close()
  await config.remove()
  await database.drop()
})

/** A time zone in which the month ends that many seconds from now. */
async function zoneEndingIn(seconds: number): Promise<string> {
  const { rows } = await sql<{ offset: string }>`
    select ceil(extract(epoch from date_trunc('month', now() at time zone 'UTC') + interval '1 month'
      - (now() at time zone 'UTC')))::text as offset`.execute(database.db)
  let offset = Number(rows[0]?.offset) - seconds
  // Behind a month's end that is too far, the day's end.
  const most = 166 * 3600
  if (offset > most) offset %= 86_400
  const part = (value: number) => String(value).padStart(2, '0')
  return `<M>-${part(Math.floor(offset / 3600))}:${part(Math.floor(offset / 60) % 60)}:${part(offset % 60)}`
}

function below(random: Random, limit: number): number {
  return random.between(0, limit - 1)
}

/** Uses of the output at random, delays, failures, breaks. */
function behave(random: Random): Behaviour {
  return ({ body }, response) => {
    const limit: number = body.max_tokens
    const kind = below(random, 10)
    const used = kind === 0 ? limit * 2 : below(random, limit) + 1
    const usage = { prompt_tokens: 11, completion_tokens: used, total_tokens: used + 11 }
    const answer = () => {
      if (kind === 1) return void response.writeHead(500).end('{}')
      if (body.stream !== true) {
        const message = { role: 'assistant', content: 'Certo.' }
        return void response
          .writeHead(200, { 'content-type': 'application/json' })
          .end(JSON.stringify({ choices: [{ index: 0, message, finish_reason: 'stop' }], usage }))
      }
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(
        eventOf({ choices: [{ index: 0, delta: { content: 'Cer' }, finish_reason: null }] }),
      )
      if (kind === 2) return void setTimeout(() => response.destroy(), 2)
      response.write(
        eventOf({ choices: [{ index: 0, delta: { content: 'to.' }, finish_reason: 'stop' }] }),
      )
      response.end(`${eventOf({ choices: [], usage })}data: [DONE]\n\n`)
    }
    setTimeout(answer, below(random, 25))
  }
}

async function setZone(customerId: string, zone: string): Promise<void> {
  await sql`update customers set timezone = ${zone} where id = ${customerId}`.execute(database.db)
}

for (let round = 0; round < ROUNDS; round++) {
  test(`two nodes together never hold above a cap of a team, a key, a task, or a budget, while caps change and periods end (round ${round}, seed ${SEED})`, async () => {
    const random = createRandom(SEED * 1000 + round)
    upstream.play('raced', behave(random))
    const { customerId, secret } = await seedCustomer(database.db, { balanceBrl: '90' })
    const base = (): string => (nodes[below(random, 2)] as LocalNode).baseUrl
    const make = async (path: string, body: object) => {
      const made = await ask(base(), path, { secret, body })
      assert.equal(made.status, 201, made.text)
      return made.json
    }
    await setZone(customerId, await zoneEndingIn(below(random, 3)))
    const team = await make('/me/teams', { name: 'corrida', monthly_cap_brl: 12 })
    const keys: { id: string; key: string }[] = []
    await setZone(customerId, await zoneEndingIn(below(random, 3)))
    for (let place = 0; place < 4; place++) {
      // The last key has nothing but a budget, which the caps of the others would hide.
      const isLast = place === 3
      const has = (): boolean => !isLast && below(random, 2) === 1
      const period = random.pick(['day', 'month', 'lifetime'])
      const fields = {
        name: `chave ${place}`,
        model_ids: ['*'],
        requests_per_minute: 10_000,
        ...(has() ? { minute_cap_brl: 4 + below(random, 4) } : {}),
        ...(has() ? { day_cap_brl: 4 + below(random, 6) } : {}),
        ...(has() ? { task_cap_brl: 2 + below(random, 6) } : {}),
        ...(isLast || has() ? { budget: { limit_usd: 0.5 + below(random, 8) / 10, period } } : {}),
      }
      keys.push(await make(place % 2 === 0 ? `/me/teams/${team.id}/keys` : '/api-keys', fields))
    }
    const tasks = [randomUUID(), randomUUID()]
    const shown: { requestId: string; billed: string }[] = []
    const statuses = new Map<string, number>()
    let steps = STEPS

    async function step(): Promise<void> {
      const key = keys[below(random, keys.length)] as (typeof keys)[number]
      const act = below(random, 12)
      if (act === 0) {
        const cap = below(random, 4) ? 3 + below(random, 20) : null
        const changed = await ask(base(), `/me/teams/${team.id}`, {
          secret,
          method: 'PATCH',
          body: { monthly_cap_brl: cap },
        })
        assert.equal(changed.status, 200, changed.text)
        return
      }
      if (act === 1) {
        const { rows: caps } = await sql<{
          period: string
          kind: string
        }>`select period || '_cap_brl' as kind, period
          from key_caps where api_key_id = ${key.id}
          union all select 'budget', period from api_key_budgets where api_key_id = ${key.id}`.execute(
          database.db,
        )
        const body = Object.fromEntries(
          caps.map(({ kind, period }) => [
            kind,
            kind === 'budget' ? { limit_usd: below(random, 8) / 4, period } : below(random, 9),
          ]),
        )
        if (caps.length > 0) {
          const changed = await ask(base(), `/api-keys/${key.id}`, {
            secret,
            method: 'PATCH',
            body,
          })
          assert.ok([200, 404].includes(changed.status), changed.text)
        }
        return
      }
      const stream = below(random, 3) === 0
      const headers: Record<string, string> = below(random, 2)
        ? { 'x-svc-session-id': tasks[below(random, 2)] as string }
        : {}
      const asked = await askChat(
        base(),
        key.key,
        sound('raced', { max_tokens: 64 + below(random, 150), stream }),
        headers,
      )
      const name = `${asked.status} ${asked.json?.error?.code ?? ''}`
      statuses.set(name, (statuses.get(name) ?? 0) + 1)
      const billed = billedIn(asked.text)
      if (asked.status === 200 && billed !== undefined)
        shown.push({ requestId: asked.requestId, billed })
      if (asked.status === 402) await sleep(below(random, 40))
    }

    const work = async () => {
      while (steps-- > 0) await step()
    }
    await Promise.all(Array.from({ length: AT_ONCE }, work))
    await untilNoHoldIsOpen(database)
    const { rows: excesses } = await sql`select * from excesses`.execute(database.db)
    assert.deepEqual(excesses, [])
    assert.ok((statuses.get('200 ') ?? 0) > 0, [...statuses].join())
    for (const { requestId, billed } of shown) {
      const { rows } = await sql<{
        sum: string
      }>`select sum(cost_billed_nano_brl)::text as sum from usage_events
        where request_id = ${requestId} and customer_id = ${customerId}`.execute(database.db)
      assert.equal(Number(billed), Number(decimalBrl(BigInt(rows[0]?.sum ?? 0))), requestId)
    }
    await assertAudit(database)
  })
}
