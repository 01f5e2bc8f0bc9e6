/** An alert uses the channels that its customer chose, and no others. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { sql } from 'kysely'
import { SYSTEM } from '../../src/platform/audit-log/audited.ts'
import type { AlertInput } from '../../src/deliveries/alerts/alerts.ts'
import { SANDBOX_SENDER } from '../../src/deliveries/email/mail-sender.ts'
import { queueMails } from '../../src/deliveries/email/queue-mails.ts'
import { createSandboxMailer } from '../../src/deliveries/email/sandbox-mailbox.ts'
import { sendDueMails } from '../../src/deliveries/email/send-due-mails.ts'
import { dispatchEvents } from '../../src/platform/events/dispatch-events.ts'
import { type Channel, recordEvent } from '../../src/platform/events/record-event.ts'
import { queueWebhooks } from '../../src/deliveries/webhooks/queue-messages.ts'
import { createWebhook } from '../../src/deliveries/webhooks/webhook-endpoints.ts'
import { createTestDatabase, seedCustomer } from '../harness/test-database.ts'
import { seedUsage, type SeededUse } from '../harness/seed-usage.ts'
import { addAlert, BRL, log, evaluateAll, NOON } from '../harness/alerts.ts'

const database = await createTestDatabase()
const { db } = database
after(() => database.drop())

async function addCustomer(): Promise<{ customerId: string; keyId: string }> {
  const { customerId, key } = await seedCustomer(db, { balanceBrl: '100' })
  await sql`update customers set email = ${`${customerId}@example.com`} where id = ${customerId}`.execute(
    db,
  )
  const hook = { customerId, url: 'https://hooks.example.com/x', description: null }
  await createWebhook(db, SYSTEM, Buffer.alloc(32, 1), { ...hook, eventTypes: null })
  return { customerId, keyId: key.id }
}

async function sentTo(customerId: string): Promise<{ mails: string[]; hooks: string[] }> {
  await dispatchEvents(db, [queueMails, queueWebhooks], log)
  const mails = await db
    .selectFrom('mails')
    .select('template')
    .where('customer_id', '=', customerId)
    .execute()
  const hooks = await db
    .selectFrom('webhook_attempts')
    .select('event_type')
    .where('customer_id', '=', customerId)
    .execute()
  return {
    mails: mails.map(({ template }) => template),
    hooks: hooks.map(({ event_type }) => event_type),
  }
}

const EACH: readonly (readonly [Channel[], number, number])[] = [
  [['email'], 1, 0],
  [['webhook'], 0, 1],
  [['webhook', 'email'], 1, 1],
]
for (const [channels, mails, hooks] of EACH) {
  test(`on ${channels.join(' and ')}, an alert is ${mails} mails and ${hooks} messages`, async () => {
    const { customerId } = await addCustomer()
    await addAlert(db, customerId, { kind: 'balance_below', threshold: '200', channels })
    await evaluateAll(db, NOON)
    assert.deepEqual(await sentTo(customerId), {
      mails: Array.from({ length: mails }, () => 'alerta_gasto'),
      hooks: Array.from({ length: hooks }, () => 'alert.triggered'),
    })
  })
}

test('an event that names no channels uses all of them', async () => {
  const { customerId } = await addCustomer()
  await recordEvent(db, { customerId, type: 'balance.low', data: { critical: true } })
  assert.deepEqual(await sentTo(customerId), { mails: ['saldo_critico'], hooks: ['balance.low'] })
})

test('the mail states the reached value in the terms and units of each kind', async () => {
  const { customerId, keyId } = await addCustomer()
  const at = new Date()
  const use: SeededUse = {
    at,
    modelId: 'sandbox-chat',
    promptTokens: 1,
    completionTokens: 1,
  }
  const failed = Array.from({ length: 60 }, () => ({ ...use, outcome: 'released' as const }))
  const events = [{ ...use, billed: 90n * BRL }, ...failed]
  await seedUsage(db, { customerId, apiKeyId: keyId, events })
  const add = (name: string, kind: AlertInput['kind'], threshold: string) =>
    addAlert(db, customerId, { name, kind, threshold, channels: ['email'] })
  await add('Saldo', 'balance_below', '50.5')
  await add('Mês', 'monthly_spend', '80')
  await add('Fôlego', 'runway_days', '9')
  await add('Falhas', 'error_rate', '12.5')
  await evaluateAll(db, at)
  await dispatchEvents(db, [queueMails], log)
  await sendDueMails(db, { mailer: createSandboxMailer(db), sender: SANDBOX_SENDER, log })
  const { rows } = await sql<{ subject: string; text: string }>`
    select subject, text from sandbox_mails where customer_id = ${customerId}`.execute(db)
  const textOf = (name: string): string =>
    rows.find((row) => row.subject.endsWith(name))?.text ?? ''
  assert.equal(rows.length, 4)
  assert.match(textOf('Saldo'), /Limite: R\$\u00a050,50[^]*Saldo: R\$\u00a010,00/)
  assert.match(textOf('Mês'), /Limite: R\$\u00a080,00[^]*Gasto: R\$\u00a090,00/)
  assert.match(textOf('Fôlego'), /Limite em dias: 9[^]*Duração estimada em dias: 3/)
  assert.match(textOf('Falhas'), /erro \(%\): 12,5[^]*última hora \(%\): 9\d/)
})
