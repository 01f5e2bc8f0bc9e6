/**
 * Automatic top-ups: as often as the customer allows, and never more, even if a node dies or an answer is
 * lost.
 */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import { SYSTEM } from '../../src/platform/audit-log/audited.ts'
import { queueMails } from '../../src/deliveries/email/queue-mails.ts'
import { SANDBOX_SENDER } from '../../src/deliveries/email/mail-sender.ts'
import { renderMail } from '../../src/deliveries/email/render-mail.ts'
import { dispatchEvents } from '../../src/platform/events/dispatch-events.ts'
import { findAccount } from '../../src/money/ledger/entries.ts'
import { createLog } from '../../src/platform/lib/log.ts'
import { decimalBrl, NANO_PER_BRL, parseBrl } from '../../src/platform/lib/money.ts'
import {
  deleteAutomaticTopUp,
  findAutomaticTopUp,
  saveAutomaticTopUp,
  type AutomaticTopUp,
} from '../../src/money/payments/automatic-top-ups.ts'
import { createTopUp } from '../../src/money/payments/create-top-up.ts'
import { findPayer } from '../../src/money/payments/payers.ts'
import {
  deletePaymentMethod,
  findChosenCard,
  addPaymentMethod,
} from '../../src/money/payments/payment-methods.ts'
import type { PayerDetails, Processor } from '../../src/money/payments/processor.ts'
import { sweepTopUps } from '../../src/money/payments/sweep-top-ups.ts'
import { tokenizeCard } from '../../src/money/payments/tokenize-card.ts'
import { topUpAutomatically } from '../../src/money/payments/top-up-automatically.ts'
import { createTestDatabase, type TestDatabase } from '../harness/test-database.ts'
import { assertAudit } from '../harness/assert-audit.ts'
import { APPROVED, DECLINED_LATER, HOLDER } from '../harness/cards.ts'
import { seedPayer, type Payer } from '../harness/payer.ts'
import { startTestSandbox, type TestSandbox } from '../harness/sandbox-processor.ts'

const log = createLog('silent', () => {})
const keys = { sealingKey: randomBytes(32) }

let database: TestDatabase
let sandbox: TestSandbox
let processor: Processor

before(async () => {
  ;[database, sandbox] = await Promise.all([createTestDatabase(), startTestSandbox()])
  processor = sandbox.processor
})
after(async () => {
  try {
    await assertAudit(database)
  } finally {
    await sandbox.close()
    await database.drop()
  }
})

interface Wants {
  readonly number?: string
  readonly amount?: string
  readonly threshold?: string
  readonly limit?: string
}

interface Saver extends Payer {
  readonly cardId: string
  readonly payer: PayerDetails
}

/** With an empty balance, and an automatic top-up. Those of all earlier customers are switched off. */
async function seedSaver(wants: Wants = {}): Promise<Saver> {
  const { db } = database
  await sql`update automatic_top_ups set is_enabled = false`.execute(db)
  const owner = await seedPayer(db)
  const found = await findPayer(db, owner.customerId)
  assert.ok(found.kind === 'payer')
  const { payer } = found
  const tokenized = await tokenizeCard(db, processor, {
    payer,
    card: {
      holderName: 'MARILIA',
      number: wants.number ?? APPROVED,
      expiryMonth: '12',
      expiryYear: '2099',
      ccv: '318',
    },
    holder: { ...HOLDER, taxId: '52998224725', postalCode: '01310100', addressNumber: '1' },
    remoteIp: '203.0.113.9',
  })
  assert.ok(tokenized.kind === 'tokenized', JSON.stringify(tokenized))
  const method = await addPaymentMethod(db, SYSTEM, keys.sealingKey, tokenized.method)
  const saver = { ...owner, payer, cardId: method?.id as string }
  await save(saver, wants)
  return saver
}

async function save({ customerId, cardId }: Saver, wants: Wants): Promise<void> {
  await saveAutomaticTopUp(database.db, SYSTEM, {
    customerId,
    isEnabled: true,
    thresholdNanoBrl: parseBrl(wants.threshold ?? '10') as bigint,
    amountNanoBrl: parseBrl(wants.amount ?? '20') as bigint,
    paymentMethodId: cardId,
    monthlyLimitNanoBrl: wants.limit ? (parseBrl(wants.limit) as bigint) : null,
    remoteIp: '203.0.113.9',
  })
}

/** Returns how many customers were processed. */
function run(with_: Processor = processor): Promise<number> {
  return topUpAutomatically(database.db, { processor: with_, keys, log })
}

/** As if it were this many minutes later, past the wait between two top-ups. */
async function passMinutes({ customerId }: Payer, minutes: number): Promise<void> {
  await sql`update automatic_top_ups set tried_at = tried_at - make_interval(mins => ${minutes}, secs => 1)
    where customer_id = ${customerId}`.execute(database.db)
}

async function balanceOf({ customerId }: Payer): Promise<string> {
  return decimalBrl((await findAccount(database.db, customerId))?.balanceNanoBrl ?? 0n)
}

async function statusesOf({ customerId }: Payer): Promise<string[]> {
  const rows = await database.db
    .selectFrom('top_ups')
    .select('status')
    .where('customer_id', '=', customerId)
    .orderBy('created_at')
    .execute()
  return rows.map(({ status }) => status)
}

function find({ customerId }: Payer): Promise<AutomaticTopUp | undefined> {
  return findAutomaticTopUp(database.db, customerId)
}

async function sweep({ customerId }: Payer): Promise<void> {
  await sql`update top_ups set checked_at = now() - interval '1 day'
    where customer_id = ${customerId}`.execute(database.db)
  await sweepTopUps(database.db, processor, log)
}

test('a balance below the threshold is topped up once, however many nodes check it', async () => {
  const saver = await seedSaver()
  const taken = await Promise.all(Array.from({ length: 8 }, () => run()))
  assert.equal(
    taken.reduce((sum, count) => sum + count, 0),
    1,
  )
  assert.deepEqual([await balanceOf(saver), await statusesOf(saver)], ['20', ['paid']])
  await passMinutes(saver, 10)
  assert.equal(await run(), 0, 'there is enough')
  const { rows } = await sql<{ is_automatic: boolean; data: any }>`
    select is_automatic, data from top_ups join events on data ->> 'id' = top_ups.id::text
    where top_ups.customer_id = ${saver.customerId} and type = 'topup.created'`.execute(database.db)
  assert.deepEqual(
    rows.map(({ is_automatic, data }) => [is_automatic, data.is_automatic]),
    [[true, true]],
  )
})

test('a disabled automatic top-up, or one of a suspended account, charges nothing', async () => {
  const saver = await seedSaver()
  await sql`update automatic_top_ups set is_enabled = false where customer_id = ${saver.customerId}`.execute(
    database.db,
  )
  assert.equal(await run(), 0)
  await save(saver, {})
  await sql`update customers set suspended_at = now(), suspended_reason = 'operator'
    where id = ${saver.customerId}`.execute(database.db)
  assert.equal(await run(), 0)
  await sql`update customers set suspended_at = null, suspended_reason = null
    where id = ${saver.customerId}`.execute(database.db)
  assert.equal(await run(), 1)
})

test('two top-ups are at least a minute apart, and a day has at most five', async () => {
  const saver = await seedSaver({ threshold: '5000' })
  assert.equal(await run(), 1)
  assert.equal(await run(), 0)
  for (const count of [2, 3, 4, 5]) {
    await passMinutes(saver, 1)
    assert.equal(await run(), 1, `${count}`)
  }
  await passMinutes(saver, 60)
  assert.equal(await run(), 0, 'a sixth')
  assert.equal(await balanceOf(saver), '100')
  await sql`update top_ups set created_at = created_at - interval '1 day'
    where customer_id = ${saver.customerId}`.execute(database.db)
  assert.equal(await run(), 1)
})

test("a customer's month never exceeds the monthly limit", async () => {
  const saver = await seedSaver({ threshold: '5000', limit: '50' })
  for (const isDone of [true, true, false, false]) {
    await passMinutes(saver, 60)
    assert.equal(await run(), isDone ? 1 : 0)
  }
  assert.equal(await balanceOf(saver), '40')
  await sql`update top_ups set created_at =
      date_trunc('month', now(), 'America/Sao_Paulo') - interval '1 second'
    where customer_id = ${saver.customerId}`.execute(database.db)
  assert.equal(await run(), 1, 'a new month')
})

test('refusals wait longer each time; after three it is switched off, and the customer is notified once', async () => {
  const saver = await seedSaver({ number: DECLINED_LATER })
  const { db } = database
  assert.equal(await run(), 1)
  await passMinutes(saver, 9)
  assert.equal(await run(), 0)
  await passMinutes(saver, 1)
  assert.equal(await run(), 1)
  await passMinutes(saver, 99)
  assert.equal(await run(), 0)
  assert.equal((await find(saver))?.isEnabled, true)
  await passMinutes(saver, 1)
  assert.equal(await run(), 1)
  const off = await find(saver)
  assert.deepEqual(
    [off?.isEnabled, off?.failuresInRow, off?.disabledReason],
    [false, 3, 'card_rejected'],
  )
  await passMinutes(saver, 100_000)
  assert.equal(await run(), 0)
  assert.deepEqual(await statusesOf(saver), ['failed', 'failed', 'failed'])
  await dispatchEvents(db, [queueMails], log)
  const mails = await db
    .selectFrom('mails')
    .select(['template', 'data'])
    .where('customer_id', '=', saver.customerId)
    .orderBy('template')
    .execute()
  assert.deepEqual(
    mails.map(({ template }) => template),
    ['cartao_recusado', 'cartao_recusado', 'cartao_recusado', 'recarga_automatica_desativada'],
  )
  const reader = { name: 'Ana', timezone: 'UTC' }
  const { text } = renderMail(
    'recarga_automatica_desativada',
    mails[3]?.data as object as never,
    reader,
    SANDBOX_SENDER,
  )
  assert.match(text, /final 0002\n.*: 3\n.*R\$\u00a020,00\n.*R\$\u00a010,00/)
  await save(saver, {})
  assert.equal(await run(), 1, 'it is on again')
})

test('saving an automatic top-up anew forgets no refusal of its card, and a day has five charges of all cards', async () => {
  const saver = await seedSaver({ number: DECLINED_LATER })
  const { db } = database
  const { customerId } = saver
  const other = await addPaymentMethod(db, SYSTEM, keys.sealingKey, {
    ...(await db
      .selectFrom('payment_methods')
      .select(['brand', 'last_four as lastFour', 'holder_name as holderName'])
      .select(['expiry_month as expiryMonth', 'expiry_year as expiryYear'])
      .where('id', '=', saver.cardId)
      .executeTakeFirstOrThrow()),
    customerId,
    processorId: processor.id,
    token: (await findChosenCard(db, { processor, keys }, { customerId, id: saver.cardId }))!.token,
  })
  const ways = [
    () => save(saver, {}),
    async () => {
      await deleteAutomaticTopUp(db, SYSTEM, { customerId })
      await save(saver, {})
    },
  ]
  for (const again of ways) {
    await again()
    assert.equal((await find(saver))?.failuresInRow, (await statusesOf(saver)).length)
    await passMinutes(saver, 100_000)
    assert.equal(await run(), 1)
  }
  await save({ ...saver, cardId: other!.id }, {})
  assert.equal((await find(saver))?.failuresInRow, 0, 'another card')
  await passMinutes(saver, 100_000)
  assert.equal(await run(), 1)
  await save(saver, {})
  assert.equal((await find(saver))?.failuresInRow, 2, 'the first card again')
  for (let times = 0; times < 10; times++) {
    await save({ ...saver, cardId: times % 2 ? saver.cardId : other!.id }, {})
    await passMinutes(saver, 1_000_000)
    await run()
  }
  assert.equal((await statusesOf(saver)).length, 5)
})

test('a success resets the count of refusals', async () => {
  const saver = await seedSaver()
  await sql`update automatic_top_ups set failures_in_row = 2
    where customer_id = ${saver.customerId}`.execute(database.db)
  assert.equal(await run(), 1)
  assert.equal((await find(saver))?.failuresInRow, 0)
})

test('a charge whose answer is lost delays the next one, is found by the sweeper, and happened once', async () => {
  const saver = await seedSaver({ amount: '20.91' })
  assert.equal(await run(), 1)
  assert.deepEqual([await balanceOf(saver), await statusesOf(saver)], ['0', ['pending']])
  await passMinutes(saver, 60)
  assert.equal(await run(), 0)
  await Promise.all([sweep(saver), sweep(saver)])
  assert.deepEqual([await balanceOf(saver), await statusesOf(saver)], ['20.91', ['paid']])
})

test('a node that dies before the request leaves a row: nothing is charged, and after an hour top-ups continue', async () => {
  const saver = await seedSaver()
  const dying: Processor = {
    ...processor,
    createPayment: () => Promise.reject(new Error('killed')),
  }
  assert.equal(await run(dying), 1)
  await passMinutes(saver, 59)
  assert.equal(await run(), 0)
  await sweep(saver)
  assert.deepEqual(await statusesOf(saver), ['pending'])
  await sql`update top_ups set created_at = now() - interval '61 minutes'
    where customer_id = ${saver.customerId}`.execute(database.db)
  await sweep(saver)
  assert.deepEqual([await statusesOf(saver), (await find(saver))?.failuresInRow], [['failed'], 0])
  assert.equal(await run(), 1)
  assert.deepEqual([await balanceOf(saver), await statusesOf(saver)], ['20', ['failed', 'paid']])
})

test('a customer never has two top-ups in flight, even if two nodes decided on one', async () => {
  const saver = await seedSaver()
  const { db } = database
  const { customerId, cardId, payer } = saver
  const card = await findChosenCard(db, { processor, keys }, { customerId, id: cardId })
  assert.ok(card)
  const AT_ONCE = 4
  let asked = 0
  let ended = 0
  const othersEnded = Promise.withResolvers<void>()
  const slow: Processor = {
    ...processor,
    async createPayment(order) {
      asked += 1
      await othersEnded.promise
      return processor.createPayment(order)
    },
  }
  const outcomes = await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      const outcome = await createTopUp(db, SYSTEM, slow, {
        customerId,
        payer,
        amountNanoBrl: 20n * NANO_PER_BRL,
        method: 'card',
        card: { ...card, remoteIp: '203.0.113.9' },
        isAutomatic: true,
      })
      ended += 1
      if (ended === AT_ONCE - 1) othersEnded.resolve()
      return outcome
    }),
  )
  const kinds = outcomes.map(({ kind }) => kind).sort()
  assert.deepEqual([kinds, asked], [['created', 'in_flight', 'in_flight', 'in_flight'], 1])
  assert.equal(await balanceOf(saver), '20')
})

test('a charge that is refused after review counts as a refusal', async () => {
  const saver = await seedSaver({ amount: '20.98' })
  assert.equal(await run(), 1)
  const { processor_payment_id: paymentId } = await database.db
    .selectFrom('top_ups')
    .select('processor_payment_id')
    .where('customer_id', '=', saver.customerId)
    .executeTakeFirstOrThrow()
  assert.equal((await sandbox.act(paymentId as string, 'recusar')).status, 303)
  await sweep(saver)
  assert.deepEqual([await statusesOf(saver), (await find(saver))?.failuresInRow], [['failed'], 1])
  const found = await processor.findPayment(paymentId as string)
  assert.equal(found.kind === 'payment' && found.payment.status, 'deleted')
})

test('deleting the card switches the automatic top-up off, and nothing is charged', async () => {
  const saver = await seedSaver()
  const card = { customerId: saver.customerId, id: saver.cardId }
  await deletePaymentMethod(database.db, SYSTEM, card)
  const off = await find(saver)
  assert.deepEqual(
    [off?.isEnabled, off?.paymentMethodId, off?.disabledReason],
    [false, null, 'payment_method_deleted'],
  )
  assert.equal(await run(), 0)
})
