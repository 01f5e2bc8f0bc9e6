// deep: generated schedules
/**
 * The balance has two parts, paid money and promotional credit, and every act says which one it moves. Random sequences of
 * acts are compared with a reference that keeps the two parts as numbers, act by act.
 */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { OPERATOR, SYSTEM } from '../../src/platform/audit-log/audited.ts'
import { requestAdjustment, type AdjustmentKind } from '../../src/money/ledger/adjustments.ts'
import type { Attempt } from '../../src/money/ledger/attempt.ts'
import { creditByHand } from '../../src/money/ledger/credit-by-hand.ts'
import { findAccount } from '../../src/money/ledger/entries.ts'
import {
  findPromotionalLeft,
  grantPromotion,
  PROMOTIONAL_REASONS,
  takeBackPromotion,
} from '../../src/money/ledger/promotions.ts'
import { release } from '../../src/money/ledger/resolution.ts'
import { createId } from '../../src/platform/lib/ids.ts'
import { createLog } from '../../src/platform/lib/log.ts'
import { applyPayment } from '../../src/money/payments/apply-payment.ts'
import type { Payment } from '../../src/money/payments/processor.ts'
import { rejectRefund } from '../../src/money/payments/refunds/decide-refund.ts'
import { processRefunds } from '../../src/money/payments/refunds/process-refunds.ts'
import { findRefundable, sumUnspent } from '../../src/money/payments/refunds/refundable.ts'
import { requestRefund } from '../../src/money/payments/refunds/request-refund.ts'
import { assertAudit } from '../harness/assert-audit.ts'
import { effort, seedOr } from '../harness/effort.ts'
import { NANO_BRL_PER_TOKEN, openTestLedger, type TestLedger } from '../harness/open-test-ledger.ts'
import { seedPaidTopUp } from '../harness/seed-paid-top-up.ts'
import { createTestDatabase, seedCustomer, type TestDatabase } from '../harness/test-database.ts'
import { createModelProcessor, withRefunds } from './model-processor.ts'

const CENTAVO = 10_000_000n
const TOKENS_PER_CENTAVO = Number(CENTAVO / NANO_BRL_PER_TOKEN)
const LARGE = 1_000_000n * 100n * CENTAVO
const SEED = seedOr(1)
const SEQUENCES = effort({ ordinary: 30, full: 1_000 })
const ACTS = 40
const log = createLog('silent', () => {})
const processor = createModelProcessor()

let database: TestDatabase
let ledger: TestLedger
let operatorId: string
before(async () => {
  database = await createTestDatabase()
  ledger = await openTestLedger(database.db, database.databaseUrl)
  operatorId = (await seedCustomer(database.db, { balanceBrl: '0' })).customerId
})
after(async () => {
  await ledger.ledger.close()
  await database.drop()
})

/** The two parts in centavos. A debt is paid money below zero, and then there is no promotional credit. */
class Reference {
  paid = 0
  promotional = 0
  held = 0
  /** The charges that paid money bore. */
  #paidCharges = 0

  /** What pays a debt is no longer promotional. */
  #payDebt(): void {
    const debt = Math.min(this.promotional, Math.max(0, -this.paid))
    this.promotional -= debt
    this.paid += debt
  }
  pay(cents: number): void {
    this.paid += cents
  }
  grant(cents: number): void {
    this.promotional += cents
    this.#payDebt()
  }
  takePromotionalFirst(cents: number): number {
    const taken = Math.min(this.promotional, cents)
    this.promotional -= taken
    this.paid -= cents - taken
    return cents - taken
  }
  charge(cents: number): void {
    this.#paidCharges += this.takePromotionalFirst(cents)
  }
  reverse(cents: number): void {
    const back = Math.min(this.#paidCharges, cents)
    this.#paidCharges -= back
    this.paid += back
    this.promotional += cents - back
  }
  returnToPayer(cents: number): void {
    this.paid -= cents
    this.#payDebt()
  }
}

class Sequence {
  readonly trace: string[] = []
  readonly #reference = new Reference()
  #state: number
  #customer!: Awaited<ReturnType<typeof seedCustomer>>
  /** What is left of each payment and may be returned. */
  readonly #topUps = new Map<string, number>()
  readonly #open: { attempt: Attempt; cents: number }[] = []
  readonly #charged: { attempt: Attempt; cents: number }[] = []

  constructor(seed: number) {
    this.#state = seed
  }

  random(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0
    let t = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
  }
  #below(count: number): number {
    return Math.floor(this.random() * count)
  }
  #cents(): number {
    return 1 + this.#below(5_000)
  }
  #one<Thing>(things: readonly Thing[]): Thing | undefined {
    return things[this.#below(things.length)]
  }

  async run(): Promise<void> {
    this.#customer = await seedCustomer(database.db, { balanceBrl: '0' })
    const acts = [
      () => this.#topUp(),
      () => this.#grant(),
      () => this.#adjust(),
      () => this.#takeBack(),
      () => this.#hold(),
      () => this.#settle(),
      () => this.#settle(),
      () => this.#correct(),
      () => this.#refund(),
      () => this.#return(),
    ]
    for (let act = 0; act < ACTS; act++) {
      const text = await this.#one<() => Promise<string | undefined>>(acts)!()
      if (text === undefined) continue
      this.trace.push(text)
      await this.#compare()
    }
    while (this.#open.length > 0) await this.#settle()
    await this.#compare()
  }

  async #compare(): Promise<void> {
    const { db } = database
    const { customerId } = this.#customer
    const { paid, promotional, held } = this.#reference
    const kept = [...this.#topUps.values()].reduce((sum, cents) => sum + cents, 0)
    const refundable = sumUnspent(await findRefundable(db, customerId))
    assert.deepEqual(
      {
        promotional: await findPromotionalLeft(db, customerId),
        balance: (await findAccount(db, customerId))?.balanceNanoBrl,
        refundable,
      },
      {
        promotional: BigInt(promotional) * CENTAVO,
        balance: BigInt(paid + promotional) * CENTAVO,
        refundable: BigInt(Math.max(0, Math.min(paid - held, kept))) * CENTAVO,
      },
    )
    assert.ok(refundable >= 0n && refundable <= BigInt(kept) * CENTAVO)
  }

  async #topUp(): Promise<string> {
    const { customerId } = this.#customer
    const cents = this.#cents()
    const daysAgo = this.random() < 0.5 ? 0 : 10
    const id = await seedPaidTopUp(database.db, { customerId, cents, daysAgo, processor })
    this.#topUps.set(id, cents)
    this.#reference.pay(cents)
    return `tops up ${cents}, ${daysAgo} days ago`
  }

  async #grant(): Promise<string> {
    const { customerId } = this.#customer
    const cents = this.#cents()
    const reason = this.#one(PROMOTIONAL_REASONS)!
    const input = {
      customerId,
      amountNanoBrl: BigInt(cents) * CENTAVO,
      reason,
      reference: createId(),
    }
    const by = this.#below(3)
    if (by === 0) await grantPromotion(database.db, input)
    else if (by === 1) await creditByHand(database.db, OPERATOR, input)
    else await this.#postAdjustment('promotional_credit', cents)
    this.#reference.grant(cents)
    return `is granted ${cents} (${by === 2 ? 'adjustment' : reason})`
  }

  async #adjust(): Promise<string | undefined> {
    const kind = this.random() < 0.8 ? 'debit' : 'credit'
    const cents = this.#cents()
    if (!(await this.#postAdjustment(kind, cents))) return undefined
    if (kind === 'credit') this.#reference.pay(cents)
    else this.#reference.takePromotionalFirst(cents)
    return `${kind} by hand of ${cents}`
  }

  async #postAdjustment(kind: AdjustmentKind, cents: number): Promise<boolean> {
    const outcome = await requestAdjustment(database.db, SYSTEM, {
      customerId: this.#customer.customerId,
      kind,
      amountNanoBrl: BigInt(cents) * CENTAVO,
      reason: 'teste',
      reference: createId(),
      requestedBy: operatorId,
      approvalAboveNanoBrl: LARGE,
    })
    return outcome.kind === 'requested'
  }

  async #takeBack(): Promise<string> {
    const { takenNanoBrl } = await takeBackPromotion(database.db, {
      customerId: this.#customer.customerId,
      amountNanoBrl: BigInt(this.#cents()) * CENTAVO,
      reference: createId(),
    })
    const taken = Number(takenNanoBrl / CENTAVO)
    assert.ok(taken <= this.#reference.promotional)
    this.#reference.promotional -= taken
    return `${taken} are taken back`
  }

  async #hold(): Promise<string | undefined> {
    const cents = this.#cents()
    const attempt = ledger.attempt(this.#customer.key, cents * TOKENS_PER_CENTAVO)
    if ((await ledger.ledger.hold(attempt)).kind !== 'held') return undefined
    this.#open.push({ attempt, cents })
    this.#reference.held += cents
    return `holds ${cents}`
  }

  /** Less than the hold as a rule, and sometimes more: an overrun may leave a debt. */
  async #settle(): Promise<string | undefined> {
    const one = this.#open.pop()
    if (!one) return undefined
    const cents = Math.max(1, Math.round(one.cents * (this.random() < 0.2 ? 2 : this.random())))
    await ledger.ledger.resolve(ledger.charge(one.attempt, cents * TOKENS_PER_CENTAVO))
    this.#reference.held -= one.cents
    this.#reference.charge(cents)
    this.#charged.push({ attempt: one.attempt, cents })
    return `is charged ${cents} of ${one.cents}`
  }

  async #correct(): Promise<string | undefined> {
    const one = this.#charged.splice(this.#below(this.#charged.length), 1)[0]
    if (!one) return undefined
    const cents = this.random() < 0.5 ? 0 : this.#cents()
    const truth =
      cents === 0
        ? release(one.attempt, 'lease_lapsed')
        : ledger.charge(one.attempt, cents * TOKENS_PER_CENTAVO)
    const outcome = await ledger.ledger.resolve({ ...truth, isFinal: true })
    if (outcome.kind !== 'corrected') return undefined
    this.#reference.reverse(one.cents)
    this.#reference.charge(cents)
    return `is corrected from ${one.cents} to ${cents}`
  }

  async #refund(): Promise<string | undefined> {
    const { db } = database
    const amountNanoBrl = this.random() < 0.5 ? undefined : BigInt(this.#cents()) * CENTAVO
    const asked = await requestRefund(db, SYSTEM, {
      customerId: this.#customer.customerId,
      amountNanoBrl,
      topUpId: this.random() < 0.5 ? undefined : this.#one([...this.#topUps.keys()]),
      reason: undefined,
      reviewAboveNanoBrl: this.random() < 0.3 ? 0n : LARGE,
    })
    if (asked.kind !== 'requested') return undefined
    const { id, parts, status } = asked.refund
    const cents = Number(asked.refund.amount_nano_brl / CENTAVO)
    this.#reference.paid -= cents
    if (status === 'requested') {
      await rejectRefund(db, OPERATOR, { refundId: id, note: 'não' })
      this.#reference.paid += cents
      return `a refund of ${cents} is rejected`
    }
    const isDone = this.random() < 0.6
    processor.nextRefunds.splice(0)
    for (const _ of parts) processor.nextRefunds.push(isDone ? 'done' : 'not_refundable')
    await processRefunds(db, processor, log)
    for (const part of parts)
      if (isDone) this.#lessen(part.top_up_id, Number(part.amount_nano_brl / CENTAVO))
    if (!isDone) this.#reference.paid += cents
    return `a refund of ${cents} ${isDone ? 'is done' : 'fails'}`
  }

  #lessen(topUpId: string, cents: number): void {
    this.#topUps.set(topUpId, this.#topUps.get(topUpId)! - cents)
  }

  /** By a charge-back, or by somebody at the processor. */
  async #return(): Promise<string | undefined> {
    const [id, left] = this.#one([...this.#topUps]) ?? []
    if (id === undefined || left === undefined || left === 0) return undefined
    const payment = processor.payments.get(`pay_${id}`) as Payment
    const isWhole = this.random() < 0.5
    const cents = isWhole ? left : 1 + this.#below(left)
    const returned = { status: 'done', amountCents: BigInt(cents), description: 'painel' } as const
    processor.payments.set(
      payment.id,
      isWhole
        ? { ...payment, status: 'chargeback' }
        : withRefunds(payment, [...payment.refunds, returned]),
    )
    await applyPayment(database.db, id, processor.payments.get(payment.id) as Payment)
    this.#lessen(id, cents)
    this.#reference.returnToPayer(cents)
    return isWhole ? `${cents} are charged back` : `${cents} are returned by hand`
  }
}

for (let seed = SEED; seed < SEED + SEQUENCES; seed++)
  test(`what is refundable is paid and not spent, whatever happened (seed ${seed})`, async () => {
    const sequence = new Sequence(seed)
    try {
      await sequence.run()
    } catch (error) {
      throw new Error(sequence.trace.join('\n'), { cause: error })
    }
  })

test('the books of all sequences are sound', () => assertAudit(database))
