/** A ledger that a fault has damaged does not pass the audit, and the failing check names the damage. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql, type RawBuilder } from 'kysely'
import { createApiKey, type ApiKey } from '../../src/customers/api-keys.ts'
import {
  inTransaction,
  openDatabase,
  type Database,
  type OpenDatabase,
} from '../../src/platform/db/open.ts'
import { audit, type AuditOptions } from '../../src/money/ledger/audit/audit.ts'
import { sealUsage } from '../../src/money/ledger/audit/audit-seals.ts'
import { credit, debit } from '../../src/money/ledger/entries.ts'
import { release } from '../../src/money/ledger/resolution.ts'
import { createId } from '../../src/platform/lib/ids.ts'
import { nameStatements } from '../harness/name-statements.ts'
import { seedTeam } from '../harness/seed-team.ts'
import { createTestDatabase, seedCustomer, type TestDatabase } from '../harness/test-database.ts'
import {
  NANO_BRL_PER_TOKEN,
  openTestLedger,
  worth,
  type TestLedger,
} from '../harness/open-test-ledger.ts'

let database: TestDatabase
/** For the faults, each of which is audited by the same queries. */
let named: OpenDatabase
let one: TestLedger
/** Its calls were charged, released, overrun and corrected in every way; it has a debt. */
let indebted: ApiKey
/** Has a budget, and belongs to a team with a cap. */
let capped: ApiKey
const holds = { overrun: '', higher: '', lower: '', undone: '', late: '' }

before(async () => {
  database = await createTestDatabase()
  named = openDatabase(database.databaseUrl, { onError: () => {} })
  nameStatements(named.pool)
  one = await openTestLedger(database.db, database.databaseUrl)
  // The node sends no heartbeat, and one hold stays open.
  await sql`update nodes set seen_at = now() + interval '1 hour'`.execute(database.db)
  indebted = (await seedCustomer(database.db, { balanceBrl: worth(100) })).key
  capped = await seedCapped()
  holds.overrun = await call(indebted, 10, 30)
  holds.higher = await corrected(indebted, { held: 10, first: 2, truth: 6 })
  holds.lower = await corrected(indebted, { held: 10, first: 8, truth: 3 })
  holds.undone = await corrected(indebted, { held: 10, first: 5, truth: 0 })
  holds.late = await corrected(indebted, { held: 10, first: 0, truth: 7 })
  await call(indebted, 10, 4, 'conversa')
  await call(capped, 10, 7, 'conversa')
  await corrected(capped, { held: 10, first: 2, truth: 6 })
  // Into debt by an overrun, deeper by a correction and a charge-back, and partly repaid.
  await call(indebted, 20, 70)
  await takeBack(indebted, 5)
  await corrected(indebted, { held: 0, first: 0, truth: 9 })
  await pay(indebted, 8)
  assert.equal((await one.ledger.hold(one.attempt(capped, 3))).kind, 'held')
})

after(async () => {
  await one.ledger.close()
  await named.close()
  await database.drop()
})

async function seedCapped(): Promise<ApiKey> {
  const { customerId } = await seedCustomer(database.db, { balanceBrl: worth(1_000) })
  const teamId = await seedTeam(database.db, customerId, {
    limitNanoBrl: 500n * NANO_BRL_PER_TOKEN,
  })
  const made = await createApiKey(database.db, {
    customerId,
    name: 'com limites',
    requestsPerMinute: 1_000_000,
    teamId,
    budget: { limitPicoUsd: 900_000_000n, period: 'month' },
  })
  return made.key
}

async function call(
  key: ApiKey,
  held: number,
  used: number,
  sessionId: string | null = null,
): Promise<string> {
  const attempt = one.attempt(key, held, { sessionId })
  assert.equal((await one.ledger.hold(attempt)).kind, 'held')
  const resolution = used > 0 ? one.charge(attempt, used) : release(attempt, 'test')
  assert.equal((await one.ledger.resolve(resolution)).kind, 'committed')
  return attempt.id
}

/** A call that another node resolved with `first`, and its own node later with `truth`. */
async function corrected(
  key: ApiKey,
  tokens: { held: number; first: number; truth: number },
): Promise<string> {
  const attempt = one.attempt(key, tokens.held, { sessionId: 'corrigida' })
  if (tokens.held > 0) assert.equal((await one.ledger.hold(attempt)).kind, 'held')
  // A customer in debt cannot take a hold: this hold is older than the debt.
  else await holdOfNothing(attempt)
  const resolution = (used: number) =>
    used > 0 ? one.charge(attempt, used) : release(attempt, 'orphaned')
  await one.ledger.resolve(resolution(tokens.first))
  const second = { ...resolution(tokens.truth), isFinal: true }
  assert.equal((await one.ledger.resolve(second)).kind, 'corrected')
  return attempt.id
}

async function holdOfNothing(attempt: ReturnType<TestLedger['attempt']>): Promise<void> {
  await sql`insert into holds (
      id, customer_id, api_key_id, node_id, request_id, session_id, model_id, is_stream, amount_nano_brl,
      budget_pico_usd, price_id, fx_rate_id, fx_rate_e4, markup_e4, prompt_tokens_estimated, created_at)
    values (${attempt.id}, ${attempt.customerId}, ${attempt.key.id}, ${one.nodeId}, ${attempt.requestId}, null,
      ${attempt.modelId}, false, 0, 0, ${attempt.priceId}, ${attempt.fxRateId}, ${attempt.fxRateE4}, ${attempt.markupE4},
      0, now())`.execute(database.db)
}

async function takeBack(key: ApiKey, tokens: number): Promise<void> {
  const entry = {
    customerId: key.customerId,
    amountNanoBrl: BigInt(tokens) * NANO_BRL_PER_TOKEN,
    reason: 'chargeback',
    reference: createId(),
  }
  assert.equal((await debit(database.db, entry, { mayOverdraw: true })).kind, 'posted')
}

async function pay(key: ApiKey, tokens: number): Promise<void> {
  const amountNanoBrl = BigInt(tokens) * NANO_BRL_PER_TOKEN
  const entry = { customerId: key.customerId, amountNanoBrl, reason: 'top_up' }
  assert.equal((await credit(database.db, { ...entry, reference: createId() })).kind, 'posted')
}

async function failuresOf(db: Database, options?: AuditOptions): Promise<string[]> {
  const report = await audit(db, {}, options)
  return report.checks.filter(({ ok }) => !ok).map(({ name }) => name)
}

test('a sound ledger passes, with debts, corrections, budgets and caps', async () => {
  assert.deepEqual(await failuresOf(database.db), [])
  const { rows } = await sql<{ cause: string }>`
    select distinct cause from account_debts where customer_id = ${indebted.customerId} order by 1`.execute(
    database.db,
  )
  assert.deepEqual(
    rows.map(({ cause }) => cause),
    ['correction', 'debit', 'overrun', 'repaid'],
  )
})

const OWES = 'negative balances equal the sum of recorded debts'
const OVERRUN = 'a debt by overruns is at most the cost of its calls above their holds'
const GREW = 'a debt by a correction is at most the increase of the charge'
const ENTRY = 'a debt by a debit has a charge-back or returned top-up'
const REVERSES = 'a correction reverses exactly the first outcome of its hold'
const SAYS = "a correction's event has the correction's charge"
const CHARGES = 'account charges equal the sum of usage events'
const ROLLUPS = 'hourly roll-ups equal the sum of usage events'
const SESSIONS = 'usage sessions equal the sum of their usage events'
const NAMED = 'every correcting event belongs to a correction'

/** Moves the account into an unexplained debt of some tokens, and records it with this cause. */
function noteDebt(cause: string, holdIds: RawBuilder<unknown>): () => RawBuilder<unknown>[] {
  return () => [
    sql`update accounts set held_nano_brl = held_nano_brl + 700000 where customer_id = ${indebted.customerId}`,
    sql`insert into holds (id, customer_id, api_key_id, node_id, request_id, model_id, is_stream, amount_nano_brl,
        budget_pico_usd, price_id, fx_rate_id, fx_rate_e4, markup_e4, prompt_tokens_estimated, created_at)
      values (gen_random_uuid(), ${indebted.customerId}, ${indebted.id}, ${one.nodeId}, gen_random_uuid(), 'test-model',
        false, 700000, 0, 1, 1, 50000, 20000, 0, now())`,
    sql`insert into account_debts (customer_id, amount_nano_brl, cause, hold_ids)
      values (${indebted.customerId}, 700000, ${cause}, ${holdIds})`,
  ]
}

/** Changes the charge of an event and all of its sums, as if it had been charged so from the beginning. */
function copyEvent(
  holdId: () => string,
  id: RawBuilder<unknown>,
  sign: 1 | -1,
): RawBuilder<unknown>[] {
  return [
    sql`create temp table copied on commit drop as
      select * from usage_events where id = ${id}`,
    sql`update copied set id = gen_random_uuid()`,
    sql`insert into usage_events select * from copied`,
    sql`update accounts a set charged_nano_brl = charged_nano_brl + c.cost_billed_nano_brl from copied c
      where a.customer_id = c.customer_id`,
    sql`update usage_hours h set cost_billed_nano_brl = h.cost_billed_nano_brl + c.cost_billed_nano_brl,
        cost_upstream_pico_usd = h.cost_upstream_pico_usd + c.cost_upstream_pico_usd,
        completion_tokens = h.completion_tokens + c.completion_tokens, charged_requests = h.charged_requests + ${sign}
      from copied c where h.customer_id = c.customer_id and h.hour_at = date_trunc('hour', c.created_at)
        and h.api_key_id = c.api_key_id and h.model_id = c.model_id`,
    sql`update usage_sessions s set cost_billed_nano_brl = s.cost_billed_nano_brl + c.cost_billed_nano_brl,
        completion_tokens = s.completion_tokens + c.completion_tokens, requests = s.requests + ${sign}
      from copied c where s.customer_id = c.customer_id and s.session_id = c.session_id`,
    sql`insert into account_debts (customer_id, amount_nano_brl, cause, hold_ids)
      select customer_id, cost_billed_nano_brl, case when cost_billed_nano_brl < 0 then 'repaid' else 'correction' end,
        array[${holdId()}::uuid] from copied`,
  ]
}

const reversalOf = (holdId: string) =>
  sql`(select reversal_event_id from charge_corrections where hold_id = ${holdId})`
const chargeOf = (holdId: string) =>
  sql`(select event_id from charge_corrections where hold_id = ${holdId})`

/** The statements of each fault, and exactly the checks that must fail. */
const FAULTS: Record<string, [checks: readonly string[], statements: () => RawBuilder<unknown>[]]> =
  {
    'one overrun does not excuse a later debt': [
      [OWES],
      () => noteDebt('repaid', sql`null`)().slice(0, 2),
    ],
    'two overruns do not excuse a third debt that names them': [
      [OVERRUN],
      noteDebt(
        'overrun',
        sql`(select array_agg(id) from usage_events where cost_billed_nano_brl > held_nano_brl and corrects_id is null)`,
      ),
    ],
    'an overrun excuses a debt once': [
      [OVERRUN],
      () => [
        sql`update account_debts set amount_nano_brl = amount_nano_brl - 100000 where cause = 'overrun'`,
        sql`insert into account_debts (customer_id, amount_nano_brl, cause, hold_ids)
          select customer_id, 100000, cause, hold_ids from account_debts where cause = 'overrun'`,
      ],
    ],
    'a debt without a cause is none': [[OVERRUN], noteDebt('overrun', sql`null`)],
    'a debt that names a call within its hold has no cause': [
      [OVERRUN],
      noteDebt(
        'overrun',
        sql`array[(select id from usage_events
        where cost_billed_nano_brl between 1 and held_nano_brl limit 1)]`,
      ),
    ],
    'a correction excuses no debt above its growth': [
      [GREW],
      () => noteDebt('correction', sql`array[${holds.higher}::uuid]`)(),
    ],
    'a debt of a correction that there is not has no cause': [
      [GREW],
      () => noteDebt('correction', sql`array[${holds.overrun}::uuid]`)(),
    ],
    'a debit that may not overdraw makes no debt': [
      [ENTRY],
      () => [
        sql`insert into ledger_entries (id, customer_id, kind, reason, amount_nano_brl, reference)
          values (gen_random_uuid(), ${indebted.customerId}, 'debit', 'refund', 700000, 'x')`,
        sql`update accounts set debited_nano_brl = debited_nano_brl + 700000 where customer_id = ${indebted.customerId}`,
      ],
    ],
    'a repaid debt does not grow': [
      ['every debt has a cause, and repayments alone are negative'],
      noteDebt('repaid', sql`null`),
    ],
    'a repayment that was not noted is missed': [
      [OWES],
      () => [sql`delete from account_debts where cause = 'repaid'`],
    ],
    'what a budget has spent is compared with its charges': [
      ['key budgets have spent the sum of their charges'],
      () => [sql`update api_key_budgets set spent_pico_usd = spent_pico_usd - 1`],
    ],
    'a charge that misses its budget is seen': [
      ['key budgets have spent the sum of their charges'],
      () => [
        sql`update usage_events set in_budget = false
          where api_key_id = ${capped.id} and outcome = 'charged' and corrects_id is null and cost_billed_nano_brl = 70000`,
      ],
    ],
    'what a team has spent is compared with its charges': [
      ['team caps have spent the sum of their charges'],
      () => [sql`update team_budgets set spent_nano_brl = 0`],
    ],
    'a correction without its reversal is seen': [
      [OWES, REVERSES, CHARGES, ROLLUPS, SESSIONS],
      () => [
        sql`delete from usage_events where id = ${reversalOf(holds.higher)}`,
        sql`update account_debts set amount_nano_brl = amount_nano_brl + 1 where id = (select min(id) from account_debts)`,
      ],
    ],
    'a correction that says to reverse nothing is seen': [
      [REVERSES, NAMED],
      () => [
        sql`update charge_corrections set reversal_event_id = null where hold_id = ${holds.lower}`,
      ],
    ],
    'a correction of another first charge is seen': [
      [REVERSES],
      () => [
        sql`update charge_corrections set first_billed_nano_brl = first_billed_nano_brl - 1 where hold_id = ${holds.undone}`,
      ],
    ],
    'a correction that charged something else is seen': [
      [SAYS],
      () => [
        sql`update charge_corrections set billed_nano_brl = billed_nano_brl + 1 where hold_id = ${holds.lower}`,
      ],
    ],
    'a call that was corrected twice is seen': [
      [NAMED],
      () => copyEvent(() => holds.late, chargeOf(holds.late), 1),
    ],
    'a call that was reversed twice is seen': [
      [NAMED],
      () => copyEvent(() => holds.undone, reversalOf(holds.undone), -1),
    ],
    'a correction that is not written down is seen': [
      [NAMED],
      () => [sql`delete from charge_corrections where hold_id = ${holds.late}`],
    ],
    'a charge that takes back without a correction is seen': [
      [
        'only reversals are negative, and each names the event that it reverses',
        REVERSES,
        ROLLUPS,
        SESSIONS,
      ],
      () => [sql`update usage_events set reason = null where id = ${reversalOf(holds.undone)}`],
    ],
    'a reversal that is rounded otherwise is seen': [
      [
        'charge = cost x exchange rate x markup, rounded half up once',
        REVERSES,
        CHARGES,
        ROLLUPS,
        SESSIONS,
      ],
      () => [
        sql`update usage_events set cost_billed_nano_brl = cost_billed_nano_brl - 1 where id = ${reversalOf(holds.undone)}`,
      ],
    ],
    'a hold that is open and resolved is seen': [
      ['no open hold has an outcome'],
      () => [sql`update holds set id = ${holds.lower}`],
    ],
    'a call that is resolved twice is seen': [
      ['a hold is resolved once', CHARGES, ROLLUPS],
      () => [
        sql`insert into usage_events select (jsonb_populate_record(e,
        jsonb_build_object('created_at', e.created_at - interval '1 second'))).* from usage_events e where id = ${holds.overrun}`,
      ],
    ],
  }

for (const [guarantee, [checks, statements]] of Object.entries(FAULTS))
  test(guarantee, () =>
    inRolledBack(async (trx) => {
      for (const statement of statements()) await statement.execute(trx)
      assert.deepEqual((await failuresOf(trx)).sort(), [...checks].sort())
    }),
  )

/** Each of these changes only columns that no sum contains: the balances stay right. */
const HIDDEN: Record<string, () => RawBuilder<unknown>> = {
  'a sealed charge of another call': () =>
    sql`update usage_events set request_id = gen_random_uuid() where id = ${holds.overrun}`,
  'a sealed charge of another time': () =>
    sql`update usage_events set settled_at = settled_at + interval '1 microsecond' where id = ${holds.lower}`,
  'a sealed event before the first': () =>
    sql`update usage_events set settled_at = settled_at - interval '1 year' where id = ${holds.lower}`,
  'a debt with another cause': () =>
    sql`update account_debts set hold_ids = array[gen_random_uuid()] where cause = 'repaid'`,
}

test('sealed events are proved by their sums, and again from their rows', async () => {
  // Nothing else runs in this test's database, so no margin is needed.
  assert.ok((await sealUsage(database.db, { share: 1, marginSeconds: 0, eventsMax: 7 })) > 2)
  assert.deepEqual(await failuresOf(database.db), [])
  assert.deepEqual(await failuresOf(database.db, { isFull: true }), [])
  const { rows } = await sql<{ open: bigint; sealed: bigint }>`
    select (select count(*) from usage_events where settled_at >= (select max(to_at) from audit_seals)) as open,
      (select sum(events)::int8 from audit_seals) as sealed`.execute(database.db)
  assert.equal(rows[0]?.open, 0n)
  assert.ok((rows[0]?.sealed ?? 0n) > 10n)
  // Later calls use the same budgets, caps, hours and sessions.
  await call(capped, 10, 5, 'conversa')
  await corrected(capped, { held: 10, first: 3, truth: 4 })
  assert.deepEqual(await failuresOf(database.db), [])
  assert.deepEqual(await failuresOf(database.db, { isFull: true }), [])
})

for (const [guarantee, [, statements]] of Object.entries(FAULTS))
  test(`the full audit finds it behind a seal: ${guarantee}`, () =>
    inRolledBack(async (trx) => {
      for (const statement of statements()) await statement.execute(trx)
      assert.notDeepEqual(await failuresOf(trx, { isFull: true }), [])
    }))

for (const [name, statement] of Object.entries(HIDDEN))
  test(`the full audit finds ${name}, which the sums do not show`, () =>
    inRolledBack(async (trx) => {
      await statement().execute(trx)
      assert.deepEqual(await failuresOf(trx), [])
      const failures = await failuresOf(trx, { isFull: true })
      assert.ok(failures.includes('sealed events are as they were sealed'))
    }))

test('the full audit finds a sealed charge of no time, instead of failing at its tree', () =>
  inRolledBack(async (trx) => {
    await sql`
      update usage_events set created_at = '-infinity' where id in (
        select (array_agg(e.id order by e.id))[1] from audit_seals s
        join usage_events e on e.settled_at >= s.from_at and e.settled_at < s.to_at
        group by s.number having count(*) > 1)`.execute(trx)
    const failures = await failuresOf(trx, { isFull: true })
    assert.ok(failures.includes('sealed events are as they were sealed'), String(failures))
    assert.ok(failures.includes('the tree of a seal is that of its events'), String(failures))
  }))

test('the full audit checks the charges of every seal again', async () => {
  const { rows } = await sql<{ id: string }>`
    select (array_agg(e.id))[1] as id from audit_seals s
    join usage_events e on e.settled_at >= s.from_at and e.settled_at < s.to_at
    group by s.number`.execute(database.db)
  assert.ok(rows.length > 2)
  for (const { id } of rows)
    await inRolledBack(async (trx) => {
      await sql`update usage_events set fx_rate_e4 = fx_rate_e4 + 1 where id = ${id}`.execute(trx)
      const failures = await failuresOf(trx, { isFull: true })
      assert.ok(
        failures.includes('the exchange rate of a charge is a stored rate'),
        String(failures),
      )
    })
})

test('an audit that reads a share again finds each changed row on some day, and all of a small ledger at once', async (context) => {
  const { rows } = await sql<{ number: bigint; id: string }>`
    select s.number, (array_agg(e.id))[1] as id from audit_seals s
    join usage_events e on e.settled_at >= s.from_at and e.settled_at < s.to_at
    group by s.number`.execute(database.db)
  assert.ok(rows.length > 0)
  const { rows: total } = await sql<{ events: bigint }>`
    select sum(events)::int8 as events from audit_seals`.execute(database.db)
  const days = 4
  const eventsAgain = Number(total[0]?.events) / days
  for (const { id } of rows)
    await inRolledBack(async (trx) => {
      await sql`update usage_events set first_byte_ms = coalesce(first_byte_ms, 0) + 1 where id = ${id}`.execute(
        trx,
      )
      assert.deepEqual(await failuresOf(trx, { eventsAgain: 100_000 }), [
        'sealed events are as they were sealed',
      ])
      context.mock.timers.enable({ apis: ['Date'], now: Date.now() })
      let found = 0
      for (let day = 0; day < days; day += 1) {
        found += (await failuresOf(trx, { eventsAgain })).length
        context.mock.timers.setTime(Date.now() + 86_400_000)
      }
      context.mock.timers.reset()
      assert.equal(found, 1)
    })
})

test('without their rows the sums of a seal still prove the balances, and cannot be changed', async () => {
  await inRolledBack(async (trx) => {
    await sql`update audit_seal_sums set billed_nano_brl = billed_nano_brl + 1
      where customer_id = ${capped.customerId}`.execute(trx)
    const failures = await failuresOf(trx)
    assert.ok(failures.includes('the sums of a seal are as they were sealed'))
    assert.ok(failures.includes(CHARGES))
  })
  await inRolledBack(async (trx) => {
    await sql`update accounts set charged_nano_brl = charged_nano_brl - 10000, credited_nano_brl = credited_nano_brl - 10000
      where customer_id = ${capped.customerId}`.execute(trx)
    assert.ok((await failuresOf(trx)).includes(CHARGES))
  })
})

test('a seal that is removed or changed breaks the chain', async () => {
  for (const statement of [
    sql`with gone as (delete from audit_seal_sums where seal_number = 2) delete from audit_seals where number = 2`,
    sql`update audit_seals set breaches = '{"x": [1]}' where number = 2`,
    sql`update audit_seals set to_at = to_at + interval '1 second' where number = 2`,
    sql`update audit_seals set charges_root = sha256('x') where number = 2`,
    sql`update audit_seals set charges_head = sha256('x') where number = 2`,
  ])
    await inRolledBack(async (trx) => {
      await sql`alter table audit_seal_sums drop constraint audit_seal_sums_seal_number_fkey`.execute(
        trx,
      )
      await statement.execute(trx)
      assert.ok((await failuresOf(trx)).includes('the seals are a chain without a gap'))
    })
})

test('erasing the session ids of a customer changes no seal', async () => {
  await inRolledBack(async (trx) => {
    await sql`update usage_events set session_id = null where customer_id = ${indebted.customerId}`.execute(
      trx,
    )
    await sql`delete from usage_sessions where customer_id = ${indebted.customerId}`.execute(trx)
    assert.deepEqual(await failuresOf(trx, { isFull: true }), [])
  })
})

test('a breach that is sealed is reported by every later audit', async () => {
  const id = await call(capped, 10, 5)
  await sql`update usage_events set fx_rate_e4 = fx_rate_e4 + 1 where id = ${id}`.execute(
    database.db,
  )
  const checks = [
    'charge = cost x exchange rate x markup, rounded half up once',
    'the exchange rate of a charge is a stored rate',
  ]
  assert.deepEqual((await failuresOf(database.db)).sort(), checks)
  await sealUsage(database.db, { share: 1, marginSeconds: 0 })
  assert.deepEqual((await failuresOf(database.db)).sort(), checks)
})

test('a seal ends before a settlement that is not committed yet, so each settlement is counted once', async () => {
  const committed = Promise.withResolvers<void>()
  const settled = Promise.withResolvers<void>()
  const attempt = one.attempt(capped, 10)
  await one.ledger.hold(attempt)
  const running = inTransaction(database.db, async (trx) => {
    await sql`select 1 from accounts where customer_id = ${capped.customerId} for no key update`.execute(
      trx,
    )
    await sql`select resolve_holds(array[(${attempt.id}, 'charged', null, 'test', 'exact', 0, 0, 0, 4, 0, 4000000,
      40000, 8000000, 1, 2, null, null, null, ${capped.customerId}, false)::ledger_resolution])`.execute(
      trx,
    )
    settled.resolve()
    await committed.promise
  })
  await settled.promise
  const other = (await seedCustomer(database.db, { balanceBrl: worth(100) })).key
  await call(other, 10, 5)
  await Promise.all([1, 2, 3].map(() => sealUsage(database.db, { share: 1, marginSeconds: 0 })))
  committed.resolve()
  await running
  const failures = await failuresOf(database.db, { isFull: true })
  assert.deepEqual(
    failures.filter(
      (name) => !name.startsWith('charge = ') && !name.startsWith('the exchange rate'),
    ),
    [],
  )
  const { rows } = await sql`select from usage_events where id = ${attempt.id}
    and settled_at >= (select max(to_at) from audit_seals)`.execute(database.db)
  assert.equal(rows.length, 1)
  await sealUsage(database.db, { share: 1, marginSeconds: 0 })
  assert.deepEqual((await failuresOf(database.db, { isFull: true })).length, 2)
})

async function inRolledBack(work: (trx: Database) => Promise<void>): Promise<void> {
  await assert.rejects(
    inTransaction(named.db, async (trx) => {
      await work(trx)
      throw new RolledBack()
    }),
    RolledBack,
  )
}

class RolledBack extends Error {}
