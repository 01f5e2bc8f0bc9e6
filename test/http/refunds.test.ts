/** Refunds and charge-backs as customers and operators meet them, through the adapter and a processor over HTTP. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import { ensureReferralCode, refer } from '../../src/customers/referrals.ts'
import { findAccount } from '../../src/money/ledger/entries.ts'
import { createId } from '../../src/platform/lib/ids.ts'
import { createLog } from '../../src/platform/lib/log.ts'
import { NANO_PER_BRL } from '../../src/platform/lib/money.ts'
import { ensureSealingKey } from '../../src/platform/lib/sealing-key.ts'
import {
  rewardDueReferrals,
  takeBackRewards,
} from '../../src/money/payments/referral-rewards/reward-due-referrals.ts'
import { seedPaidTopUp } from '../harness/seed-paid-top-up.ts'
import { seedUsage } from '../harness/seed-usage.ts'
import { APPROVED, cardBody } from '../harness/cards.ts'
import { actOnPage, seedPayer, until, type Payer } from '../harness/payer.ts'
import { actsOn, startWithAdmins, type TestAdmins } from '../harness/admins.ts'
import { ask, askChat, sound, type Asked } from '../harness/ask.ts'
import { assertAudit } from '../harness/assert-audit.ts'

let admins: TestAdmins
let baseUrl: string
let db: TestAdmins['gateway']['database']['db']

before(async () => {
  admins = await startWithAdmins()
  baseUrl = admins.gateway.node.baseUrl
  db = admins.gateway.database.db
})
after(async () => {
  await assertAudit(admins.gateway.database)
  await admins.gateway.stop()
})

function call(payer: Payer, path: string, body?: unknown): Promise<Asked> {
  return ask(baseUrl, path, { secret: payer.secret, body })
}

/** Pays on the sandbox's page; returns the top-up. */
async function payIn(payer: Payer, amount: number): Promise<Asked['json']> {
  const { json } = await call(payer, '/topups', { amount })
  await actOnPage(json.page_url)
  return until(
    async () => (await call(payer, `/topups/${json.id}`)).json,
    ({ status }) => status === 'paid',
  )
}

async function balanceOf({ customerId }: Payer): Promise<bigint | undefined> {
  return (await findAccount(db, customerId))?.balanceNanoBrl
}

test('an unspent payment can be refunded: it leaves the balance at once and is returned', async () => {
  const payer = await seedPayer(db)
  const topUp = await payIn(payer, 50)
  assert.equal((await askChat(baseUrl, payer.secret, sound())).status, 200)
  const list = (await call(payer, '/me/refunds')).json
  assert.ok(list.refundable_brl > 49 && list.refundable_brl < 50)
  assert.deepEqual(
    [list.withdrawable_brl, list.minimum_brl, list.refunds],
    [list.refundable_brl, 5, []],
  )
  const asked = await call(payer, '/me/refunds', { amount: 20, reason: 'Engano' })
  assert.equal(asked.status, 201, asked.text)
  assert.deepEqual(
    [asked.json.kind, asked.json.status, asked.json.amount_brl, asked.json.parts[0].topup_id],
    ['withdrawal', 'approved', 20, topUp.id],
  )
  assert.ok(((await balanceOf(payer)) ?? 0n) < 30n * NANO_PER_BRL)
  const done = await until(
    async () => (await call(payer, `/me/refunds/${asked.json.id}`)).json,
    ({ status }) => status === 'done',
  )
  assert.equal(done.returned_brl, 20)
  const after = (await call(payer, `/topups/${topUp.id}`)).json
  assert.deepEqual([after.status, after.returned_brl], ['partially_refunded', 20])
  const [act] = await actsOn(admins.gateway, asked.json.id)
  assert.equal(act?.action, 'refund.requested')
})

test("a refund above the balance, below the minimum or of another customer's top-up is refused, and nothing changes", async () => {
  const payer = await seedPayer(db)
  const other = await seedPayer(db)
  await seedPaidTopUp(db, { customerId: payer.customerId, cents: 2_000, daysAgo: 10 })
  const strange = await seedPaidTopUp(db, { customerId: other.customerId, cents: 2_000 })
  const refused = async (body: unknown): Promise<unknown[]> => {
    const { status, json } = await call(payer, '/me/refunds', body)
    return [status, json.error, json.details]
  }
  assert.deepEqual(await refused({ amount: 20.01 }), [
    409,
    'amount_not_refundable',
    'amount: pode ser no máximo 20',
  ])
  assert.deepEqual(await refused({ amount: 4.99 }), [
    400,
    'refund_below_minimum',
    'amount: deve ser no mínimo 5',
  ])
  // The minimum is told before what there is.
  assert.deepEqual(
    (await call(await seedPayer(db), '/me/refunds', { amount: 4.99 })).json.error,
    'refund_below_minimum',
  )
  assert.deepEqual((await refused({ topup_id: strange })).slice(0, 2), [404, 'topup_not_found'])
  for (const amount of [0, -5, 5.001, 1e300, '10'])
    assert.deepEqual((await refused({ amount })).slice(0, 2), [400, 'invalid_request'])
  assert.equal(await balanceOf(payer), 20n * NANO_PER_BRL)
  assert.equal((await call(other, '/me/refunds')).json.refunds.length, 0)
})

test('an operator approves or rejects a large refund, once, and only an operator', async () => {
  const payer = await seedPayer(db)
  const { customerId } = payer
  // A boleto, which no processor returns.
  await seedPaidTopUp(db, { customerId, cents: 300_000, daysAgo: 30, method: 'boleto' })
  const ids: string[] = []
  for (const amount of [600, 700]) {
    const { json } = await call(payer, '/me/refunds', { amount })
    assert.equal(json.status, 'requested')
    ids.push(json.id)
  }
  const [first, second] = ids.map((id) => `/admin/refunds/${id}`)
  assert.equal((await call(payer, `${first}/approve`, {})).status, 403)
  const rejected = await admins.ana.call(`${first}/reject`, { note: 'Falta um documento.' })
  assert.deepEqual([rejected.status, rejected.json.status], [200, 'rejected'])
  assert.equal((await admins.bia.call(`${first}/approve`, {})).json.error, 'refund_already_decided')
  assert.equal(
    (await call(payer, `/me/refunds/${ids[0]}`)).json.decision_note,
    'Falta um documento.',
  )
  assert.equal((await admins.ana.call(`${second}/approve`, {})).json.status, 'approved')
  const listed = (await admins.ana.call('/admin/refunds?status=approved')).json.refunds
  assert.deepEqual(
    listed.find(({ id }: { id: string }) => id === ids[1])?.manual_parts[0].amount_brl,
    700,
  )
  const done = await admins.bia.call(`${second}/complete`, { outcome: 'done' })
  assert.deepEqual([done.json.status, done.json.returned_brl], ['done', 700])
  assert.equal(await balanceOf(payer), 2_300n * NANO_PER_BRL)
  const acts = await Promise.all(ids.map((id) => actsOn(admins.gateway, id)))
  assert.deepEqual(
    acts.map((list) => list.map(({ action }) => action)),
    [
      ['refund.requested', 'refund.rejected'],
      ['refund.requested', 'refund.approved', 'refund.transferred'],
    ],
  )
  assert.equal((await admins.ana.call(`/admin/refunds/${createId()}/approve`, {})).status, 404)
})

test('a charge-back debits the balance and suspends the account on all nodes until an operator reinstates it', async () => {
  const payer = await seedPayer(db)
  const topUp = await payIn(payer, 20)
  await payIn(payer, 30)
  assert.equal((await askChat(baseUrl, payer.secret, sound())).status, 200)
  await actOnPage(topUp.page_url, 'contestar')
  await until(
    async () => (await call(payer, `/topups/${topUp.id}`)).json,
    ({ status }) => status === 'chargeback',
  )
  const refused = await askChat(baseUrl, payer.secret, sound())
  assert.deepEqual([refused.status, refused.json.error.code], [403, 'account_suspended'])
  assert.match(refused.json.error.message, /suspensa/)
  // Everything else works: a suspended customer can see the reason, but not pay in.
  assert.equal((await call(payer, '/usage')).status, 200)
  const shown = (await call(payer, '/session')).json.suspension
  assert.equal(shown.cause, 'chargeback')
  assert.match(shown.reason, /contestado/)
  for (const [path, body] of [
    ['/topups', { amount: 20 }],
    ['/topups', { amount: 20, method: 'boleto' }],
    ['/topups', { amount: 20, method: 'card', payment_method_id: createId() }],
    ['/payment-methods', cardBody(APPROVED)],
  ] as const) {
    const refusal = await call(payer, path, body)
    assert.deepEqual([refusal.status, refusal.json.error], [403, 'account_suspended'])
    assert.match(refusal.json.details, /a conta está suspensa/)
  }
  const path = `/admin/customers/${payer.customerId}`
  assert.equal((await call(payer, `${path}/reinstate`, {})).status, 403)
  const { suspension } = (await admins.ana.call(path)).json
  assert.deepEqual(suspension, shown)
  assert.ok(Math.abs(Date.parse(suspension.since) - Date.now()) < 600_000, suspension.since)
  assert.equal((await admins.ana.call(`${path}/reinstate`, {})).json.is_suspended, false)
  assert.equal((await admins.ana.call(path)).json.suspension, null)
  assert.equal((await askChat(baseUrl, payer.secret, sound())).status, 200)
  assert.equal((await call(payer, '/session')).json.suspension, null)
  const reason = 'Falta o contrato social da empresa.'
  assert.equal((await admins.ana.call(`${path}/suspend`, {})).status, 400)
  assert.equal((await admins.ana.call(`${path}/suspend`, { reason: ' ' })).status, 400)
  assert.equal((await admins.ana.call(`${path}/suspend`, { reason })).json.is_suspended, true)
  assert.equal((await call(payer, '/session')).json.suspension.reason, reason)
  assert.equal((await askChat(baseUrl, payer.secret, sound())).status, 403)
  const nobody = `/admin/customers/${createId()}/suspend`
  assert.equal((await admins.ana.call(nobody, { reason })).status, 404)
  const acts = await actsOn(admins.gateway, payer.customerId)
  assert.deepEqual(
    acts
      .map(({ action }) => action)
      .filter((action) => action.startsWith('customer.') && action !== 'customer.viewed'),
    ['customer.reinstated', 'customer.suspended'],
  )
})

test('referred accounts that pay and are refunded earn no reward', async () => {
  const referrer = await seedPayer(db, '11144477735')
  const code = await ensureReferralCode(db, referrer.customerId)
  const made = ['24971563792', '39053344705', '15350946056', '86288366757', '71428793860']
  await Promise.all(
    made.map(async (cpf) => {
      const payer = await seedPayer(db, cpf)
      const { customerId } = payer
      await db.transaction().execute((trx) => refer(trx, { customerId, code }))
      await payIn(payer, 20)
      await untilEventsAreOut(payer)
      const { json } = await call(payer, '/me/refunds', { amount: 20 })
      await until(
        async () => (await call(payer, `/me/refunds/${json.id}`)).json,
        ({ status }) => status === 'done',
      )
    }),
  )
  await rewardAsTheJobDoes()
  assert.equal(await balanceOf(referrer), 0n)
  await letDaysPass(8)
  await rewardAsTheJobDoes()
  assert.equal(await balanceOf(referrer), 0n)
  assert.equal((await call(referrer, '/me/referrals')).json.statistics.rewarded, 0)
})

test('a referrer is rewarded once, after the withdrawal period and real spending, and not for charged-back payments', async () => {
  const referrer = await seedPayer(db, '11144477735')
  const payer = await seedPayer(db, '52998224725')
  const code = await ensureReferralCode(db, referrer.customerId)
  await db.transaction().execute((trx) => refer(trx, { customerId: payer.customerId, code }))
  const topUp = await payIn(payer, 50)
  await untilEventsAreOut(payer)
  const { id: apiKeyId } = await db
    .selectFrom('api_keys')
    .select('id')
    .where('customer_id', '=', payer.customerId)
    .executeTakeFirstOrThrow()
  const billed = 20n * NANO_PER_BRL
  const use = { at: new Date(), modelId: 'seeded', promptTokens: 1, completionTokens: 1 }
  const { customerId } = payer
  const events = [{ ...use, billed, costPicoUsd: billed * 100n }]
  await seedUsage(db, { customerId, apiKeyId, events })
  await rewardAsTheJobDoes()
  assert.equal(await balanceOf(referrer), 0n)

  await letDaysPass(8)
  await Promise.all([rewardAsTheJobDoes(), rewardAsTheJobDoes()])
  assert.equal(await balanceOf(referrer), 10n * NANO_PER_BRL)
  const answer = (await call(referrer, '/me/referrals')).json
  assert.deepEqual(answer.statistics, { registered: 1, rewarded: 1, total_reward_brl: 10 })
  assert.deepEqual(answer.reward_rule, { reward_brl: 10, withdrawal_days: 7, spending_min_brl: 20 })
  const refund = await call(referrer, '/me/refunds', {})
  assert.deepEqual([refund.status, refund.json.error], [409, 'amount_not_refundable'])

  await actOnPage(topUp.page_url, 'contestar')
  await until(
    async () => (await call(payer, `/topups/${topUp.id}`)).json,
    ({ status }) => status === 'chargeback',
  )
  await takeBackRewards(
    db,
    createLog('silent', () => {}),
  )
  assert.equal(await balanceOf(referrer), 0n)
  const { referred_users: people, statistics } = (await call(referrer, '/me/referrals')).json
  assert.deepEqual(
    [people[0].status, people[0].reward_brl, people[0].taken_back_brl],
    ['taken_back', 10, 10],
  )
  assert.deepEqual(statistics, { registered: 1, rewarded: 0, total_reward_brl: 0 })
})

/** The node's own runs each minute; this one beside it, as another node's would. */
async function rewardAsTheJobDoes(): Promise<void> {
  const programme = {
    rewardNanoBrl: 10n * NANO_PER_BRL,
    spendingMinNanoBrl: 20n * NANO_PER_BRL,
  }
  const keys = { current: await ensureSealingKey(admins.gateway.node.dataDir) }
  await rewardDueReferrals(
    db,
    programme,
    keys,
    createLog('silent', () => {}),
  )
}

async function letDaysPass(days: number): Promise<void> {
  await sql`update top_ups set paid_at = paid_at - make_interval(days => ${days}::int4)`.execute(db)
}

async function untilEventsAreOut({ customerId }: Payer): Promise<void> {
  await until(
    async () => {
      const { rows } = await sql`
        select 1 from events where customer_id = ${customerId} and dispatched_at is null`.execute(
        db,
      )
      return rows.length
    },
    (waiting) => waiting === 0,
  )
}
