/** Mails about incidents: to those who asked, twice for each incident, and never before all receipts. */
import assert from 'node:assert/strict'
import { after, afterEach, test } from 'node:test'
import { sql } from 'kysely'
import { SYSTEM } from '../../src/platform/audit-log/audited.ts'
import { SANDBOX_SENDER } from '../../src/deliveries/email/mail-sender.ts'
import { queueIncidentMails } from '../../src/deliveries/email/queue-incident-mails.ts'
import { queueMail } from '../../src/deliveries/email/queue-mail.ts'
import type { OutgoingMail } from '../../src/deliveries/email/mailer.ts'
import { sendDueMails } from '../../src/deliveries/email/send-due-mails.ts'
import {
  reportBreakerClosed,
  reportBreakerOpen,
} from '../../src/platform/health/breaker-incidents.ts'
import {
  openIncident,
  resolveIncident,
  updateIncident,
} from '../../src/platform/health/incidents.ts'
import { createId } from '../../src/platform/lib/ids.ts'
import { createLog } from '../../src/platform/lib/log.ts'
import { createTestDatabase } from '../harness/test-database.ts'

const database = await createTestDatabase()
const { db } = database
after(() => database.drop())
const log = createLog('silent', () => {})

afterEach(async () => {
  await sql`delete from mails`.execute(db)
  await sql`delete from incident_mails`.execute(db)
  await sql`delete from notifications`.execute(db)
  await sql`update incidents set is_mailed = false, resolved_at = coalesce(resolved_at, now())`.execute(
    db,
  )
  await sql`update customers set incident_email_enabled = false`.execute(db)
})

/** Adds customers who asked for the mails; all of them have the same name. */
async function addReaders(count: number, name = 'Leitora', asks = true): Promise<void> {
  for (let each = 0; each < count; each++) {
    const id = createId()
    await sql`
      insert into customers (id, name, email, incident_email_enabled)
      values (${id}, ${name}, ${`r.${id}@example.com`}, ${asks})`.execute(db)
  }
}

const INCIDENT = {
  severity: 'major',
  title: 'Respostas lentas',
  message: 'Estamos vendo.',
  vendors: ['openai'],
  modelIds: [],
} as const

/** Runs until no incident waits; returns the sent mails, in the order in which they were sent. */
async function sendAll(): Promise<OutgoingMail[]> {
  const sent: OutgoingMail[] = []
  const mailer = {
    deliver: async (mail: OutgoingMail) => {
      sent.push(mail)
      return { kind: 'delivered' as const }
    },
    close() {},
  }
  for (;;) {
    const queued = await queueIncidentMails(db)
    const count = await sendDueMails(db, { mailer, sender: SANDBOX_SENDER, log })
    if (queued === 0 && count === 0) return sent
  }
}

const ofIncidents = (sent: readonly OutgoingMail[]): string[] =>
  sent.map(({ subject }) => subject.replace('[modo de teste] ', '')).sort()

test('who asked gets one mail when an incident begins and one when it ends, whatever is written in between', async () => {
  await addReaders(2)
  await addReaders(1, 'Outra', false)
  const id = await openIncident(db, SYSTEM, INCIDENT)
  const begun = await sendAll()
  assert.deepEqual(ofIncidents(begun), Array(2).fill('Incidente: Respostas lentas'))
  assert.match(begun[0]?.text ?? '', /Estamos vendo\.[^]*Afeta: openai[^]*Desde: \d/)
  await updateIncident(db, SYSTEM, { id, message: 'Quase.' })
  assert.deepEqual(await sendAll(), [])
  await resolveIncident(db, SYSTEM, { id, message: 'Voltou.' })
  const ended = await sendAll()
  assert.deepEqual(ofIncidents(ended), Array(2).fill('Encerrado: Respostas lentas'))
  assert.match(ended[0]?.text ?? '', /Voltou\.[^]*Até: \d/)
  assert.deepEqual(await sendAll(), [])
  assert.equal(new Set([...begun, ...ended].map(({ id: mailId }) => mailId)).size, 4)
})

test('a circuit breaker is mailed of once it is open for ten minutes, and all of an outage by one mail', async () => {
  await addReaders(1)
  const models = Array.from({ length: 12 }, (_, place) => `modelo-${place}`)
  const report = (subject: string) =>
    reportBreakerOpen(db, { nodeId: createId(), subject, modelIds: [subject], vendors: ['x'] })
  for (const subject of models) await report(subject)
  assert.deepEqual(await sendAll(), [])
  // One that closes before its ten minutes is in no mail.
  await reportBreakerClosed(db, { subject: 'modelo-11' })
  await sql`update incidents set opened_at = opened_at - interval '11 minutes' where source = 'breaker'`.execute(
    db,
  )
  const [begun, ...more] = await sendAll()
  assert.deepEqual(more, [])
  assert.match(begun?.subject ?? '', /Incidentes no serviço$/)
  assert.match(begun?.text ?? '', /modelo-0\n[^]*modelo-9\n[^]*Outros incidentes: 1\n/)
  assert.doesNotMatch(begun?.text ?? '', /modelo-1[01]/)
  for (const subject of models) await reportBreakerClosed(db, { subject })
  const ended = await sendAll()
  assert.equal(ended.length, 1)
  assert.match(ended[0]?.text ?? '', /Encerrado: Modelo indisponível: modelo-0\n/)
})

test('nodes that run at once, or die half-way, tell each reader once', async () => {
  await addReaders(120)
  await openIncident(db, SYSTEM, INCIDENT)
  await Promise.all([1, 2, 3].map(() => queueIncidentMails(db)))
  // A node that dies before it has written how far it came.
  await sql`update incident_mails set after_customer_id = '00000000-0000-0000-0000-000000000000'`.execute(
    db,
  )
  const sent = await sendAll()
  assert.equal(sent.length, 120)
  assert.equal(new Set(sent.map(({ to }) => to)).size, 120)
})

test('a receipt waits behind fifty mails about incidents at most, however many readers there are', async () => {
  await addReaders(300)
  await openIncident(db, SYSTEM, INCIDENT)
  // The mail server does not answer: nothing leaves, and nothing is added.
  for (let turn = 0; turn < 8; turn++) await queueIncidentMails(db)
  const { rows } = await sql<{ count: number }>`select count(*)::int4 as count from mails`.execute(
    db,
  )
  assert.equal(rows[0]?.count, 50)
  const customer = await db.selectFrom('customers').select('id').limit(1).executeTakeFirstOrThrow()
  await db.transaction().execute((trx) =>
    queueMail(trx, {
      customerId: customer.id,
      template: 'boas_vindas',
      data: {},
      reference: createId(),
    }),
  )
  const sent = await sendAll()
  assert.equal(sent.length, 301)
  assert.ok(sent.findIndex(({ subject }) => subject.includes('Boas-vindas')) <= 52)
})
