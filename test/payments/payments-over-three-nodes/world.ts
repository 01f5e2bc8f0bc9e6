/** One customer, some nodes and a processor, in a schedule that a seed decides; and what must hold in the end. */
import assert from 'node:assert/strict'
import { sql } from 'kysely'
import type pg from 'pg'
import { SYSTEM } from '../../../src/platform/audit-log/audited.ts'
import type { Database } from '../../../src/platform/db/open.ts'
import { actResumably } from '../../../src/platform/idempotency/act-once.ts'
import { debit, findAccount } from '../../../src/money/ledger/entries.ts'
import { createId } from '../../../src/platform/lib/ids.ts'
import { createLog, type Log } from '../../../src/platform/lib/log.ts'
import { saveAutomaticTopUp } from '../../../src/money/payments/automatic-top-ups.ts'
import {
  createTopUp,
  resumeTopUp,
  type CreatedTopUp,
} from '../../../src/money/payments/create-top-up.ts'
import { findPayer } from '../../../src/money/payments/payers.ts'
import { addPaymentMethod, findChosenCard } from '../../../src/money/payments/payment-methods.ts'
import { processRefunds } from '../../../src/money/payments/refunds/process-refunds.ts'
import { requestRefund } from '../../../src/money/payments/refunds/request-refund.ts'
import { sweepTopUps } from '../../../src/money/payments/sweep-top-ups.ts'
import { handleEvents, takeEvent } from '../../../src/money/payments/take-event.ts'
import { NANO_BRL_PER_CENTAVO } from '../../../src/money/payments/top-ups.ts'
import { topUpAutomatically } from '../../../src/money/payments/top-up-automatically.ts'
import { seedPayer } from '../../harness/payer.ts'
import { CPF_WEIGHTS, withCheckDigits } from '../../harness/tax-id-check-digits.ts'
import { compareBooks, type AnswersOfKey } from './compare-books.ts'
import { moveClock } from './database-clock.ts'
import { PlayedProcessor, type Played } from './played-processor.ts'
import { Schedule } from './schedule.ts'

export const NODES = 3
/** In place of a node: requests on their way whose senders wait no longer. */
const NETWORK = -1
const KEYS = { sealingKey: Buffer.alloc(32, 7) }
const THRESHOLD = 10_00n
const AMOUNT = 30_00n
const PIX_AMOUNT = 25_00n

export interface Base {
  readonly db: Database
  readonly pool: pg.Pool
}

class Refusal extends Error {
  readonly end: 'ends' | 'nothing_happened' | 'unknown'
  constructor(end: Refusal['end'], code: string) {
    super(code)
    this.end = end
  }
}

export class World {
  readonly trace: string[] = []
  readonly faults: string[] = []
  /** Times at which no processor without idempotency keys can be protected: see `onCreate` and `onRefund`. */
  residues = 0
  readonly #base: Base
  readonly #schedule = new Schedule()
  readonly #nodes: Database[]
  readonly #processor: PlayedProcessor
  readonly #log: Log
  #state: number
  #movedMs = 0
  #calm = false
  #customerId = ''
  #methodId = ''
  #spent = 0n
  readonly #events: {
    id: string
    type: string
    paymentId: string | undefined
    reference: string | undefined
  }[] = []
  #eventCount = 0
  readonly #answers = new Map<string, AnswersOfKey>()
  readonly #seenFailures = new Set<string>()
  readonly #running = new Set<{ readonly node: number }>()

  constructor(base: Base, seed: number) {
    this.#base = base
    this.#state = seed
    this.#nodes = Array.from({ length: NODES }, (_, node) =>
      this.#schedule.openNode(node, base.pool),
    )
    this.#log = createLog('error', (line) => this.#note(line))
    this.#processor = new PlayedProcessor(`played ${seed}`, {
      pause: (node, at) => this.#schedule.pause(node, at),
      random: () => this.random(),
      now: () => Date.now(),
      isCalm: () => this.#calm,
      later: (at) => this.#schedule.pause(NETWORK, at),
      onCreate: (order) => this.#schedule.during(() => this.#onCreate(order)),
      onRefund: (paymentId, description) => this.#onRefund(paymentId, description),
      onCancel: (payment) => this.#onCancel(payment),
      emit: (payment, type) => this.#emit(payment, type),
    })
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

  #one<Thing>(things: readonly Thing[]): Thing | undefined {
    return things[this.#below(things.length)]
  }

  #note(text: string): void {
    this.trace.push(text)
  }

  async setUp(): Promise<void> {
    const { db } = this.#base
    const { customerId } = await seedPayer(
      db,
      withCheckDigits(String(this.#below(1_000_000_000)).padStart(9, '0'), CPF_WEIGHTS),
    )
    this.#customerId = customerId
    const method = await addPaymentMethod(db, SYSTEM, KEYS.sealingKey, {
      customerId,
      processorId: this.#processor.id,
      token: 'token',
      brand: 'VISA',
      lastFour: '1111',
      holderName: 'M',
      expiryMonth: 12,
      expiryYear: 2099,
    })
    this.#methodId = method!.id
    if (this.random() < 0.8) await this.#save(true)
  }

  async #save(isEnabled: boolean, node?: number): Promise<void> {
    await saveAutomaticTopUp(node === undefined ? this.#base.db : this.#nodes[node]!, SYSTEM, {
      customerId: this.#customerId,
      isEnabled,
      thresholdNanoBrl: THRESHOLD * NANO_BRL_PER_CENTAVO,
      amountNanoBrl: AMOUNT * NANO_BRL_PER_CENTAVO,
      paymentMethodId: this.#methodId,
      monthlyLimitNanoBrl: this.random() < 0.5 ? null : 2n * AMOUNT * NANO_BRL_PER_CENTAVO,
      remoteIp: '203.0.113.7',
    })
  }

  async run(steps: number): Promise<void> {
    for (let step = 0; step < steps && this.faults.length === 0; step++) {
      await this.#act()
      await this.#watch()
    }
    if (this.faults.length === 0) await this.#end()
  }

  async #act(): Promise<void> {
    const ready = this.#schedule.ready()
    const chance = this.random()
    if (ready.length > 0 && chance < 0.72) {
      const waiter = this.#one(ready)!
      this.#note(`node ${waiter.node} goes on: ${waiter.at}`)
      return this.#schedule.goOn(waiter)
    }
    if (chance < 0.86 || ready.length === 0) return this.#start(this.#below(NODES), this.random())
    if (chance < 0.92) return this.#play()
    if (chance < 0.925) return this.#kill(this.#below(NODES))
    if (chance < 0.95) {
      const node = this.#below(NODES)
      if (this.#schedule.suspended.delete(node)) this.#note(`node ${node} resumes`)
      else {
        this.#schedule.suspended.add(node)
        this.#note(`node ${node} is suspended`)
      }
      return
    }
    return this.#advance(this.#one([20, 61, 130, 130, 700, 3_700])!)
  }

  #job(node: number, name: string, work: () => Promise<unknown>): Promise<void> {
    this.#note(`node ${node} starts ${name}`)
    const job = { node }
    this.#running.add(job)
    void work()
      .then(
        () => this.#note(`node ${node} ended ${name}`),
        (error: unknown) => this.#note(`node ${node} failed ${name}: ${String(error)}`),
      )
      .finally(() => this.#running.delete(job))
    return this.#schedule.settle()
  }

  /** The process dies; another one starts in its place. */
  #kill(node: number): void {
    this.#note(`node ${node} is killed`)
    this.#schedule.drop(node)
    for (const job of this.#running) if (job.node === node) this.#running.delete(job)
  }

  async #start(node: number, chance: number): Promise<void> {
    if (this.#schedule.suspended.has(node) || this.#running.size > 6) return
    const db = this.#nodes[node]!
    const processor = this.#processor.forNode(node)
    const customerId = this.#customerId
    if (chance < 0.22) return this.#job(node, 'sweep', () => sweepTopUps(db, processor, this.#log))
    if (chance < 0.4) return this.#job(node, 'events', () => handleEvents(db, processor, this.#log))
    if (chance < 0.58)
      return this.#job(node, 'automatic', () =>
        topUpAutomatically(db, { processor, keys: KEYS, log: this.#log }),
      )
    if (chance < 0.7)
      return this.#job(node, 'refunds', () => processRefunds(db, processor, this.#log))
    if (chance < 0.78) {
      const method = this.random() < 0.5 ? 'pix' : 'card'
      const key = `${method} ${this.#below(2)}`
      return this.#job(node, `top-up ${key}`, () => this.#request(db, node, method, key))
    }
    if (chance < 0.84)
      return this.#job(node, 'refund request', () =>
        requestRefund(db, SYSTEM, {
          customerId,
          amountNanoBrl: this.random() < 0.5 ? undefined : 7_00n * NANO_BRL_PER_CENTAVO,
          topUpId: undefined,
          reason: undefined,
          reviewAboveNanoBrl: 1_000_000_000_000n,
        }),
      )
    if (chance < 0.86) return this.#job(node, 'save', () => this.#save(this.random() < 0.8, node))
    if (chance < 0.93) return this.#spend()
    return this.#deliver(node)
  }

  async #spend(): Promise<void> {
    const { db } = this.#base
    const account = await findAccount(db, this.#customerId)
    const free = account!.balanceNanoBrl - account!.heldNanoBrl
    const amountNanoBrl = free - BigInt(this.#below(2_000)) * NANO_BRL_PER_CENTAVO
    if (amountNanoBrl <= 0n) return
    const made = await debit(db, {
      customerId: this.#customerId,
      amountNanoBrl,
      reason: 'adjustment',
      reference: createId(),
    })
    if (made.kind === 'posted') this.#spent += amountNanoBrl
    this.#note(`spends ${amountNanoBrl / NANO_BRL_PER_CENTAVO}`)
  }

  /** As the route does it. */
  async #request(db: Database, node: number, method: 'pix' | 'card', key: string): Promise<void> {
    const customerId = this.#customerId
    const processor = this.#processor.forNode(node)
    const answers = this.#answers.get(key) ?? { ids: new Set(), refused: [], asked: new Set() }
    this.#answers.set(key, answers)
    const outcome = await actResumably(
      { db, keys: KEYS },
      { customerId, apiKeyId: undefined, key, fingerprint: key },
      async (subject) => {
        const payer = await findPayer(db, customerId)
        if (payer.kind !== 'payer') throw new Refusal('nothing_happened', payer.kind)
        const resumed =
          subject.isResumed && (await resumeTopUp(db, processor, { customerId, id: subject.id }))
        if (resumed) return this.#answerOf(resumed)
        const card =
          method === 'card'
            ? await findChosenCard(
                db,
                { processor, keys: KEYS },
                { customerId, id: this.#methodId },
              )
            : undefined
        answers.asked.add(subject.id)
        const made = await createTopUp(db, SYSTEM, processor, {
          id: subject.id,
          customerId,
          payer: payer.payer,
          amountNanoBrl: (method === 'card' ? AMOUNT : PIX_AMOUNT) * NANO_BRL_PER_CENTAVO,
          method,
          card: card && { ...card, remoteIp: '203.0.113.7' },
          isStillDue: subject.isOwn,
        })
        return this.#answerOf(made)
      },
      (error) => {
        if (!(error instanceof Refusal) || error.end === 'unknown') return 'unknown'
        if (error.end === 'nothing_happened') return 'nothing_happened'
        return { status: 400, body: error.message }
      },
    ).catch((error: unknown) => {
      if (error instanceof Refusal) this.#note(`request ${key}: ${error.end} ${error.message}`)
      else throw error
    })
    if (!outcome) return
    this.#note(
      `request ${key}: ${outcome.kind} ${'answer' in outcome ? `${outcome.answer?.status} ${outcome.answer?.body}` : ''}`,
    )
    if (outcome.kind !== 'acted' && outcome.kind !== 'repeated') return
    const { status, body } = outcome.answer!
    if (status === 201) answers.ids.add(body)
    else answers.refused.push(body)
  }

  #answerOf(outcome: CreatedTopUp): { status: number; body: string } {
    if (outcome.kind === 'created') return { status: 201, body: outcome.topUp.id }
    if (outcome.kind === 'card_rejected' || outcome.kind === 'refused')
      throw new Refusal('ends', outcome.kind)
    const isUnknown = outcome.kind === 'unavailable' && outcome.topUpId !== undefined
    throw new Refusal(isUnknown ? 'unknown' : 'nothing_happened', outcome.kind)
  }

  #emit(payment: Played, type: string): void {
    this.#eventCount += 1
    const id = `evt_${this.#eventCount}`
    const copies = !this.#calm && this.random() < 0.2 ? 2 : 1
    for (let copy = 0; copy < copies; copy++)
      this.#events.push({ id, type, paymentId: payment.id, reference: payment.order.ourId })
  }

  /** An event that the processor sends: a true one, late and in any order, or one that says something wrong. */
  async #deliver(node: number): Promise<void> {
    const noise = this.random()
    let event = this.#one(this.#events)
    if (noise < 0.15) {
      const some = this.#one([...this.#processor.payments.values()])
      event = {
        id: `noise_${this.#eventCount++}`,
        type: this.#one([
          'PAYMENT_RECEIVED',
          'PAYMENT_REFUNDED',
          'PAYMENT_DELETED',
          'PAYMENT_CHARGEBACK_REQUESTED',
          'PAYMENT_OVERDUE',
          'PAYMENT_CREDIT_CARD_CAPTURE_REFUSED',
          'TRANSFER_DONE',
        ])!,
        paymentId: this.#one([some?.id, 'pay_unknown', undefined]),
        reference: this.#one([some?.order.ourId, createId(), 'x']),
      }
    } else if (event) this.#events.splice(this.#events.indexOf(event), 1)
    if (!event) return
    const { id: eventId, type, paymentId, reference } = event
    return this.#job(node, `takes ${eventId} ${type}`, () =>
      takeEvent(this.#nodes[node]!, this.#processor.id, {
        eventId,
        type: 'other',
        processorType: type,
        paymentId,
        reference,
      }),
    )
  }

  /** The world outside acts at the processor. */
  async #play(): Promise<void> {
    const processor = this.#processor
    const one = this.#one([...processor.payments.values()])
    if (!one || one.status === 'deleted') return
    const chance = this.random()
    if (chance < 0.03) {
      this.#note(`processor: an operator makes another payment for ${one.order.ourId}`)
      return processor.makeByHand(one.order)
    }
    if (!one.hasBeenPaid) return this.#playUnpaid(one, chance)
    const place = one.refunds.findIndex(({ status }) => status === 'pending')
    if (place >= 0 && chance < 0.7) {
      const end = this.random() < 0.8 ? 'done' : 'canceled'
      this.#note(`processor: refund ${place} of ${one.id} is ${end}`)
      return processor.endRefund(one, place, end)
    }
    if (chance < 0.76) {
      this.#note(`processor: ${one.id} is refunded by hand`)
      return void processor.refund(one.id, this.random() < 0.5 ? one.order.amountCents : 3_00n)
    }
    if (
      chance < 0.8 &&
      (one.status === 'confirmed' || one.status === 'received') &&
      one.refunds.length === 0
    ) {
      this.#note(`processor: ${one.id} is charged back`)
      processor.chargeBack(one)
    }
  }

  #playUnpaid(one: Played, chance: number): void {
    const processor = this.#processor
    if (one.status === 'in_review') {
      this.#note(`processor: review of ${one.id} ends`)
      return chance < 0.6 ? processor.pay(one) : processor.leaveOpen(one)
    }
    if (!one.isOpen) return this.#answerCard(one, chance)
    if (chance < (one.order.method === 'pix' ? 0.6 : 0.08)) {
      this.#note(`processor: ${one.id} is paid by its payer`)
      return processor.pay(one)
    }
    if (chance > 0.9 && one.status === 'pending') {
      one.status = 'overdue'
      this.#emit(one, 'PAYMENT_OVERDUE')
      this.#note(`processor: ${one.id} is overdue`)
    }
  }

  #answerCard(one: Played, chance: number): void {
    this.#note(`processor: the issuer answers for ${one.id}`)
    if (chance < 0.4) this.#processor.pay(one)
    else if (chance < 0.8) this.#processor.review(one)
    else this.#processor.leaveOpen(one)
  }

  async #advance(seconds: number): Promise<void> {
    // An issuer answers within two minutes.
    for (const one of this.#processor.payments.values())
      if (
        one.status === 'pending' &&
        !one.isOpen &&
        Date.now() + seconds * 1_000 - one.createdAt > 90_000
      )
        this.#answerCard(one, this.random())
    for (const waiter of this.#schedule.waiting.filter(({ node }) => node === NETWORK))
      if (seconds > 30) await this.#schedule.goOn(waiter)
    this.#note(`${seconds} s pass`)
    this.#movedMs += seconds * 1_000
    await moveClock(this.#base.db, this.#movedMs)
  }

  async #onCreate({ ourId, method }: { ourId: string; method: string }): Promise<'act' | 'drop'> {
    const { rows } = await sql<{ status: string; is_automatic: boolean; is_old: boolean }>`
      select status, is_automatic, created_at < clock_timestamp() + make_interval(secs => ${this.#movedMs / 1_000 - 60}) as is_old
      from top_ups where id = ${ourId}`.execute(this.#base.db)
    const row = rows[0]
    // Its node was suspended while the request left.
    if (row?.status !== 'pending' || row.is_old) {
      this.residues += 1
      return 'drop'
    }
    if (method === 'card' && row.is_automatic)
      for (const other of this.#processor.payments.values()) {
        if (other.order.method !== 'card' || other.wasLeftOpen) continue
        const { rows: found } = await sql<{ paid_at: Date | null }>`
          select paid_at from top_ups where id = ${other.order.ourId} and is_automatic`.execute(
          this.#base.db,
        )
        if (!found[0]) continue
        const isOpen = other.status === 'in_review' || (other.status === 'pending' && !other.isOpen)
        if (isOpen || (other.hasBeenPaid && found[0].paid_at === null))
          this.#fault(`${ourId} charges the card while ${other.id} is ${other.status}`)
      }
    return 'act'
  }

  async #onRefund(paymentId: string, description: string): Promise<'act' | 'drop'> {
    // Its node was suspended for longer than its claim between the row and the request.
    const one = this.#processor.payments.get(paymentId)
    const isThere = one?.refunds.some((refund) => refund.description === description)
    if (isThere) this.residues += 1
    return isThere && this.random() < 0.5 ? 'drop' : 'act'
  }

  #onCancel(one: Played): void {
    if (one.status === 'in_review' || (one.status === 'pending' && !one.isOpen))
      this.#fault(`${one.id} is canceled while it is ${one.status}`)
  }

  #fault(text: string): void {
    this.#note(`FAULT ${text}`)
    this.faults.push(text)
  }

  /** No top-up has failed whose payment is in review or was paid without having been refused. */
  async #watch(): Promise<void> {
    const { rows } = await sql<{ id: string }>`
      select id from top_ups where customer_id = ${this.#customerId} and status = 'failed'`.execute(
      this.#base.db,
    )
    for (const { id } of rows) {
      if (this.#seenFailures.has(id)) continue
      this.#seenFailures.add(id)
      const one = this.#processor.payments.get(`pay_${id}`)
      if (one && !one.wasLeftOpen && one.status !== 'deleted')
        this.#fault(`top-up ${id} has failed while its payment is ${one.status}`)
    }
  }

  async #end(): Promise<void> {
    this.#note('--- the end: everything goes on, and the processor is well')
    this.#schedule.suspended.clear()
    this.#calm = true
    for (let round = 0; round < 14 && this.faults.length === 0; round++) {
      await this.#goOnWithAll()
      for (const one of this.#processor.payments.values()) {
        if (one.status === 'in_review') this.#processor.pay(one)
        one.refunds.forEach((_, place) => this.#processor.endRefund(one, place, 'done'))
      }
      while (this.#events.length > 0) {
        await this.#deliver(0)
        await this.#goOnWithAll()
      }
      await this.#advance(round < 4 ? 130 : 3_700)
      const db = this.#nodes[0]!
      const processor = this.#processor.forNode(0)
      for (const [name, work] of [
        ['events', () => handleEvents(db, processor, this.#log)],
        ['sweep', () => sweepTopUps(db, processor, this.#log)],
        ['refunds', () => processRefunds(db, processor, this.#log)],
      ] as const) {
        await this.#job(0, name, work)
        await this.#goOnWithAll()
        await this.#watch()
      }
      if (round > 2 && (await this.#isSettled())) break
    }
    assert.equal(this.#running.size, 0, 'work that never ends')
    const faults = await compareBooks({
      db: this.#base.db,
      customerId: this.#customerId,
      processor: this.#processor,
      spentNanoBrl: this.#spent,
      hasResidues: this.residues > 0,
      answers: this.#answers,
    })
    for (const fault of faults) this.#fault(fault)
  }

  async #isSettled(): Promise<boolean> {
    const { rows } = await sql<{ open: bigint }>`
      select (select count(*) from top_ups where customer_id = ${this.#customerId} and status = 'pending'
          and (method = 'card' or processor_payment_id is null))
        + (select count(*) from refund_parts p join refunds r on r.id = p.refund_id
          where r.customer_id = ${this.#customerId} and p.status in ('waiting', 'sent'))
        + (select count(*) from processor_events where processor = ${this.#processor.id} and handled_at is null) as open`.execute(
      this.#base.db,
    )
    return rows[0]?.open === 0n && this.#events.length === 0
  }

  async #goOnWithAll(): Promise<void> {
    for (let waiter; (waiter = this.#one(this.#schedule.ready()));) {
      this.#note(`node ${waiter.node} goes on: ${waiter.at}`)
      await this.#schedule.goOn(waiter)
    }
  }

  async close(): Promise<void> {
    // A fault may have left work under way.
    this.#schedule.suspended.clear()
    this.#calm = true
    await this.#goOnWithAll()
    await sql`delete from automatic_top_ups where customer_id = ${this.#customerId}`.execute(
      this.#base.db,
    )
    await moveClock(this.#base.db, 0)
  }
}
