// deep: an attack
/** Two nodes that charge a saved card for one shortage of a balance. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import { SYSTEM } from '../../src/platform/audit-log/audited.ts'
import { suspendCustomer } from '../../src/customers/suspend-customer.ts'
import { inTransaction } from '../../src/platform/db/open.ts'
import { credit } from '../../src/money/ledger/entries.ts'
import { createId } from '../../src/platform/lib/ids.ts'
import { createLog } from '../../src/platform/lib/log.ts'
import { NANO_PER_BRL } from '../../src/platform/lib/money.ts'
import {
  deleteAutomaticTopUp,
  findAutomaticTopUp,
  saveAutomaticTopUp,
} from '../../src/money/payments/automatic-top-ups.ts'
import { findPayer } from '../../src/money/payments/payers.ts'
import { addPaymentMethod } from '../../src/money/payments/payment-methods.ts'
import type { EnsureCustomerOutcome, Processor } from '../../src/money/payments/processor.ts'
import { tokenizeCard } from '../../src/money/payments/tokenize-card.ts'
import { topUpAutomatically } from '../../src/money/payments/top-up-automatically.ts'
import { APPROVED } from '../harness/cards.ts'
import { seedPayer } from '../harness/payer.ts'
import { startTestSandbox, until, type TestSandbox } from '../harness/sandbox-processor.ts'
import { createTestDatabase, type TestDatabase } from '../harness/test-database.ts'

const sealingKey = randomBytes(32)
const log = createLog('silent', () => {})

let database: TestDatabase
let sandbox: TestSandbox
before(async () => {
  database = await createTestDatabase()
  sandbox = await startTestSandbox()
})
after(async () => {
  await sandbox.close()
  await database.drop()
})

/** Wants BRL 20 below BRL 10, and has nothing. */
async function seedShortage(): Promise<{
  customerId: string
  save: (amountBrl?: bigint) => Promise<unknown>
}> {
  const { db } = database
  const { processor } = sandbox
  const { customerId } = await seedPayer(db)
  const found = await findPayer(db, customerId)
  assert.equal(found.kind, 'payer')
  const { payer } = found
  const tokenized = await tokenizeCard(db, processor, {
    payer,
    card: {
      holderName: 'M SOUZA',
      number: APPROVED,
      expiryMonth: '12',
      expiryYear: '2099',
      ccv: '318',
    },
    holder: {
      name: 'Marília Souza',
      email: 'marilia@example.com',
      taxId: '52998224725',
      postalCode: '01310100',
      addressNumber: '1578',
      phone: '11987654321',
    },
    remoteIp: '203.0.113.7',
  })
  assert.equal(tokenized.kind, 'tokenized', JSON.stringify(tokenized))
  const { method } = tokenized
  const card = await addPaymentMethod(db, SYSTEM, sealingKey, method)
  const save = (amountBrl = 20n) =>
    saveAutomaticTopUp(db, SYSTEM, {
      customerId,
      isEnabled: true,
      thresholdNanoBrl: 10n * NANO_PER_BRL,
      amountNanoBrl: amountBrl * NANO_PER_BRL,
      paymentMethodId: card?.id ?? '',
      monthlyLimitNanoBrl: null,
      remoteIp: '203.0.113.7',
    })
  await save()
  return { customerId, save }
}

/** A node that claims the customer, and then waits at the processor until `goOn`. It gets this answer, or the sandbox's. */
function startSlowNode(answer?: EnsureCustomerOutcome) {
  const asked = Promise.withResolvers<void>()
  const gate = Promise.withResolvers<void>()
  const processor: Processor = {
    ...sandbox.processor,
    async ensureCustomer(payer, known) {
      asked.resolve()
      await gate.promise
      return answer ?? sandbox.processor.ensureCustomer(payer, known)
    },
  }
  const run = topUpAutomatically(database.db, { processor, keys: { sealingKey }, log })
  return {
    claimed: asked.promise,
    async goOn() {
      gate.resolve()
      await run
    },
  }
}

async function paidTopUps(customerId: string): Promise<number> {
  const rows = await database.db
    .selectFrom('top_ups')
    .select('status')
    .where('customer_id', '=', customerId)
    .execute()
  return rows.filter(({ status }) => status === 'paid').length
}

const MEANWHILE: Readonly<
  Record<string, (shortage: Awaited<ReturnType<typeof seedShortage>>) => Promise<unknown>>
> = {
  'was suspended for more than a minute': ({ customerId }) =>
    sql`update automatic_top_ups set tried_at = tried_at - interval '61 seconds'
      where customer_id = ${customerId}`.execute(database.db),
  'waited while the customer saved the setting anew': async ({ customerId, save }) => {
    await deleteAutomaticTopUp(database.db, SYSTEM, { customerId })
    await save()
  },
}

for (const [what, change] of Object.entries(MEANWHILE))
  test(`one shortage is charged once, also where a node ${what}`, async () => {
    const shortage = await seedShortage()
    const { customerId } = shortage
    const slow = startSlowNode()
    await slow.claimed
    await change(shortage)
    await topUpAutomatically(database.db, {
      processor: sandbox.processor,
      keys: { sealingKey },
      log,
    })
    await until(async () => (await paidTopUps(customerId)) === 1)
    await slow.goOn()
    assert.equal(await paidTopUps(customerId), 1)
  })

test('a card is not charged once the customer has turned the automatic top-up off', async () => {
  const { customerId } = await seedShortage()
  const slow = startSlowNode()
  await slow.claimed
  await deleteAutomaticTopUp(database.db, SYSTEM, { customerId })
  await slow.goOn()
  assert.equal(await paidTopUps(customerId), 0)
})

const NO_LONGER_DUE: Readonly<Record<string, (customerId: string) => Promise<unknown>>> = {
  'the customer has ended the shortage by Pix': (customerId) =>
    credit(database.db, {
      customerId,
      amountNanoBrl: 50n * NANO_PER_BRL,
      reason: 'top_up',
      reference: createId(),
    }),
  'the account was suspended for a charge-back': (customerId) =>
    inTransaction(database.db, (trx) => suspendCustomer(trx, customerId, 'chargeback')),
  'the customer has lowered the monthly limit': (customerId) =>
    sql`update automatic_top_ups set monthly_limit_nano_brl = 1 where customer_id = ${customerId}`.execute(
      database.db,
    ),
}

for (const [what, change] of Object.entries(NO_LONGER_DUE))
  test(`a node that goes on late charges no card where ${what}`, async () => {
    const { customerId } = await seedShortage()
    const slow = startSlowNode()
    await slow.claimed
    await change(customerId)
    await slow.goOn()
    assert.equal(await paidTopUps(customerId), 0)
  })

test('a late refusal of the payer does not count against a setting that the customer saved since', async () => {
  const { customerId, save } = await seedShortage()
  const slow = startSlowNode({ kind: 'invalid_customer', field: undefined, detail: 'no' })
  await slow.claimed
  await save(30n)
  await slow.goOn()
  assert.equal((await findAutomaticTopUp(database.db, customerId))?.failuresInRow, 0)
})
