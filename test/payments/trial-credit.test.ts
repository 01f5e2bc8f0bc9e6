/** The trial credit: once for each person and device by every way around it, and never above the operator's budget. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, test } from 'node:test'
import fc from '../harness/fast-check.ts'
import { SYSTEM } from '../../src/platform/audit-log/audited.ts'
import { createApiKey } from '../../src/customers/api-keys.ts'
import { createCustomer } from '../../src/customers/customers.ts'
import { saveProfile } from '../../src/customers/profiles.ts'
import { findAccount } from '../../src/money/ledger/entries.ts'
import { findPromotionalLeft } from '../../src/money/ledger/promotions.ts'
import { NANO_PER_BRL } from '../../src/platform/lib/money.ts'
import {
  findTrialCredit,
  grantTrialCredit,
  type TrialOutcome,
  type TrialProgramme,
  type TrialRequest,
} from '../../src/money/payments/trial-credit/grant-trial-credit.ts'
import { findRefundable, sumUnspent } from '../../src/money/payments/refunds/refundable.ts'
import { deleteAccount } from '../../src/identity/personal-data/delete-account.ts'
import { assertAudit } from '../harness/assert-audit.ts'
import { seedPaidTopUp } from '../harness/seed-paid-top-up.ts'
import { seedUsage } from '../harness/seed-usage.ts'
import { createTestDatabase, type TestDatabase } from '../harness/test-database.ts'

const FIVE: TrialProgramme = {
  amountNanoBrl: 5n * NANO_PER_BRL,
  dailyNanoBrl: 1_000_000n * NANO_PER_BRL,
}
const keys = { current: randomBytes(32) }

let database: TestDatabase
let db: TestDatabase['db']

before(async () => {
  database = await createTestDatabase()
  db = database.db
})
after(async () => {
  await assertAudit(database)
  await database.drop()
})

let made = 0
const fresh = (): number => (made += 1)

/** Eleven digits; nothing here checks those of control. */
const cpfOf = (number: number): string => String(10_000_000_000 + number)
const addressOf = (number: number): string =>
  `10.${(number >> 16) & 255}.${(number >> 8) & 255}.${number & 255}`

interface Person {
  readonly cpf: number
  readonly mailbox: number
  readonly device: number
  readonly network: number
}

const stranger = (): Person => {
  const number = fresh()
  return { cpf: number, mailbox: number, device: number, network: number }
}

/** A new account of this person, and its request. Spellings of one mailbox are different e-mails. */
async function register({ cpf, mailbox, device, network }: Person): Promise<TrialRequest> {
  const email = `p${mailbox}+${fresh()}@mail.example.com`
  const customer = await createCustomer(db, { name: 'Nova', email })
  assert.ok('id' in customer)
  const customerId = customer.id
  await db
    .transaction()
    .execute((trx) => saveProfile(trx, customerId, { full_name: 'Nova', tax_id: cpfOf(cpf) }))
  return { customerId, ip: addressOf(network), deviceIds: [`d${device}`] }
}

const grant = (request: TrialRequest, programme = FIVE): Promise<TrialOutcome> =>
  grantTrialCredit(db, SYSTEM, request, programme, keys)

test('a new customer gets the credit once, as promotional money that no refund returns', async () => {
  const request = await register(stranger())
  const { customerId } = request
  assert.equal((await findTrialCredit(db, customerId, FIVE)).status, 'offered')
  const outcomes = await Promise.all(Array.from({ length: 8 }, () => grant(request)))
  assert.deepEqual(outcomes.map(({ kind }) => kind).toSorted(), [
    'granted',
    ...Array.from({ length: 7 }, () => 'trial_credit_used'),
  ])
  assert.equal((await findAccount(db, customerId))?.balanceNanoBrl, FIVE.amountNanoBrl)
  assert.equal(await findPromotionalLeft(db, customerId), FIVE.amountNanoBrl)
  const found = await findTrialCredit(db, customerId, { amountNanoBrl: 0n, dailyNanoBrl: 0n })
  assert.deepEqual([found.status, found.amountNanoBrl], ['granted', FIVE.amountNanoBrl])
})

test('no CPF, mailbox or device gets a second credit, and no network a fourth, whoever asks at once', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(...[3, 4, 4, 2].map((max) => fc.nat({ max: max - 1 }))), {
        minLength: 4,
        maxLength: 12,
      }),
      async (drawn) => {
        const base = made
        made += 100
        const people = drawn.map(([cpf, mailbox, device, network]) => ({
          cpf: base + (cpf ?? 0),
          mailbox: base + (mailbox ?? 0),
          device: base + (device ?? 0),
          network: base + (network ?? 0),
        }))
        const requests = await Promise.all(people.map(register))
        const outcomes = await Promise.all(requests.map((request) => grant(request)))
        const lucky = people.filter((_, index) => outcomes[index]?.kind === 'granted')
        for (const part of ['cpf', 'mailbox', 'device'] as const)
          assert.equal(new Set(lucky.map((person) => person[part])).size, lucky.length, part)
        for (const group of Map.groupBy(lucky, ({ network }) => network).values())
          assert.ok(group.length <= 3)
        for (const [index, { customerId }] of requests.entries()) {
          const expected = outcomes[index]?.kind === 'granted' ? FIVE.amountNanoBrl : 0n
          assert.equal((await findAccount(db, customerId))?.creditedNanoBrl, expected)
        }
      },
    ),
    { numRuns: 12 },
  )
})

test("a customer's CPF earns nothing in another account; one that was only entered blocks nobody", async () => {
  const person = stranger()
  const customer = await register(person)
  const entered = await register({ ...stranger(), cpf: person.cpf })
  assert.equal((await grant(entered)).kind, 'granted')
  const paying = stranger()
  await seedPaidTopUp(db, { customerId: (await register(paying)).customerId, cents: 2_000 })
  const second = await register({ ...stranger(), cpf: paying.cpf })
  assert.deepEqual(await grant(second), { kind: 'trial_credit_used' })
  assert.deepEqual(await grant(customer), { kind: 'trial_credit_used' })
})

test('another CPF on the profile, a deleted account or a renewed browser does not bring a second credit', async () => {
  const person = stranger()
  const first = await register(person)
  assert.equal((await grant(first)).kind, 'granted')
  await db
    .transaction()
    .execute((trx) => saveProfile(trx, first.customerId, { tax_id: cpfOf(fresh()) }))
  assert.deepEqual(await grant(first), { kind: 'trial_credit_used' })
  const { customerId } = first
  const deleted = await deleteAccount(db, SYSTEM, { customerId, waiveBalance: true })
  assert.equal(deleted.kind, 'deleted')
  for (const kept of ['cpf', 'mailbox', 'device'] as const) {
    const again = await register({ ...stranger(), [kept]: person[kept] })
    assert.deepEqual(await grant(again), { kind: 'trial_credit_used' }, kept)
  }
  // A browser that several accounts used names all of them.
  const shared = await register(stranger())
  const { deviceIds } = shared
  assert.deepEqual(await grant({ ...shared, deviceIds: [...deviceIds, `d${person.device}`] }), {
    kind: 'trial_credit_used',
  })
})

test('at once or one by one, 24 hours of grants never exceed the budget', async () => {
  const other = await createTestDatabase()
  try {
    const programme = { ...FIVE, dailyNanoBrl: 5n * FIVE.amountNanoBrl + 1n }
    const requests: TrialRequest[] = []
    const own = db
    db = other.db
    while (requests.length < 12) requests.push(await register(stranger()))
    const outcomes = await Promise.all(requests.map((request) => grant(request, programme)))
    db = own
    const kinds = outcomes.map(({ kind }) => kind)
    assert.equal(kinds.filter((kind) => kind === 'granted').length, 5)
    assert.equal(kinds.filter((kind) => kind === 'trial_credit_exhausted').length, 7)
  } finally {
    await other.drop()
  }
})

test('an account finds out of five CPFs in a day whether they have accounts', async () => {
  const paying = stranger()
  await seedPaidTopUp(db, { customerId: (await register(paying)).customerId, cents: 2_000 })
  const prober = await register({ ...stranger(), cpf: paying.cpf })
  const kinds: string[] = []
  for (let tries = 0; tries < 8; tries++) kinds.push((await grant(prober)).kind)
  const informed = kinds.filter((kind) => kind !== 'trial_credit_exhausted')
  assert.deepEqual(informed, Array(5).fill('trial_credit_used'))
  // Now as if the CPF were free: the answer is the same.
  await db
    .transaction()
    .execute((trx) => saveProfile(trx, prober.customerId, { tax_id: cpfOf(fresh()) }))
  assert.deepEqual(await grant(prober), { kind: 'trial_credit_exhausted' })
})

test('all networks of an IPv6 /48 together get ten credits in a day, whoever asks at once', async () => {
  const place = fresh()
  const requests = await Promise.all(
    Array.from({ length: 16 }, async (_, network) => ({
      ...(await register(stranger())),
      ip: `2804:${place.toString(16)}:7:${network.toString(16)}::1`,
    })),
  )
  const outcomes = await Promise.all(requests.map((request) => grant(request)))
  assert.equal(outcomes.filter(({ kind }) => kind === 'granted').length, 10)
  assert.equal(outcomes.filter(({ kind }) => kind === 'trial_credit_exhausted').length, 6)
  const elsewhere = { ...(await register(stranger())), ip: `2804:${place.toString(16)}:8::1` }
  assert.equal((await grant(elsewhere)).kind, 'granted')
})

test('the trial credit, whatever is paid and spent beside it, is never refunded as money', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.constantFrom('pay', 'spend'), fc.integer({ min: 1, max: 900 })), {
        maxLength: 6,
      }),
      async (steps) => {
        const request = await register(stranger())
        const { customerId } = request
        assert.equal((await grant(request)).kind, 'granted')
        const { id: apiKeyId } = (
          await createApiKey(db, { customerId, name: 'chave', requestsPerMinute: 60 })
        ).key
        const trial = FIVE.amountNanoBrl
        let paid = 0n
        let spent = 0n
        for (const [step, cents] of steps) {
          const amount = BigInt(cents) * (NANO_PER_BRL / 100n)
          if (step === 'pay') {
            await seedPaidTopUp(db, { customerId, cents })
            paid += amount
          } else if (spent + amount <= paid + trial) {
            const use = { at: new Date(), modelId: 'm', promptTokens: 1, completionTokens: 1 }
            const events = [{ ...use, costPicoUsd: amount * 100n, billed: amount }]
            await seedUsage(db, { customerId, apiKeyId, events })
            spent += amount
          }
        }
        const refundable = sumUnspent(await findRefundable(db, customerId))
        // What is spent before the last payment may have been of the credit or of earlier money: never less is kept.
        assert.ok(refundable <= paid - (spent > trial ? spent - trial : 0n), `${refundable}`)
        assert.ok(paid > 0n || refundable === 0n)
      },
    ),
    { numRuns: 12 },
  )
})

test('an account that had a credit, that has no CPF, or whose programme is off gets none', async () => {
  const paying = await register(stranger())
  await seedPaidTopUp(db, { customerId: paying.customerId, cents: 2_000 })
  assert.deepEqual(await grant(paying), { kind: 'trial_credit_not_new' })
  assert.equal((await findTrialCredit(db, paying.customerId, FIVE)).status, 'none')
  const nameless = await createCustomer(db, {
    name: 'Sem perfil',
    email: `n${fresh()}@x.example.com`,
  })
  assert.ok('id' in nameless)
  const request = { customerId: nameless.id, ip: '192.0.2.1', deviceIds: [] }
  assert.deepEqual(await grant(request), { kind: 'cpf_required' })
  const off = { amountNanoBrl: 0n, dailyNanoBrl: 0n }
  assert.deepEqual(await grant(await register(stranger()), off), { kind: 'no_trial_credit' })
})
