/**
 * Rewards for referrals: earned by time and real spending, once for each CPF or CNPJ, and taken back after a
 * charge-back.
 */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import { OPERATOR, SYSTEM } from '../../src/platform/audit-log/audited.ts'
import { findSuspension } from '../../src/customers/suspend-customer.ts'
import { saveProfile } from '../../src/customers/profiles.ts'
import {
  ensureReferralCode,
  listReferred,
  refer,
  sumReferrals,
} from '../../src/customers/referrals.ts'
import { openTaxIdDigest } from '../../src/customers/tax-id-digest.ts'
import { openDatabase } from '../../src/platform/db/open.ts'
import { rotateSecrets } from '../../src/app/rotate-secrets.ts'
import { findAccount } from '../../src/money/ledger/entries.ts'
import { findPromotionalLeft, grantPromotion } from '../../src/money/ledger/promotions.ts'
import { createId } from '../../src/platform/lib/ids.ts'
import { createLog } from '../../src/platform/lib/log.ts'
import { NANO_PER_BRL } from '../../src/platform/lib/money.ts'
import { applyPayment } from '../../src/money/payments/apply-payment.ts'
import {
  rewardDueReferrals,
  takeBackRewards,
} from '../../src/money/payments/referral-rewards/reward-due-referrals.ts'
import { refundDescription } from '../../src/money/payments/refunds/settle-parts.ts'
import { requestRefund } from '../../src/money/payments/refunds/request-refund.ts'
import { deleteAccount } from '../../src/identity/personal-data/delete-account.ts'
import { seedPaidTopUp } from '../harness/seed-paid-top-up.ts'
import { seedUsage } from '../harness/seed-usage.ts'
import { createTestDatabase, type TestDatabase } from '../harness/test-database.ts'
import { assertAudit } from '../harness/assert-audit.ts'
import { paymentInTest } from '../harness/payment.ts'
import { seedPayer, type Payer } from '../harness/payer.ts'

const PROGRAMME = { rewardNanoBrl: 10n * NANO_PER_BRL, spendingMinNanoBrl: 20n * NANO_PER_BRL }
const keys = { current: randomBytes(32) }
const logged: string[] = []
const log = createLog('info', (line) => logged.push(line))

let database: TestDatabase
let db: TestDatabase['db']

before(async () => {
  database = await createTestDatabase()
  db = database.db
})
after(async () => {
  await assertAudit(database)
  assert.deepEqual(logged, [])
  await database.drop()
})

let cpfs = 0
/** A valid CPF, different each time. */
function newCpf(): string {
  const digits = Array.from(String(100_000_000 + (cpfs += 7_919)), Number)
  for (const first of [10, 11]) {
    const rest = (digits.reduce((sum, digit, index) => sum + digit * (first - index), 0) * 10) % 11
    digits.push(rest % 10)
  }
  return digits.join('')
}

async function referrerWithCode(): Promise<{ referrer: Payer; code: string }> {
  const referrer = await seedPayer(db, newCpf())
  return { referrer, code: await ensureReferralCode(db, referrer.customerId) }
}

async function seedReferredPayer(code: string, cpf = newCpf()): Promise<Payer> {
  const payer = await seedPayer(db, cpf)
  const { customerId } = payer
  await db.transaction().execute((trx) => refer(trx, { customerId, code }))
  return payer
}

async function spend({ customerId }: Payer, brl: number): Promise<void> {
  const { id: apiKeyId } = await db
    .selectFrom('api_keys')
    .select('id')
    .where('customer_id', '=', customerId)
    .executeTakeFirstOrThrow()
  const billed = BigInt(brl) * NANO_PER_BRL
  const use = { at: new Date(), modelId: 'seeded', promptTokens: 1, completionTokens: 1, billed }
  await seedUsage(db, { customerId, apiKeyId, events: [{ ...use, costPicoUsd: billed * 100n }] })
}

/** A referral whose reward is due. */
async function seedEligibleReferral(
  code: string,
  cpf = newCpf(),
): Promise<Payer & { topUpId: string }> {
  const payer = await seedReferredPayer(code, cpf)
  const topUpId = await seedPaidTopUp(db, { ...payer, cents: 2_000, daysAgo: 8 })
  await spend(payer, 20)
  return { ...payer, topUpId }
}

function reward(on = db): Promise<number> {
  return rewardDueReferrals(on, PROGRAMME, keys, log)
}

async function brlOf({ customerId }: Payer): Promise<number> {
  return Number((await findAccount(db, customerId))?.balanceNanoBrl) / 1e9
}

async function closedReasonOf({ customerId }: Payer): Promise<string | null> {
  const row = await db
    .selectFrom('referrals')
    .select('closed_reason')
    .where('customer_id', '=', customerId)
    .executeTakeFirstOrThrow()
  return row.closed_reason
}

async function chargeBack(topUpId: string, amountCents = 2_000n): Promise<void> {
  await applyPayment(db, topUpId, paymentInTest({ topUpId, amountCents }, { status: 'chargeback' }))
}

test('a reward waits until the withdrawal period is over and enough paid money is spent', async () => {
  const { referrer, code } = await referrerWithCode()
  const eager = await seedReferredPayer(code)
  await seedPaidTopUp(db, { ...eager, cents: 2_000, daysAgo: 6 })
  await spend(eager, 20)
  const thrifty = await seedReferredPayer(code)
  await seedPaidTopUp(db, { ...thrifty, cents: 5_000, daysAgo: 8 })
  await spend(thrifty, 19)
  // Twenty were spent, all of it promotional.
  const gifted: Payer[] = []
  for (const reason of ['promotion', 'referral', 'trial'] as const) {
    const payer = await seedReferredPayer(code)
    await seedPaidTopUp(db, { ...payer, cents: 2_000, daysAgo: 8 })
    await grantPromotion(db, {
      customerId: payer.customerId,
      amountNanoBrl: 20n * NANO_PER_BRL,
      reason,
      reference: createId(),
    })
    await spend(payer, 20)
    gifted.push(payer)
  }
  assert.equal(await reward(), 0)
  assert.equal(await brlOf(referrer), 0)

  await spend(thrifty, 1)
  for (const payer of gifted) await spend(payer, 20)
  await sql`update top_ups set paid_at = paid_at - interval '1 day' where customer_id = ${eager.customerId}`.execute(
    db,
  )
  assert.equal(await reward(), 5)
  assert.equal(await reward(), 0)
  assert.equal(await brlOf(referrer), 50)
  assert.equal(await findPromotionalLeft(db, referrer.customerId), 50n * NANO_PER_BRL)
  const { rows } = await sql<{ type: string }>`
    select type from events where customer_id = ${referrer.customerId}`.execute(db)
  assert.deepEqual(
    rows.map(({ type }) => type),
    Array.from({ length: 5 }, () => 'referral.rewarded'),
  )
})

test('a partly refunded first top-up earns no reward, whatever is paid and spent later', async () => {
  const { referrer, code } = await referrerWithCode()
  const payer = await seedReferredPayer(code)
  await seedPaidTopUp(db, { ...payer, cents: 2_000 })
  const first = await db.transaction().execute((trx) =>
    requestRefund(trx, SYSTEM, {
      customerId: payer.customerId,
      amountNanoBrl: undefined,
      topUpId: undefined,
      reason: undefined,
      reviewAboveNanoBrl: 0n,
    }),
  )
  assert.equal(first.kind, 'requested')
  await sql`update top_ups set paid_at = paid_at - interval '8 days' where customer_id = ${payer.customerId}`.execute(
    db,
  )
  await seedPaidTopUp(db, { ...payer, cents: 3_000, daysAgo: 7 })
  await spend(payer, 25)
  // Not for good: a refund in progress may be undone.
  assert.equal(await reward(), 0)
  assert.equal(await closedReasonOf(payer), null)
  const { rows } = await sql<{ id: string }>`
    select id from top_ups where customer_id = ${payer.customerId} order by paid_at`.execute(db)
  const topUpId = rows[0]?.id as string
  await applyPayment(
    db,
    topUpId,
    paymentInTest({ topUpId, amountCents: 2_000n }, { status: 'refunded', refundedCents: 2_000n }),
  )
  assert.equal(await reward(), 0)
  assert.equal(await closedReasonOf(payer), 'top_up_returned')
  assert.equal(await brlOf(referrer), 0)
})

test('a charge-back of any earlier top-up prevents the reward', async () => {
  const { referrer, code } = await referrerWithCode()
  const payer = await seedEligibleReferral(code)
  const second = await seedPaidTopUp(db, { ...payer, cents: 3_000 })
  await chargeBack(second, 3_000n)
  assert.equal(await reward(), 0)
  assert.equal(await closedReasonOf(payer), 'top_up_returned')
  assert.equal(await brlOf(referrer), 0)
})

test('workers on several nodes in parallel reward each referral once, and each CPF once', async () => {
  const { referrer, code } = await referrerWithCode()
  const other = await referrerWithCode()
  const shared = newCpf()
  await Promise.all(Array.from({ length: 12 }, () => seedEligibleReferral(code)))
  const twins = [
    await seedEligibleReferral(code, shared),
    await seedEligibleReferral(other.code, shared),
  ]
  const nodes = Array.from({ length: 4 }, () =>
    openDatabase(database.databaseUrl, { onError: () => {} }),
  )
  try {
    const counts = await Promise.all(nodes.flatMap(({ db: node }) => [reward(node), reward(node)]))
    assert.equal(
      counts.reduce((sum, count) => sum + count, 0),
      13,
    )
  } finally {
    await Promise.all(nodes.map(({ close }) => close()))
  }
  assert.equal((await brlOf(referrer)) + (await brlOf(other.referrer)), 130)
  const reasons = await Promise.all(twins.map(closedReasonOf))
  assert.deepEqual(new Set(reasons), new Set(['tax_id_rewarded', null]))
})

test('a CPF is rewarded once, even after its account is deleted, its profile changed or the sealing key replaced', async () => {
  const { referrer, code } = await referrerWithCode()
  const [deleted, changed] = [newCpf(), newCpf()]
  const gone = await seedEligibleReferral(code, deleted)
  const other = await seedEligibleReferral(code, changed)
  assert.equal(await reward(), 2)
  await deleteAccount(db, OPERATOR, { customerId: gone.customerId, waiveBalance: true })
  await saveProfile(db, other.customerId, { tax_id: newCpf() })
  const again = [
    await seedEligibleReferral(code, deleted),
    await seedEligibleReferral(code, changed),
  ]
  assert.equal(await reward(), 0)
  assert.deepEqual(await Promise.all(again.map(closedReasonOf)), [
    'tax_id_rewarded',
    'tax_id_rewarded',
  ])
  const ours = await seedEligibleReferral(code)
  await saveProfile(db, ours.customerId, {
    tax_id: (await profileTaxId(referrer)) ?? assert.fail(),
  })
  assert.equal(await reward(), 0)
  assert.equal(await closedReasonOf(ours), 'own_tax_id')
  assert.equal(await brlOf(referrer), 20)

  const before = (await openTaxIdDigest(db, keys))(deleted)
  const previous = keys.current
  keys.current = randomBytes(32)
  await assert.rejects(openTaxIdDigest(db, keys), { name: 'SealError' })
  await rotateSecrets(db, SYSTEM, { current: keys.current, previous })
  assert.deepEqual((await openTaxIdDigest(db, keys))(deleted), before)
  const third = await seedEligibleReferral(code, deleted)
  assert.equal(await reward(), 0)
  assert.equal(await closedReasonOf(third), 'tax_id_rewarded')
})

async function profileTaxId({ customerId }: Payer): Promise<string | undefined> {
  const row = await db
    .selectFrom('profiles')
    .select('tax_id')
    .where('customer_id', '=', customerId)
    .executeTakeFirst()
  return row?.tax_id
}

test('a charge-back takes back the rest of the reward, never below zero, and records the shortfall', async () => {
  const { referrer, code } = await referrerWithCode()
  const [whole, part] = [await seedEligibleReferral(code), await seedEligibleReferral(code)]
  await reward()
  await spend(referrer, 6)
  await chargeBack(whole.topUpId)
  assert.equal(await takeBackRewards(db, log), 1)
  assert.equal(await brlOf(referrer), 4)
  await chargeBack(part.topUpId)
  const counts = await Promise.all(Array.from({ length: 4 }, () => takeBackRewards(db, log)))
  assert.equal(
    counts.reduce((sum, count) => sum + count, 0),
    1,
  )
  assert.equal(await takeBackRewards(db, log), 0)
  assert.equal(await brlOf(referrer), 0)
  assert.equal(await findPromotionalLeft(db, referrer.customerId), 0n)
  const list = await listReferred(db, referrer.customerId, { after: undefined, limit: 10 })
  assert.deepEqual(
    list.map(({ isTakenBack, takenBackNanoBrl }) => [isTakenBack, takenBackNanoBrl]),
    [
      [true, 4n * NANO_PER_BRL],
      [true, 10n * NANO_PER_BRL],
    ],
  )
  assert.deepEqual(await sumReferrals(db, referrer.customerId), {
    registered: 2,
    rewarded: 0,
    rewardNanoBrl: 6n * NANO_PER_BRL,
  })
})

test('a later Pix that its bank returns takes the reward back and suspends the account; a refund of ours does neither', async () => {
  const isSuspended = async ({ customerId }: Payer): Promise<boolean> =>
    (await findSuspension(db, customerId)) !== undefined
  const returned = { status: 'done', amountCents: 3_000n, description: 'devolução' } as const
  for (const [refunds, spent] of [
    [[], 0],
    [[returned], 30],
  ] as const)
    for (const isRewarded of [true, false]) {
      const { referrer, code } = await referrerWithCode()
      const payer = await seedEligibleReferral(code)
      const later = await seedPaidTopUp(db, { ...payer, cents: 3_000 })
      await spend(payer, spent)
      if (isRewarded) assert.equal(await reward(), 1)
      await applyPayment(
        db,
        later,
        paymentInTest(
          { topUpId: later, amountCents: 3_000n },
          { status: 'refunded', refundedCents: 3_000n, refunds },
        ),
      )
      assert.equal(await isSuspended(payer), true)
      assert.equal(await reward(), 0)
      assert.equal(await takeBackRewards(db, log), isRewarded ? 1 : 0)
      assert.equal(await brlOf(referrer), 0)
      assert.equal(await closedReasonOf(payer), isRewarded ? 'taken_back' : 'top_up_returned')
    }

  const { referrer, code } = await referrerWithCode()
  const payer = await seedEligibleReferral(code)
  const later = await seedPaidTopUp(db, { ...payer, cents: 3_000 })
  assert.equal(await reward(), 1)
  const asked = await requestRefund(db, SYSTEM, {
    customerId: payer.customerId,
    amountNanoBrl: undefined,
    topUpId: later,
    reason: undefined,
    reviewAboveNanoBrl: 0n,
  })
  assert.ok(asked.kind === 'requested')
  const description = refundDescription(asked.refund.id)
  await applyPayment(
    db,
    later,
    paymentInTest(
      { topUpId: later, amountCents: 3_000n },
      { status: 'refunded', refundedCents: 3_000n, refunds: [{ ...returned, description }] },
    ),
  )
  assert.equal(await takeBackRewards(db, log), 0)
  assert.deepEqual([await isSuspended(payer), await brlOf(referrer)], [false, 10])
})

test('money held for calls is not taken back until its hold is released, and paid money never is', async () => {
  const { referrer, code } = await referrerWithCode()
  const { topUpId } = await seedEligibleReferral(code)
  await reward()
  const hold = async (brl: number): Promise<unknown> =>
    sql`update accounts set held_nano_brl = ${BigInt(brl) * NANO_PER_BRL}
      where customer_id = ${referrer.customerId}`.execute(db)
  await hold(7)
  await chargeBack(topUpId)
  assert.equal(await takeBackRewards(db, log), 1)
  assert.equal(await brlOf(referrer), 7)
  assert.equal(await takeBackRewards(db, log), 0)
  await hold(0)
  await seedPaidTopUp(db, { ...referrer, cents: 5_000 })
  assert.equal(await takeBackRewards(db, log), 1)
  assert.equal(await takeBackRewards(db, log), 0)
  assert.equal(await brlOf(referrer), 50)
})

test('without a programme, no reward becomes due later', async () => {
  const { referrer, code } = await referrerWithCode()
  const idle = await seedEligibleReferral(code)
  const none = { rewardNanoBrl: 0n, spendingMinNanoBrl: 0n }
  assert.equal(await rewardDueReferrals(db, none, keys, log), 0)
  assert.equal(await reward(), 0)
  assert.equal(await closedReasonOf(idle), 'no_reward')
  assert.equal(await brlOf(referrer), 0)
})
