/** Alerts on the account and the roll-ups of real calls, at times that the test chooses. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import fc from '../harness/fast-check.ts'
import { sql } from 'kysely'
import { SYSTEM } from '../../src/platform/audit-log/audited.ts'
import { changeAlert, type AlertChange } from '../../src/deliveries/alerts/alerts.ts'
import { evaluateAlerts } from '../../src/deliveries/alerts/evaluate-alerts.ts'
import { readRunway } from '../../src/deliveries/alerts/read-runway.ts'
import { createApiKey, revokeApiKey } from '../../src/customers/api-keys.ts'
import { closeTeam, insertTeam } from '../../src/customers/teams.ts'
import { credit, debit } from '../../src/money/ledger/entries.ts'
import { createId } from '../../src/platform/lib/ids.ts'
import { createTestDatabase, seedCustomer } from '../harness/test-database.ts'
import { seedUsage, type SeededUse } from '../harness/seed-usage.ts'
import {
  addAlert,
  BRL,
  errors,
  firedOf,
  hoursFromNoon,
  log,
  evaluateAll,
  evaluateConcurrently,
  NOON,
  rowOf,
} from '../harness/alerts.ts'

const database = await createTestDatabase()
const { db } = database
after(() => database.drop())

interface Seeded {
  readonly customerId: string
  readonly keyId: string
}

async function addCustomer(timezone = 'UTC', balanceBrl = '10000'): Promise<Seeded> {
  const { customerId, key } = await seedCustomer(db, { balanceBrl })
  await sql`update customers set timezone = ${timezone} where id = ${customerId}`.execute(db)
  return { customerId, keyId: key.id }
}

/** In whole reais. */
async function spend({ customerId, keyId }: Seeded, at: Date, reais: number): Promise<void> {
  await use({ customerId, keyId }, [{ at, billed: BigInt(reais) * BRL }])
}

async function use(
  { customerId, keyId }: Seeded,
  uses: readonly Pick<SeededUse, 'at' | 'billed' | 'outcome' | 'teamId'>[],
): Promise<void> {
  const events = uses.map((one) => ({
    modelId: 'sandbox-chat',
    promptTokens: 1,
    completionTokens: 1,
    ...one,
  }))
  await seedUsage(db, { customerId, apiKeyId: keyId, events })
}

/** This many parallel calls, of which so many were released. */
function calls(owner: Seeded, at: Date, count: number, failed: number): Promise<void> {
  return use(
    owner,
    Array.from({ length: count }, (_, n) =>
      n < failed ? { at, outcome: 'released' as const } : { at, billed: 1n },
    ),
  )
}

test("daily spending fires once when the threshold is reached, and again on the customer's next day", async () => {
  // In that time zone the next day begins at 15:00 UTC.
  const owner = await addCustomer('Asia/Tokyo')
  const { customerId } = owner
  const alert = await addAlert(db, customerId, { kind: 'daily_spend', threshold: '10' })
  await spend(owner, hoursFromNoon(-22), 500)
  await spend(owner, hoursFromNoon(-1), 9)
  await evaluateAll(db, NOON)
  assert.deepEqual(await firedOf(db, customerId), [], 'yesterday is another day')
  await spend(owner, hoursFromNoon(-1), 1)
  await evaluateAll(db, NOON)
  await evaluateAll(db, hoursFromNoon(1))
  await spend(owner, hoursFromNoon(2), 40)
  await evaluateAll(db, hoursFromNoon(2))
  const fired = {
    id: alert.id,
    name: 'alerta daily_spend',
    kind: 'daily_spend',
    api_key_id: null,
    team_id: null,
    channels: ['email', 'webhook'],
    threshold_brl: '10',
    spent_brl: '10',
    period_started_at: '2026-09-15T15:00:00.000Z',
  }
  assert.deepEqual(await firedOf(db, customerId), [fired])
  const row = await rowOf(db, alert)
  assert.deepEqual(
    [row.state, row.last_value_nano, row.last_fired_at, row.fired_period],
    ['triggered', 10n * BRL, NOON, '2026-09-16'],
  )
  await evaluateAll(db, hoursFromNoon(3))
  assert.equal((await rowOf(db, alert)).state, 'ok', 'a new day has begun')
  await spend(owner, hoursFromNoon(4), 11)
  await evaluateAll(db, hoursFromNoon(4))
  const again = { ...fired, spent_brl: '11', period_started_at: '2026-09-16T15:00:00.000Z' }
  assert.deepEqual(await firedOf(db, customerId), [fired, again])
})

test("monthly spending starts anew with the customer's month", async () => {
  const owner = await addCustomer('America/Sao_Paulo')
  await addAlert(db, owner.customerId, { kind: 'monthly_spend', threshold: '100' })
  // 21:30 on the last day of August there; in UTC it is September.
  await spend(owner, new Date('2026-09-01T00:30:00Z'), 60)
  await spend(owner, new Date('2026-09-01T03:00:00Z'), 60)
  await evaluateAll(db, NOON)
  assert.deepEqual(await firedOf(db, owner.customerId), [])
  await spend(owner, NOON, 40)
  await evaluateAll(db, NOON)
  await evaluateAll(db, new Date('2026-10-01T02:59:00Z'))
  assert.equal((await firedOf(db, owner.customerId)).length, 1)
  await spend(owner, new Date('2026-10-01T03:00:00Z'), 100)
  await evaluateAll(db, new Date('2026-10-01T03:00:00Z'))
  const [first, second] = await firedOf(db, owner.customerId)
  assert.equal(first?.spent_brl, '100')
  assert.equal(second?.period_started_at, '2026-10-01T03:00:00.000Z')
})

test('for random balances an alert fires when its threshold is crossed, and again after a recovery of a tenth', async () => {
  const balances = fc.array(
    fc.oneof(fc.integer({ min: 80, max: 130 }), fc.constantFrom(99, 100, 109, 110)),
    { minLength: 6, maxLength: 10 },
  )
  await fc.assert(
    fc.asyncProperty(balances, async (series) => {
      const { customerId } = await addCustomer('UTC', '0')
      await addAlert(db, customerId, { kind: 'balance_below', threshold: '100' })
      let balance = 0
      let isArmed = true
      const expected: string[] = []
      for (const next of series) {
        const entry = { customerId, reason: 'adjustment', reference: createId() }
        const amountNanoBrl = BigInt(Math.abs(next - balance)) * BRL
        if (next > balance) await credit(db, { ...entry, amountNanoBrl })
        if (next < balance) await debit(db, { ...entry, amountNanoBrl })
        balance = next
        if (next >= 110) isArmed = true
        if (next < 100 && isArmed) {
          isArmed = false
          expected.push(String(next))
        }
        await evaluateAll(db, NOON)
      }
      const fired = (await firedOf(db, customerId)).map((data) => data.balance_brl)
      assert.deepEqual(fired, expected)
      await sql`delete from alerts where customer_id = ${customerId}`.execute(db)
    }),
    { numRuns: 3 },
  )
})

test("the balance's remaining days are those of GET /me/runway, and unknown when too little is spent", async () => {
  const owner = await addCustomer('UTC', '100')
  const { customerId } = owner
  await addAlert(db, customerId, { kind: 'runway_days', threshold: '30' })
  await evaluateAll(db, new Date())
  assert.deepEqual(await firedOf(db, customerId), [], 'without spending it lasts for ever')
  await spend(owner, new Date(Date.now() - 86_400_000), 50)
  await evaluateAll(db, new Date())
  assert.deepEqual(await firedOf(db, customerId), [], '30 days are not below 30')
  await spend(owner, new Date(Date.now() - 86_400_000), 10)
  await evaluateAll(db, new Date())
  const { runwayDays } = await readRunway(db, customerId)
  const [fired] = await firedOf(db, customerId)
  assert.deepEqual(
    [fired?.runway_days, fired?.threshold_days, fired?.balance_brl],
    [runwayDays, 30, '40'],
  )
  assert.equal(runwayDays, 20)
})

test('an error alert fires by the failure rate of the last hour, and one failure of two calls is not enough', async () => {
  const owner = await addCustomer()
  const { customerId } = owner
  const alert = await addAlert(db, customerId, { kind: 'error_rate', threshold: '25' })
  await calls(owner, hoursFromNoon(0.1), 2, 1)
  await calls(owner, hoursFromNoon(0.1), 17, 17)
  await evaluateAll(db, hoursFromNoon(0.2))
  assert.deepEqual(await firedOf(db, customerId), [], 'nineteen calls are too few')
  await calls(owner, hoursFromNoon(0.2), 61, 2)
  await evaluateAll(db, hoursFromNoon(0.3))
  const [fired] = await firedOf(db, customerId)
  assert.deepEqual(
    [fired?.error_percent, fired?.threshold_percent, fired?.requests],
    [25, 25, 80],
    '20 of 80 failed',
  )
  assert.equal((await rowOf(db, alert)).last_value_nano, 25n * BRL)
  // An hour and a half later half of that hour counts, together with 60 calls of this one: 10 of 100.
  await calls(owner, hoursFromNoon(1.4), 60, 0)
  await evaluateAll(db, hoursFromNoon(1.5))
  assert.equal((await rowOf(db, alert)).state, 'ok')
  await calls(owner, hoursFromNoon(1.6), 60, 60)
  await evaluateAll(db, hoursFromNoon(1.6))
  assert.equal((await firedOf(db, customerId)).length, 2)
  await evaluateAll(db, hoursFromNoon(5))
  assert.equal((await rowOf(db, alert)).state, 'ok', 'where nobody calls nothing fails')
})

test('an alert of a key or a team counts only its calls, until the key is revoked and the team deleted', async () => {
  const owner = await addCustomer()
  const { customerId } = owner
  const team = await db
    .transaction()
    .execute((trx) => insertTeam(trx, { ownerId: customerId, name: 'Dados', limitNanoBrl: null }))
  assert.equal(team.kind, 'created')
  const keyOf = async (teamId?: string): Promise<Seeded> => {
    const input = { customerId, name: 'outra', requestsPerMinute: 10, teamId }
    return { customerId, keyId: (await createApiKey(db, input)).key.id }
  }
  const [other, ofTeam, alsoOfTeam] = [await keyOf(), await keyOf(team.id), await keyOf(team.id)]
  const onKey = { kind: 'daily_spend', threshold: '10', apiKeyId: other.keyId } as const
  const onTeam = { kind: 'daily_spend', threshold: '10', teamId: team.id } as const
  const errorsOfTeam = { kind: 'error_rate', threshold: '50', teamId: team.id } as const
  const key = await addAlert(db, customerId, onKey)
  const ofBoth = await addAlert(db, customerId, onTeam)
  const failing = await addAlert(db, customerId, errorsOfTeam)
  const states = async () =>
    Promise.all([key, ofBoth, failing].map(async (one) => (await rowOf(db, one)).state))
  await spend(owner, NOON, 100)
  await calls(owner, NOON, 30, 30)
  await spend(other, NOON, 9)
  await spend(ofTeam, NOON, 6)
  await evaluateAll(db, NOON)
  assert.deepEqual(await states(), ['ok', 'ok', 'ok'])
  await spend(other, NOON, 1)
  await calls(ofTeam, NOON, 20, 20)
  await spend(alsoOfTeam, NOON, 4)
  // Earlier spending still counts.
  await revokeApiKey(db, other.keyId)
  await db.transaction().execute((trx) => closeTeam(trx, team.id))
  await evaluateAll(db, NOON)
  assert.deepEqual(await states(), ['triggered', 'triggered', 'triggered'])
  const fired = await firedOf(db, customerId)
  assert.deepEqual(
    new Set(fired.map((data) => [data.api_key_id, data.team_id, data.spent_brl].join())),
    new Set([`${other.keyId},,10`, `,${team.id},10`, `,${team.id},`]),
  )
  await evaluateAll(db, hoursFromNoon(24))
  assert.deepEqual(await states(), ['ok', 'ok', 'ok'])
})

test('a disabled alert is not evaluated, and a new threshold rearms a fired alert', async () => {
  const owner = await addCustomer()
  const { customerId } = owner
  await spend(owner, NOON, 50)
  const input = { kind: 'daily_spend', threshold: '10', isEnabled: false } as const
  const { id } = await addAlert(db, customerId, input)
  const change = async (more: AlertChange) => {
    const fields = Object.keys(more)
    assert.ok(await changeAlert(db, SYSTEM, { customerId, id, readChange: () => more, fields }))
    await evaluateAll(db, NOON)
    return (await firedOf(db, customerId)).length
  }
  assert.equal(await change({ name: 'ainda desligado' }), 0)
  assert.equal(await change({ isEnabled: true }), 1)
  assert.equal(await change({ name: 'outro', thresholdNano: 10n * BRL }), 1, 'the same as before')
  assert.equal(await change({ thresholdNano: 20n * BRL }), 2)
  assert.equal(await change({ isEnabled: false }), 2)
  assert.equal(await change({ isEnabled: true }), 2, 'on again is not armed again')
})

test('an alert fires once, however many nodes evaluate it in parallel', async () => {
  const owners = await Promise.all(Array.from({ length: 6 }, () => addCustomer()))
  for (const owner of owners) {
    await spend(owner, NOON, 10)
    for (const kind of ['daily_spend', 'monthly_spend'] as const)
      await addAlert(db, owner.customerId, { kind, threshold: '10' })
  }
  const alerts = await db.selectFrom('alerts').select('id').execute()
  /** One row at a time: a statement that locks all of them deadlocks with the other nodes'. */
  const makeDue = async (): Promise<void> => {
    for (const { id } of alerts)
      await sql`update alerts set due_at = '-infinity' where id = ${id}`.execute(db)
  }
  await makeDue()
  const fired = await Promise.all(
    // As if a node were so slow that the next one took its alerts: they are due again immediately.
    Array.from({ length: 6 }, async () => {
      const count = await evaluateAlerts(db, { now: NOON, log })
      await makeDue()
      return count + (await evaluateAlerts(db, { now: NOON, log }))
    }),
  )
  assert.equal(
    fired.reduce((sum, count) => sum + count, 0),
    12,
  )
  for (const { customerId } of owners) assert.equal((await firedOf(db, customerId)).length, 2)
  assert.equal(await evaluateAlerts(db, { now: NOON, log }), 0, 'none is due before its time')
})

test('an alert that a second node takes from a slow node does not fire twice', async () => {
  const owner = await addCustomer()
  await spend(owner, NOON, 10)
  await addAlert(db, owner.customerId, { kind: 'daily_spend', threshold: '10' })
  await sql`update alerts set due_at = case when customer_id = ${owner.customerId} then '-infinity'::timestamptz else 'infinity' end`.execute(
    db,
  )
  const lookAt = (now: Date) => () => evaluateAlerts(db, { now, log })
  assert.equal(await evaluateConcurrently(db, [lookAt(NOON), lookAt(hoursFromNoon(0.1))]), 1)
  assert.equal((await firedOf(db, owner.customerId)).length, 1)
})

test("an alert that cannot be reported does not fire, and does not delay other customers' alerts", async () => {
  const [broken, sound] = [await addCustomer(), await addCustomer()]
  for (const owner of [broken, sound]) await spend(owner, NOON, 10)
  const input = { kind: 'daily_spend', threshold: '10' } as const
  const alert = await addAlert(db, broken.customerId, input)
  await addAlert(db, sound.customerId, input)
  await sql`
    create function refuse_event() returns trigger language plpgsql as $$
    begin raise exception 'no room'; end $$`.execute(db)
  await sql`
    create trigger refuse_event before insert on events for each row
    when (new.customer_id = ${sql.lit(broken.customerId)}) execute function refuse_event()`.execute(
    db,
  )
  await evaluateAll(db, NOON)
  assert.equal((await rowOf(db, alert)).state, 'ok')
  assert.equal((await firedOf(db, sound.customerId)).length, 1)
  assert.match(errors.splice(0).join(), /alerts_not_evaluated.*no room/)
  await sql`drop trigger refuse_event on events`.execute(db)
  await evaluateAll(db, NOON)
  assert.equal((await firedOf(db, broken.customerId)).length, 1)
})

test('a deleted customer is not notified', async () => {
  const owner = await addCustomer()
  await spend(owner, NOON, 10)
  await addAlert(db, owner.customerId, { kind: 'daily_spend', threshold: '10' })
  await sql`update customers set deleted_at = now() where id = ${owner.customerId}`.execute(db)
  await evaluateAll(db, NOON)
  assert.deepEqual(await firedOf(db, owner.customerId), [])
  assert.deepEqual(errors, [])
})
