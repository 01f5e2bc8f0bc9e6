/** A small installation with every kind of row that has to do with money, made by the acts themselves. */
import assert from 'node:assert/strict'
import { sql } from 'kysely'
import { OPERATOR, type Actor } from '../../../src/platform/audit-log/audited.ts'
import { cancelMarkup, scheduleMarkup } from '../../../src/money/catalog/markup-changes.ts'
import { setPrices, withdrawPrices } from '../../../src/money/catalog/price-changes.ts'
import type { ApiKey, ApiKeyInput } from '../../../src/customers/api-keys.ts'
import { changeKey, createKey, revokeKey } from '../../../src/customers/key-acts.ts'
import { saveProfile } from '../../../src/customers/profiles.ts'
import { ensureReferralCode } from '../../../src/customers/referrals.ts'
import { registerCustomer } from '../../../src/customers/register-customer.ts'
import { changeTeam, createTeam } from '../../../src/customers/team-acts.ts'
import type { Database } from '../../../src/platform/db/open.ts'
import {
  approveAdjustment,
  rejectAdjustment,
  requestAdjustment,
  type AdjustmentInput,
} from '../../../src/money/ledger/adjustments.ts'
import { sealUsage } from '../../../src/money/ledger/audit/audit-seals.ts'
import { creditByHand } from '../../../src/money/ledger/credit-by-hand.ts'
import { release } from '../../../src/money/ledger/resolution.ts'
import { rollUsageDays } from '../../../src/money/ledger/roll-usage-days.ts'
import { createId } from '../../../src/platform/lib/ids.ts'
import { createLog } from '../../../src/platform/lib/log.ts'
import { NANO_PER_BRL } from '../../../src/platform/lib/money.ts'
import { applyPayment } from '../../../src/money/payments/apply-payment.ts'
import { createTopUp } from '../../../src/money/payments/create-top-up.ts'
import type { Payment, Processor } from '../../../src/money/payments/processor.ts'
import {
  rewardDueReferrals,
  takeBackRewards,
} from '../../../src/money/payments/referral-rewards/reward-due-referrals.ts'
import {
  approveRefund,
  endManualParts,
  rejectRefund,
} from '../../../src/money/payments/refunds/decide-refund.ts'
import { requestRefund } from '../../../src/money/payments/refunds/request-refund.ts'
import { NANO_BRL_PER_CENTAVO, type TopUpMethod } from '../../../src/money/payments/top-ups.ts'
import { grantTrialCredit } from '../../../src/money/payments/trial-credit/grant-trial-credit.ts'
import { deleteAccount } from '../../../src/identity/personal-data/delete-account.ts'
import { NANO_BRL_PER_TOKEN, openTestLedger, testModel } from '../../harness/open-test-ledger.ts'
import { paymentInTest } from '../../harness/payment.ts'
import { createTestDatabase, type TestDatabase } from '../../harness/test-database.ts'

const KEYS = { current: Buffer.alloc(32, 5) }
const CPFS = ['52998224725', '39053344705', '24971563792', '11144477735', '12345678909']

export interface MoneyWorld {
  readonly database: TestDatabase
  close(): Promise<void>
}

/** Everything is sealed, and one hold is open. */
export async function buildMoneyWorld(): Promise<MoneyWorld> {
  const database = await createTestDatabase()
  const { db } = database
  await sql`insert into installation (mode) values ('live')`.execute(db)
  const one = await openTestLedger(db, database.databaseUrl)
  // The node sends no heartbeat.
  await sql`update nodes set seen_at = now() + interval '1 day'`.execute(db)
  const [ana, bia, caio] = await people(db)
  await payIn(db, ana, bia)
  await adjust(db, { of: caio, by: [ana, bia] })
  await changePrices(db)
  const keys = await limitKeys(db, ana)
  await callModels(one, keys)
  await reward(db, bia)
  await closeAccount(db)
  await rollUsageDays(db)
  await sealUsage(db, { share: 1, marginSeconds: 0, eventsMax: 7 })
  assert.equal((await one.ledger.hold(one.attempt(keys.capped, 3, OF_A_TASK))).kind, 'held')
  return {
    database,
    async close() {
      await one.ledger.close()
      await database.drop()
    },
  }
}

interface Person {
  readonly customerId: string
  readonly actor: Actor
}

/** Bia was recommended by Ana. */
async function people(db: Database): Promise<[Person, Person, Person]> {
  const made: Person[] = []
  for (const [place, name] of ['ana', 'bia', 'caio'].entries()) {
    const referralCode =
      name === 'bia' ? await ensureReferralCode(db, (made[0] as Person).customerId) : undefined
    made.push(await register(db, name, CPFS[place] as string, referralCode))
  }
  return made as [Person, Person, Person]
}

async function register(
  db: Database,
  name: string,
  taxId: string,
  referralCode?: string,
): Promise<Person> {
  const email = `${name}@example.com`
  const made = await registerCustomer(db, OPERATOR, { name, email, referralCode })
  assert.ok(made.kind === 'registered')
  const customerId = made.customer.id
  await saveProfile(db, customerId, { full_name: name, tax_id: taxId })
  return { customerId, actor: { kind: 'customer', customerId } }
}

const unpaid = { status: 'pending', hasBeenPaid: false } as const

/** Answers each order with a payment that waits. */
const processor = {
  id: 'asaas',
  ensureCustomer: async () => ({ kind: 'customer', customer: { id: 'cus_1' } }),
  createPayment: async ({ ourId, amountCents, method }) => ({
    kind: 'payment',
    payment: paymentInTest({ topUpId: ourId, amountCents }, { ...unpaid, method }),
  }),
  pixCode: async () => ({
    kind: 'pix_code',
    payload: '0002',
    qrCodeBase64: 'aaaa',
    expiresAt: new Date(Date.now() + 86_400_000),
  }),
  boleto: async () => ({ kind: 'boleto', url: 'https://example.com', line: '3', barCode: '4' }),
} as Partial<Processor> as Processor

async function topUp(
  db: Database,
  { customerId, actor }: Person,
  { cents, method = 'pix', reports }: TopUpOf,
): Promise<string> {
  const id = createId()
  const card =
    method === 'card'
      ? {
          paymentMethodId: createId(),
          token: 't',
          brand: 'Visa',
          lastFour: '1111',
          remoteIp: '::1',
        }
      : undefined
  const payer = { ourId: customerId, name: 'Ana', email: 'ana@example.com', taxId: '52998224725' }
  const amountNanoBrl = BigInt(cents) * NANO_BRL_PER_CENTAVO
  await createTopUp(db, actor, processor, { id, customerId, payer, amountNanoBrl, method, card })
  for (const change of reports)
    await applyPayment(db, id, paymentInTest({ topUpId: id, amountCents: BigInt(cents) }, change))
  return id
}

interface TopUpOf {
  readonly cents: number
  readonly method?: TopUpMethod
  /** What the processor reports, one after the other. */
  readonly reports: readonly Partial<Payment>[]
}

async function payIn(db: Database, ana: Person, bia: Person): Promise<void> {
  const paid = {}
  const request = { ip: '192.0.2.1', deviceIds: ['d'], customerId: bia.customerId }
  const trial = { amountNanoBrl: NANO_PER_BRL, dailyNanoBrl: 100n * NANO_PER_BRL }
  assert.equal((await grantTrialCredit(db, bia.actor, request, trial, KEYS)).kind, 'granted')
  const first = await topUp(db, ana, { cents: 50_000, reports: [paid] })
  await topUp(db, ana, { cents: 20_000, method: 'card', reports: [paid] })
  await age(db, await topUp(db, ana, { cents: 30_000, method: 'boleto', reports: [paid] }))
  await topUp(db, ana, { cents: 1_000, reports: [] })
  await topUp(db, ana, { cents: 1_100, reports: [{ status: 'overdue', hasBeenPaid: false }] })
  await topUp(db, ana, { cents: 1_200, reports: [{ status: 'deleted', hasBeenPaid: false }] })
  await topUp(db, ana, {
    cents: 1_300,
    reports: [paid, { refundedCents: 1_300n, status: 'refunded' }],
  })
  await topUp(db, ana, { cents: 1_400, reports: [paid, { refundedCents: 500n }] })
  const returned = async (refundId: string) => {
    const description = `Reembolso ${refundId}`
    const refunds = [{ status: 'done', amountCents: 10_000n, description }] as const
    const payment = { refunds, refundedCents: 10_000n }
    await applyPayment(db, first, paymentInTest({ topUpId: first, amountCents: 50_000n }, payment))
  }
  await refund(db, ana, 100n, returned, { topUpId: first })
  const manual = async (end: 'done' | 'failed') =>
    refund(db, ana, 7n, async (refundId) => {
      await sql`update refund_parts set is_manual = true where refund_id = ${refundId}`.execute(db)
      await endManualParts(db, OPERATOR, { refundId, end })
    })
  await manual('done')
  await manual('failed')
  await refund(db, ana, 6n, async () => {})
  const old = await topUp(db, bia, { cents: 90_000, reports: [paid] })
  await age(db, old)
  await refund(db, bia, 11n, (refundId) =>
    rejectRefund(db, OPERATOR, { refundId, note: 'não' }).then(() => {}),
  )
  await refund(db, bia, 12n, (refundId) => approveRefund(db, OPERATOR, { refundId }).then(() => {}))
  await endRefund(db)
  await refund(db, ana, 13n, async () => {}, { reviewAboveNanoBrl: 0n })
  await topUp(db, ana, { cents: 1_500, reports: [paid, { status: 'chargeback' }] })
  await sql`update customers set suspended_at = null, suspended_reason = null`.execute(db)
}

/** Bia's refund is transferred, so that her first top-up is whole but for that. */
async function endRefund(db: Database): Promise<void> {
  const { rows } = await sql<{ id: string }>`
    select r.id from refunds r where r.status = 'approved' and r.amount_nano_brl = ${12n * NANO_PER_BRL}`.execute(
    db,
  )
  const refundId = (rows[0] as { id: string }).id
  await sql`update refund_parts set is_manual = true where refund_id = ${refundId}`.execute(db)
  await endManualParts(db, OPERATOR, { refundId, end: 'failed' })
}

async function refund(
  db: Database,
  { customerId, actor }: Person,
  brl: bigint,
  then: (refundId: string) => Promise<void>,
  more: { readonly topUpId?: string; readonly reviewAboveNanoBrl?: bigint } = {},
): Promise<void> {
  const asked = await requestRefund(db, actor, {
    customerId,
    amountNanoBrl: brl * NANO_PER_BRL,
    reason: 'teste',
    topUpId: undefined,
    reviewAboveNanoBrl: 10n * NANO_PER_BRL,
    ...more,
  })
  assert.ok(asked.kind === 'requested', asked.kind)
  await then(asked.refund.id)
}

/** As if it had been paid and credited nine days ago. */
async function age(db: Database, topUpId: string): Promise<void> {
  for (const statement of [
    sql`update top_ups set paid_at = paid_at - interval '9 days', created_at = created_at - interval '9 days'
      where id = ${topUpId}`,
    sql`update ledger_entries set created_at = created_at - interval '9 days' where reference = ${topUpId}`,
    sql`update audit_log set created_at = created_at - interval '9 days' where subject_id = ${topUpId}`,
  ])
    await statement.execute(db)
}

async function adjust(
  db: Database,
  { of, by: [first, second] }: { of: Person; by: readonly [Person, Person] },
): Promise<void> {
  const request = async (more: Partial<AdjustmentInput>, approvalAboveNanoBrl: bigint) => {
    const asked = await requestAdjustment(db, first.actor, {
      customerId: of.customerId,
      kind: 'credit',
      amountNanoBrl: 30n * NANO_PER_BRL,
      reason: 'teste',
      reference: createId(),
      requestedBy: first.customerId,
      ...more,
      approvalAboveNanoBrl,
    })
    assert.ok(asked.kind === 'requested', asked.kind)
    return { id: asked.adjustment.id, decidedBy: second.customerId }
  }
  const posted = 1_000n * NANO_PER_BRL
  await request({}, posted)
  await request({ kind: 'promotional_credit' }, posted)
  await request({ kind: 'debit', amountNanoBrl: NANO_PER_BRL }, posted)
  await request({}, 0n)
  await approveAdjustment(db, second.actor, await request({}, 0n))
  await rejectAdjustment(db, second.actor, await request({ kind: 'debit' }, 0n))
  // A debt: what is charged back was taken out before. A part of it is repaid.
  const dino = await register(db, 'dino', '98765432100')
  const id = await topUp(db, dino, { cents: 2_000, reports: [{}] })
  const taken = { customerId: dino.customerId, amountNanoBrl: 15n * NANO_PER_BRL }
  await request({ ...taken, kind: 'debit' }, posted)
  const chargeback = { status: 'chargeback' } as const
  const back = paymentInTest({ topUpId: id, amountCents: 2_000n }, chargeback)
  await applyPayment(db, id, back)
  await request({ ...taken, amountNanoBrl: 5n * NANO_PER_BRL, kind: 'credit' }, posted)
  await creditByHand(db, OPERATOR, {
    customerId: of.customerId,
    amountNanoBrl: 5n * NANO_PER_BRL,
    reason: 'adjustment',
    reference: 'pedido 7',
    note: 'por telefone',
  })
}

async function changePrices(db: Database): Promise<void> {
  const soon = new Date(Date.now() + 40 * 86_400_000)
  const prices = (output: bigint, startsAt?: Date) => {
    const [tier] = testModel.price.tiers
    assert.ok(tier)
    const price = { tiers: [{ ...tier, output, reasoning: output }] }
    return setPrices(db, OPERATOR, {
      models: [testModel],
      prices: [{ modelId: testModel.id, schedule: [{ price }] }] as never,
      startsAt,
      note: undefined,
      isConfirmed: true,
      isDryRun: false,
    })
  }
  const set = await prices(1_500_000n, soon)
  assert.ok(set.kind === 'set', set.kind)
  await withdrawPrices(db, OPERATOR, { id: set.effects[0]?.id as number, note: undefined })
  await prices(1_600_000n, soon)
  const markup = { modelId: testModel.id, configuredE4: 20_000n, reason: 'teste', noticeDays: 30 }
  const scheduled = await scheduleMarkup(db, OPERATOR, {
    ...markup,
    markupE4: 25_000n,
    startsAt: soon,
  })
  assert.ok(scheduled.kind === 'scheduled', scheduled.kind)
  const { id } = scheduled.change
  await cancelMarkup(db, OPERATOR, { modelId: testModel.id, id })
  await scheduleMarkup(db, OPERATOR, { ...markup, markupE4: 26_000n, startsAt: soon })
}

interface Keys {
  readonly capped: ApiKey
  readonly ofTeam: ApiKey
  readonly plain: ApiKey
}

const OF_A_TASK = { sessionId: 'tarefa', taskLimitNanoBrl: 900n * NANO_BRL_PER_TOKEN }

async function limitKeys(db: Database, { customerId, actor }: Person): Promise<Keys> {
  const create = async (more: Partial<ApiKeyInput>) => {
    const made = await createKey(db, OPERATOR, {
      customerId,
      name: 'chave',
      requestsPerMinute: 1_000_000,
      ...more,
    })
    assert.ok(made.kind === 'created', made.kind)
    return made.key
  }
  const limit = 900n * NANO_BRL_PER_TOKEN
  const capped = await create({
    budget: { limitPicoUsd: 9_000_000_000n, period: 'month' },
    minuteLimitNanoBrl: limit,
    dayLimitNanoBrl: limit,
    taskLimitNanoBrl: OF_A_TASK.taskLimitNanoBrl,
    modelIds: [testModel.id],
    expiresAt: new Date(Date.now() + 86_400_000_000),
  })
  const team = await createTeam(db, actor, {
    ownerId: customerId,
    name: 'equipe',
    limitNanoBrl: limit,
  })
  assert.ok(team.kind === 'created')
  const access = { teamId: team.id, ownerId: customerId, rank: 'owner' } as const
  await changeTeam(db, OPERATOR, {
    access,
    change: { limitNanoBrl: 2n * limit },
    fields: ['monthly_cap_brl'],
  })
  const ofTeam = await create({ teamId: team.id, scope: 'calls' })
  const plain = await create({ dayLimitNanoBrl: limit })
  const change = { dayLimitNanoBrl: 2n * limit, requestsPerMinute: 900_000 }
  const changed = await changeKey(db, OPERATOR, {
    customerId,
    keyId: plain.id,
    change,
    fields: ['day_cap_brl', 'rpm_limit'],
  })
  assert.ok(changed.kind === 'changed', changed.kind)
  const gone = await create({ budget: { limitPicoUsd: 5_000_000n, period: 'lifetime' } })
  await revokeKey(db, OPERATOR, { keyId: gone.id })
  return { capped, ofTeam, plain: changed.key }
}

type Ledger = Awaited<ReturnType<typeof openTestLedger>>

async function callModels(one: Ledger, { capped, ofTeam, plain }: Keys): Promise<void> {
  const call = async (key: ApiKey, held: number, used: number, more = {}) => {
    const attempt = one.attempt(key, held, more)
    assert.equal((await one.ledger.hold(attempt)).kind, 'held')
    await one.ledger.resolve(used > 0 ? one.charge(attempt, used) : release(attempt, 'test'))
    return attempt
  }
  const correct = async (key: ApiKey, held: number, first: number, truth: number) => {
    const attempt = await call(key, held, first, { sessionId: 'corrigida' })
    const outcome = truth > 0 ? one.charge(attempt, truth) : release(attempt, 'test')
    assert.equal((await one.ledger.resolve({ ...outcome, isFinal: true })).kind, 'corrected')
  }
  for (const key of [capped, ofTeam, plain]) {
    const more = key === capped ? OF_A_TASK : { sessionId: 'conversa' }
    await call(key, 10, 7, more)
    await call(key, 10, 0, more)
    await call(key, 10, 13, more)
    await correct(key, 10, 2, 6)
    await correct(key, 10, 8, 0)
    await correct(key, 10, 0, 5)
  }
}

/** Bia's top-up is old, she spends, and Ana is rewarded; then it is charged back, and her reward is taken back. */
async function reward(db: Database, bia: Person): Promise<void> {
  const programme = { rewardNanoBrl: 10n * NANO_PER_BRL, spendingMinNanoBrl: 0n }
  const log = createLog('silent', () => {})
  assert.equal(await rewardDueReferrals(db, programme, KEYS, log), 1)
  await topUp(db, bia, { cents: 100, reports: [{}] })
  const { rows } = await sql<{ id: string }>`
    select id from top_ups where customer_id = ${bia.customerId} order by paid_at limit 1`.execute(
    db,
  )
  const topUpId = (rows[0] as { id: string }).id
  await applyPayment(
    db,
    topUpId,
    paymentInTest({ topUpId, amountCents: 90_000n }, { status: 'chargeback' }),
  )
  assert.equal(await takeBackRewards(db, log), 1)
}

/** With a balance that is waived. */
async function closeAccount(db: Database): Promise<void> {
  const eva = await register(db, 'eva', CPFS[4] as string)
  await topUp(db, eva, { cents: 2_000, reports: [{}] })
  const closed = await deleteAccount(db, eva.actor, {
    customerId: eva.customerId,
    waiveBalance: true,
  })
  assert.equal(closed.kind, 'deleted')
}
