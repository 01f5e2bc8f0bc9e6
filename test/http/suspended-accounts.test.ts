/** A suspended account learns why, and takes no money in by any way, also while it is being suspended. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql, type KyselyPlugin } from 'kysely'
import { SYSTEM } from '../../src/platform/audit-log/audited.ts'
import { ensureSealingKey } from '../../src/platform/lib/sealing-key.ts'
import { changeSuspension } from '../../src/customers/suspend-customer.ts'
import { inTransaction } from '../../src/platform/db/open.ts'
import { lockAccount } from '../../src/money/ledger/entries.ts'
import { createLog } from '../../src/platform/lib/log.ts'
import { NANO_PER_BRL } from '../../src/platform/lib/money.ts'
import { createAsaas } from '../../src/money/payments/asaas/create-asaas.ts'
import { createTopUp } from '../../src/money/payments/create-top-up.ts'
import { findPayer } from '../../src/money/payments/payers.ts'
import { findChosenCard } from '../../src/money/payments/payment-methods.ts'
import type { Processor } from '../../src/money/payments/processor.ts'
import { sweepTopUps } from '../../src/money/payments/sweep-top-ups.ts'
import { ask } from '../harness/ask.ts'
import { assertAudit } from '../harness/assert-audit.ts'
import { APPROVED, cardBody } from '../harness/cards.ts'
import { startGateway, type TestGateway } from '../harness/gateway.ts'
import { seedPayer, until, type Payer } from '../harness/payer.ts'

const REASON = 'Falta o contrato social da empresa.'
const METHODS = ['pix', 'boleto', 'card'] as const

let gateway: TestGateway
let processor: Processor

before(async () => {
  gateway = await startGateway()
  const { json } = await call(await seedPayer(gateway.database.db), '/topups', { amount: 20 })
  const { href: baseUrl } = new URL('/v3', json.page_url)
  processor = createAsaas({ baseUrl, apiKey: 'tests', webhookToken: undefined })
})
after(async () => {
  await processor.close()
  await assertAudit(gateway.database)
  await gateway.stop()
})

function call({ secret }: Payer, path: string, body?: object, method = body ? 'POST' : 'GET') {
  return ask(gateway.node.baseUrl, path, { secret, body, method })
}

function suspend({ customerId }: Payer, reason: string | undefined = REASON): Promise<void> {
  return change(customerId, reason)
}

function reinstate({ customerId }: Payer): Promise<void> {
  return change(customerId, undefined)
}

async function change(customerId: string, reason: string | undefined): Promise<void> {
  await inTransaction(gateway.database.db, async (trx) => {
    await lockAccount(trx, customerId)
    await changeSuspension(trx, SYSTEM, { customerId, reason })
  })
}

async function addCard(payer: Payer): Promise<string> {
  const added = await call(payer, '/payment-methods', cardBody(APPROVED))
  assert.equal(added.status, 201, added.text)
  return added.json.id
}

function statusesOf({ customerId }: Payer): Promise<string[]> {
  return gateway.database.db
    .selectFrom('top_ups')
    .select('status')
    .where('customer_id', '=', customerId)
    .orderBy('created_at')
    .execute()
    .then((rows) => rows.map(({ status }) => status))
}

test('a suspended account is refused every way of paying in, and has them back once it is reinstated', async () => {
  const payer = await seedPayer(gateway.database.db)
  const cardId = await addCard(payer)
  await suspend(payer)
  const automatic = { threshold_brl: 10, amount_brl: 20, payment_method_id: cardId }
  const ways = [
    ['/topups', { amount: 20 }, 'POST'],
    ['/topups', { amount: 20, method: 'boleto' }, 'POST'],
    ['/topups', { amount: 20, method: 'card', payment_method_id: cardId }, 'POST'],
    ['/payment-methods', cardBody(APPROVED), 'POST'],
    ['/topups/automatic', automatic, 'PUT'],
  ] as const
  for (const [path, body, method] of ways) {
    const refusal = await call(payer, path, body, method)
    assert.deepEqual([refusal.status, refusal.json.error], [403, 'account_suspended'])
    assert.match(refusal.json.details, /^a conta está suspensa/)
  }
  assert.deepEqual(await statusesOf(payer), [])
  const trial = '/me/trial-credit'
  assert.equal((await call(payer, trial)).json.status, 'none')
  assert.equal((await call(payer, trial, {})).json.error, 'no_trial_credit')
  // What ends payments stays possible.
  const off = await call(payer, '/topups/automatic', { ...automatic, is_enabled: false }, 'PUT')
  assert.equal(off.status, 200, off.text)
  await reinstate(payer)
  for (const [path, body, method] of ways)
    assert.ok((await call(payer, path, body, method)).status < 300, path)
})

test('the customer reads the reason in the session, by mail and by webhook, and when the suspension is over', async () => {
  const payer = await seedPayer(gateway.database.db)
  const { db } = gateway.database
  const shown = async (): Promise<unknown> => (await call(payer, '/session')).json.suspension
  assert.equal(await shown(), null)
  await suspend(payer)
  const { since, ...suspension } = (await shown()) as { since: string }
  assert.deepEqual(suspension, { cause: 'operator', reason: REASON })
  assert.ok(Math.abs(Date.parse(since) - Date.now()) < 600_000, since)
  // A second suspension changes nothing and tells nothing.
  await suspend(payer, 'outro')
  await reinstate(payer)
  assert.equal(await shown(), null)
  const events = await db
    .selectFrom('events')
    .select(['type', 'data'])
    .where('customer_id', '=', payer.customerId)
    .where('type', 'like', 'account.%')
    .orderBy('created_at')
    .execute()
  assert.deepEqual(events, [
    { type: 'account.suspended', data: { cause: 'operator', reason: REASON } },
    { type: 'account.reinstated', data: {} },
  ])
  const mails = await until(
    () =>
      db
        .selectFrom('notifications')
        .select(['template', 'status'])
        .where('customer_id', '=', payer.customerId)
        .orderBy('template')
        .execute(),
    (rows) => rows.length === 2,
  )
  assert.deepEqual(mails, [
    { template: 'conta_reativada', status: 'sent' },
    { template: 'conta_suspensa', status: 'sent' },
  ])
})

test('a Pix and a boleto that were open at the suspension are cancelled at the processor', async () => {
  const payer = await seedPayer(gateway.database.db)
  const { db } = gateway.database
  const made = await Promise.all(
    (['pix', 'boleto'] as const).map((method) => call(payer, '/topups', { amount: 20, method })),
  )
  await suspend(payer)
  // A tenth of their age, for which other top-ups wait, is two hours.
  await sql`update top_ups set created_at = created_at - interval '20 hours',
    checked_at = now() - interval '61 seconds' where customer_id = ${payer.customerId}`.execute(db)
  await sweepTopUps(
    db,
    processor,
    createLog('silent', () => {}),
  )
  const ended = await until(
    () => statusesOf(payer),
    (statuses) => statuses.every((status) => status === 'canceled'),
  )
  assert.equal(ended.length, made.length)
  const { rows } = await sql<{ id: string }>`
    select processor_payment_id as id from top_ups where customer_id = ${payer.customerId}`.execute(
    db,
  )
  for (const { id } of rows) {
    const found = await processor.findPayment(id)
    assert.ok(found.kind === 'payment' && found.payment.status === 'deleted', id)
  }
})

/** When the account is suspended, in the course of a top-up. */
const MOMENTS = ['before it is stored', 'between the row and the charge'] as const

for (const method of METHODS)
  for (const moment of MOMENTS)
    test(`a top-up by ${method} charges nothing if the account is suspended ${moment}`, async () => {
      const payer = await seedPayer(gateway.database.db)
      const cardId = method === 'card' ? await addCard(payer) : undefined
      const charged: string[] = []
      const watched: Processor = {
        ...processor,
        async ensureCustomer(details, known) {
          if (moment === MOMENTS[0]) await suspend(payer)
          return processor.ensureCustomer(details, known)
        },
        createPayment(order) {
          charged.push(order.ourId)
          return processor.createPayment(order)
        },
      }
      // The clock is read right before the processor is asked.
      const atTheClock: KyselyPlugin = {
        transformQuery: ({ node }) => node,
        async transformResult({ result }) {
          const isClock = result.rows.some((row) => Object.keys(row).join() === 'asked_at')
          if (isClock && moment === MOMENTS[1]) await suspend(payer)
          return result
        },
      }
      const { db } = gateway.database
      const found = await findPayer(db, payer.customerId)
      assert.ok(found.kind === 'payer')
      const keys = { sealingKey: await ensureSealingKey(gateway.node.dataDir) }
      const card =
        cardId === undefined
          ? undefined
          : await findChosenCard(
              db,
              { processor, keys },
              { customerId: payer.customerId, id: cardId },
            )
      assert.equal(card === undefined, method !== 'card')
      const outcome = await createTopUp(db.withPlugin(atTheClock), SYSTEM, watched, {
        customerId: payer.customerId,
        payer: found.payer,
        amountNanoBrl: 20n * NANO_PER_BRL,
        method,
        card: card && { ...card, remoteIp: '203.0.113.7' },
      })
      assert.equal(outcome.kind, moment === MOMENTS[0] ? 'account_suspended' : 'unavailable')
      assert.deepEqual(charged, [])
      assert.deepEqual(await statusesOf(payer), moment === MOMENTS[0] ? [] : ['failed'])
    })
