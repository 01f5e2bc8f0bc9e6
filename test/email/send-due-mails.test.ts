/**
 * Mails over real sockets: for each mail it is known whether it was sent, whatever the mail server and our
 * nodes do.
 */
import assert from 'node:assert/strict'
import { createServer, type Socket } from 'node:net'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { OPERATOR } from '../../src/platform/audit-log/audited.ts'
import { createCustomer } from '../../src/customers/customers.ts'
import { createSmtpMailer } from '../../src/deliveries/email/create-smtp-mailer.ts'
import { SANDBOX_SENDER } from '../../src/deliveries/email/mail-sender.ts'
import type { DeliveryOutcome, Mailer } from '../../src/deliveries/email/mailer.ts'
import { mailId, queueMail } from '../../src/deliveries/email/queue-mail.ts'
import { queueMails } from '../../src/deliveries/email/queue-mails.ts'
import { createSandboxMailer } from '../../src/deliveries/email/sandbox-mailbox.ts'
import { sendDueMails } from '../../src/deliveries/email/send-due-mails.ts'
import { readSmtpUrl } from '../../src/deliveries/email/smtp-url.ts'
import { dispatchEvents } from '../../src/platform/events/dispatch-events.ts'
import { EVENT_TYPES, recordEvent } from '../../src/platform/events/record-event.ts'
import { createId } from '../../src/platform/lib/ids.ts'
import { createLog, type Log } from '../../src/platform/lib/log.ts'
import { deleteAccount } from '../../src/identity/personal-data/delete-account.ts'
import { createTestDatabase } from '../harness/test-database.ts'
import { findFreePort } from '../harness/find-free-port.ts'
import {
  answer,
  decodeQuoted,
  decodeWords,
  headerOf,
  startMailServer,
} from '../harness/mail-server.ts'

const database = await createTestDatabase()
const { db } = database
after(() => database.drop())

const logged: string[] = []
const log: Log = createLog('debug', (line) => logged.push(line))
const RUNS_MAX = 20
const SHORT = { connectMs: 2_000, silenceMs: 300, deliveryMs: 900 }

async function withMailer(
  url: string,
  work: (mailer: Mailer) => Promise<void>,
  timeouts?: typeof SHORT,
): Promise<void> {
  const server = readSmtpUrl(url)
  assert.ok(server)
  const mailer = createSmtpMailer(server, timeouts)
  try {
    await work(mailer)
  } finally {
    mailer.close()
  }
}

const run = (mailer: Mailer, of = db) => sendDueMails(of, { mailer, sender: SANDBOX_SENDER, log })

/** Begins a run of the only mail, and waits until its mailer has it. */
async function runUntilWaiting(mailer: Mailer): Promise<{ readonly ended: Promise<number> }> {
  const begun = Promise.withResolvers<void>()
  const deliver: Mailer['deliver'] = (mail) => {
    begun.resolve()
    return mailer.deliver(mail)
  }
  const ended = run({ ...mailer, deliver })
  await begun.promise
  return { ended }
}

async function addCustomer(email: string | undefined, name = 'Zoë Conceição'): Promise<string> {
  const customer = await createCustomer(db, { name, email })
  if ('kind' in customer) throw new Error(customer.kind)
  return customer.id
}

function newAddress(): string {
  return `cliente.${createId()}@example.com`
}

/** Returns the mail's id. */
async function queue(customerId: string, reference = createId()): Promise<string> {
  await db.transaction().execute((trx) =>
    queueMail(trx, {
      customerId,
      template: 'recarga_confirmada',
      data: { amount_brl: '50', at: new Date().toISOString() },
      reference,
    }),
  )
  return mailId('recarga_confirmada', reference)
}

async function waiting(id: string) {
  const { rows } = await sql<{ tries: number; minutes: number }>`
    select tries, round(extract(epoch from due_at - now()) / 60)::float8 as minutes
    from mails where id = ${id}`.execute(db)
  return rows[0]
}

async function waitingCount(): Promise<number> {
  return (await db.selectFrom('mails').select('id').execute()).length
}

function outcomeOf(id: string) {
  return db
    .selectFrom('notifications')
    .select(['status', 'error', 'template'])
    .where('id', '=', id)
    .executeTakeFirst()
}

/** As if the mails had become due. */
async function makeDue(): Promise<void> {
  await sql`update mails set due_at = now()`.execute(db)
}

const SENT = { status: 'sent', error: null, template: 'recarga_confirmada' }
const failed = (error: string) => ({ status: 'failed', error, template: 'recarga_confirmada' })

test('a mail is in the language of its reader, who may be another customer than its own', async () => {
  const [english, portuguese] = [newAddress(), newAddress()]
  const eva = await addCustomer(english)
  const ana = await addCustomer(portuguese)
  await db
    .updateTable('customers')
    .set({ preferred_locale: 'en-US' })
    .where('id', '=', eva)
    .execute()
  await queue(eva)
  await queue(ana)
  const invite = (customerId: string, email: string): Promise<void> =>
    db.transaction().execute((trx) =>
      queueMail(trx, {
        customerId,
        email: email.toUpperCase(),
        template: 'convite_equipe',
        data: {},
        reference: createId(),
      }),
    )
  await invite(ana, english)
  await invite(eva, portuguese)
  const stranger = newAddress()
  await invite(eva, stranger)
  const sent: string[] = []
  const mailer: Mailer = {
    async deliver({ to, subject }) {
      sent.push(`${to} ${subject}`)
      return { kind: 'delivered' }
    },
    close() {},
  }
  await run(mailer)
  assert.deepEqual(
    sent.toSorted(),
    [
      `${english} [test mode] Top-up of R$\u00a050.00 confirmed`,
      `${portuguese} [modo de teste] Recarga de R$\u00a050,00 confirmada`,
      `${english} [test mode] Invitation to a team`,
      `${portuguese} [modo de teste] Convite para uma equipe`,
      `${stranger} [test mode] Invitation to a team`,
    ].toSorted(),
  )
})

test('a mail arrives once, with its text and HTML, at its recipient only, and is recorded', async () => {
  const server = await startMailServer()
  const email = newAddress()
  const id = await queue(await addCustomer(email))
  await withMailer(`smtp://127.0.0.1:${server.port}`, async (mailer) => {
    assert.equal(await run(mailer), 1)
    assert.equal(await run(mailer), 0)
  })
  await server.close()
  const [mail, ...others] = server.taken
  assert.deepEqual(others, [])
  assert.ok(mail)
  assert.equal(mail.from, SANDBOX_SENDER.from.address)
  assert.deepEqual(mail.to, [email])
  assert.equal(headerOf(mail.source, 'to'), email)
  assert.equal(headerOf(mail.source, 'message-id'), `<${id}@catraca.example>`)
  assert.equal(headerOf(mail.source, 'auto-submitted'), 'auto-generated')
  assert.equal(headerOf(mail.source, 'content-language'), 'pt-BR')
  assert.equal(headerOf(mail.source, 'list-unsubscribe'), undefined)
  assert.equal(
    decodeWords(headerOf(mail.source, 'subject') ?? ''),
    '[modo de teste] Recarga de R$\u00a050,00 confirmada',
  )
  const body = decodeQuoted(mail.source)
  assert.match(body, /Content-Type: text\/plain; charset=utf-8/)
  assert.match(body, /Content-Type: text\/html; charset=utf-8/)
  assert.equal(body.split('Olá, Zoë Conceição,').length, 3, 'in both forms')
  assert.deepEqual(await outcomeOf(id), SENT)
  assert.equal(await waiting(id), undefined)
})

test('one fact is mailed once, however often it is queued', async () => {
  const server = await startMailServer()
  const customerId = await addCustomer(newAddress())
  const reference = createId()
  await withMailer(`smtp://127.0.0.1:${server.port}`, async (mailer) => {
    await Promise.all([queue(customerId, reference), queue(customerId, reference)])
    assert.equal(await run(mailer), 1)
    await queue(customerId, reference)
    assert.equal(await run(mailer), 0)
    // Queued while it is being recorded.
    await Promise.all([queue(customerId), run(mailer), queue(customerId, reference)])
    await run(mailer)
  })
  await server.close()
  assert.equal(server.taken.length, 2)
})

test('a mail of a rolled-back transaction is not sent', async () => {
  const customerId = await addCustomer(newAddress())
  const mail = { customerId, template: 'boas_vindas', data: {}, reference: createId() } as const
  await assert.rejects(
    db.transaction().execute(async (trx) => {
      await queueMail(trx, mail)
      throw new Error('undone')
    }),
  )
  assert.equal(await waiting(mailId(mail.template, mail.reference)), undefined)
})

test('a temporary refusal is retried at growing intervals, and given up after a day', async () => {
  const server = await startMailServer({
    onMail: () => Promise.reject(answer(451, '4.7.1 greylisted for secret@example.com')),
  })
  const id = await queue(await addCustomer(newAddress()))
  const pauses: number[] = []
  await withMailer(`smtp://127.0.0.1:${server.port}`, async (mailer) => {
    for (let left = 10; left > 0; left--) {
      assert.equal(await run(mailer), 0)
      const state = await waiting(id)
      if (!state) break
      assert.equal(await outcomeOf(id), undefined)
      pauses.push(state.minutes)
      await run(mailer)
      assert.deepEqual((await waiting(id))?.tries, state.tries, 'not before its time')
      await makeDue()
    }
  })
  await server.close()
  assert.deepEqual(pauses, [1, 10, 60, 240, 1080])
  assert.deepEqual(await outcomeOf(id), failed('smtp_451 4.7.1'))
  assert.ok(!logged.join('').includes('secret@example.com'))
})

test('a mail that is accepted at the second attempt is sent', async () => {
  let asked = 0
  const server = await startMailServer({
    onRcptTo: (_address, _session, callback) =>
      asked++ === 0 ? callback(answer(450, 'mailbox busy')) : callback(),
  })
  const id = await queue(await addCustomer(newAddress()))
  await withMailer(`smtp://127.0.0.1:${server.port}`, async (mailer) => {
    assert.equal(await run(mailer), 0)
    await makeDue()
    assert.equal(await run(mailer), 1)
  })
  await server.close()
  assert.deepEqual(await outcomeOf(id), SENT)
})

test('a permanent refusal is not retried, and the next mail is sent', async () => {
  const server = await startMailServer({
    onRcptTo: ({ address }, _session, callback) =>
      address.startsWith('nobody')
        ? callback(answer(550, `5.1.1 <${address}> unknown, password hunter2`))
        : callback(),
  })
  const refused = await queue(await addCustomer(`nobody.${createId()}@example.com`))
  const good = await queue(await addCustomer(newAddress()))
  await withMailer(`smtp://127.0.0.1:${server.port}`, async (mailer) => {
    assert.equal(await run(mailer), 1)
  })
  await server.close()
  assert.deepEqual(await outcomeOf(refused), failed('smtp_550 5.1.1'))
  assert.deepEqual(await outcomeOf(good), SENT)
  assert.ok(!logged.join('').includes('hunter2'))
})

test('an unavailable mail server loses no mail, and costs few mails an attempt', async () => {
  const port = await findFreePort()
  const customerId = await addCustomer(newAddress())
  const ids = await Promise.all(Array.from({ length: 10 }, () => queue(customerId)))
  await withMailer(`smtp://127.0.0.1:${port}`, async (mailer) => {
    assert.equal(await run(mailer), 0)
  })
  const states = await Promise.all(ids.map(waiting))
  const tried = states.filter((state) => (state?.tries ?? 0) > 0).length
  assert.ok(tried >= 1 && tried <= 3, `${tried} were tried`)
  await makeDue()
  const server = await startMailServer()
  await withMailer(`smtp://127.0.0.1:${server.port}`, async (mailer) => {
    assert.equal(await run(mailer), 10)
  })
  await server.close()
  for (const id of ids) assert.deepEqual(await outcomeOf(id), SENT)
})

test('refused credentials are our fault: the mail waits', async () => {
  const server = await startMailServer({
    authOptional: false,
    allowInsecureAuth: true,
    onAuth: (_auth, _session, callback) => callback(answer(535, 'bad password')),
  })
  const id = await queue(await addCustomer(newAddress()))
  const url = `smtp://catraca:senha-secreta@127.0.0.1:${server.port}`
  await withMailer(url, async (mailer) => assert.equal(await run(mailer), 0))
  await server.close()
  assert.equal((await waiting(id))?.tries, 1)
  assert.equal(await outcomeOf(id), undefined)
  assert.match(logged.join(''), /mail_server_not_authorized/)
  assert.ok(!logged.join('').includes('senha-secreta'))
  await sql`delete from mails`.execute(db)
})

test('nothing is sent unencrypted to a remote server that offers no TLS', async () => {
  const server = await startMailServer()
  const id = await queue(await addCustomer(newAddress()))
  const found = readSmtpUrl(`smtp://mail.example:${server.port}`)
  assert.equal(found?.tls, 'required')
  const mailer = createSmtpMailer({ ...found, host: '127.0.0.1' })
  assert.equal(await run(mailer), 0)
  mailer.close()
  await server.close()
  assert.deepEqual(server.taken, [])
  assert.equal((await waiting(id))?.tries, 1)
  await sql`delete from mails`.execute(db)
})

for (const [name, serve] of [
  ['says nothing', () => {}],
  [
    'trickles its answers without end',
    (socket: Socket) => {
      socket.write('220 mail.example\r\n')
      const timer = setInterval(() => socket.write('250-MORE\r\n'), 50)
      socket.on('close', () => clearInterval(timer))
    },
  ],
] as const)
  test(`a server that ${name} is not waited for: the mail is retried`, async () => {
    const sockets = new Set<Socket>()
    const server = createServer((socket) => {
      sockets.add(socket)
      socket.on('error', () => {})
      serve(socket)
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()))
    const { port } = server.address() as { port: number }
    const id = await queue(await addCustomer(newAddress()))
    await withMailer(
      `smtp://127.0.0.1:${port}`,
      async (mailer) => assert.equal(await run(mailer), 0),
      SHORT,
    )
    for (const socket of sockets) socket.destroy()
    server.close()
    assert.deepEqual(await waiting(id), { tries: 1, minutes: 1 })
    await sql`delete from mails`.execute(db)
  })

test('workers of several nodes in parallel send each mail once', async () => {
  const server = await startMailServer({ onMail: () => sleep(5) })
  const customerId = await addCustomer(newAddress())
  const ids = await Promise.all(Array.from({ length: 40 }, () => queue(customerId)))
  const url = `smtp://127.0.0.1:${server.port}`
  await withMailer(url, (one) =>
    withMailer(url, async (other) => {
      let sent = 0
      // A run begins no mail after some seconds: on a slow machine the next runs send the rest.
      for (let left = RUNS_MAX; left > 0 && (await waitingCount()) > 0; left--) {
        const counts = await Promise.all([run(one), run(other), run(one), run(other)])
        sent = counts.reduce((sum, count) => sum + count, sent)
      }
      assert.equal(sent, 40)
    }),
  )
  await server.close()
  assert.deepEqual(
    server.taken.map(({ source }) => headerOf(source, 'message-id') ?? '').sort(),
    ids.map((id) => `<${id}@catraca.example>`).sort(),
  )
  for (const id of ids) assert.deepEqual(await outcomeOf(id), SENT)
})

test('a mail whose sender died is sent by another worker after the lease', async () => {
  const server = await startMailServer()
  const id = await queue(await addCustomer(newAddress()))
  // The first sender never returns: its process was killed.
  const dead: Mailer = { deliver: () => new Promise(() => {}), close() {} }
  await runUntilWaiting(dead)
  assert.equal((await waiting(id))?.tries, 1)
  await withMailer(`smtp://127.0.0.1:${server.port}`, async (mailer) => {
    assert.equal(await run(mailer), 0, 'nobody else takes it meanwhile')
    assert.deepEqual(await waiting(id), { tries: 1, minutes: 5 })
    await makeDue()
    assert.equal(await run(mailer), 1)
  })
  await server.close()
  assert.deepEqual(await outcomeOf(id), SENT)
})

test('a sender that fails late does not undo the work of another sender', async () => {
  const id = await queue(await addCustomer(newAddress()))
  const answer = Promise.withResolvers<DeliveryOutcome>()
  const late = await runUntilWaiting({ deliver: () => answer.promise, close() {} })
  await makeDue()
  await run({
    deliver: async () => ({ kind: 'unavailable', error: 'x', isServerUnavailable: false }),
    close() {},
  })
  answer.resolve({ kind: 'refused', error: 'late' })
  await late.ended
  assert.equal(await outcomeOf(id), undefined)
  assert.equal((await waiting(id))?.tries, 2)
  await sql`delete from mails`.execute(db)
})

test('a mail that cannot be rendered is given up in the end, and does not block others', async () => {
  const customerId = await addCustomer(newAddress())
  const id = createId()
  await sql`insert into mails (id, customer_id, template, data) values (${id}, ${customerId}, 'nada', '{}')`.execute(
    db,
  )
  const good = await queue(customerId)
  const mailer = createSandboxMailer(db)
  assert.equal(await run(mailer), 1)
  assert.deepEqual(await outcomeOf(good), SENT)
  for (let left = 10; left > 0 && (await waiting(id)); left--) {
    await makeDue()
    await run(mailer)
  }
  assert.deepEqual(await outcomeOf(id), {
    status: 'failed',
    error: 'internal_error',
    template: 'nada',
  })
})

test('a customer without an address gets no mail, and that is recorded', async () => {
  const id = await queue(await addCustomer(undefined))
  await run(createSandboxMailer(db))
  assert.deepEqual(await outcomeOf(id), failed('no_address'))
})

test('an address that is more than one, or that would break its header, gets no mail', async () => {
  const server = await startMailServer()
  const odd = [
    'a@example.com, b@evil.example',
    'a@example.com\r\nBcc: b@evil.example',
    '"x"<b@evil.example>',
    'a@example.com>\r\nDATA',
  ]
  const ids: string[] = []
  for (const email of odd) ids.push(await queue(await addCustomer(email)))
  await withMailer(`smtp://127.0.0.1:${server.port}`, async (mailer) => {
    assert.equal(await run(mailer), 0)
  })
  await server.close()
  assert.deepEqual(server.taken, [])
  for (const id of ids) assert.deepEqual(await outcomeOf(id), failed('invalid_address'))
})

test('names and data with line breaks and foreign letters add no header and no recipient', async () => {
  const server = await startMailServer()
  const email = newAddress()
  const name = 'Zoë 山田\r\nBcc: evil@example.com\r\n\r\n.\r\nMAIL FROM:<x>'
  const customerId = await addCustomer(email, name)
  await queueMail(db, {
    customerId,
    template: 'chave_criada',
    data: { name: 'chave é 🔑\r\nX-Evil: 1\r\n\r\n<b>', last_four: '\r\n.\r\n' },
    reference: createId(),
  })
  await withMailer(`smtp://127.0.0.1:${server.port}`, async (mailer) => {
    assert.equal(await run(mailer), 1)
  })
  await server.close()
  const [mail] = server.taken
  assert.ok(mail)
  assert.deepEqual(mail.to, [email])
  assert.equal(headerOf(mail.source, 'bcc'), undefined)
  assert.equal(headerOf(mail.source, 'x-evil'), undefined)
  assert.equal(
    decodeWords(headerOf(mail.source, 'subject') ?? ''),
    '[modo de teste] Chave criada: chave é 🔑 X-Evil: 1 <b>',
  )
  assert.match(decodeQuoted(mail.source), /Olá, Zoë 山田 Bcc: evil@example\.com/)
})

test("a mail goes to the customer's address at the time of sending", async () => {
  const server = await startMailServer()
  const customerId = await addCustomer(newAddress())
  await queue(customerId)
  const next = newAddress()
  await sql`update customers set email = ${next} where id = ${customerId}`.execute(db)
  await withMailer(`smtp://127.0.0.1:${server.port}`, async (mailer) => {
    assert.equal(await run(mailer), 1)
  })
  await server.close()
  assert.deepEqual(server.taken[0]?.to, [next])
})

test('a deleted customer gets no mail, and one in progress leaves no trace', async () => {
  const erase = (customerId: string) =>
    deleteAccount(db, OPERATOR, { customerId, waiveBalance: true })
  const gone = await addCustomer(newAddress())
  await erase(gone)
  assert.equal(await waiting(await queue(gone)), undefined)

  const leaving = await addCustomer(newAddress())
  const id = await queue(leaving)
  let delivered = 0
  const slow: Mailer = {
    async deliver() {
      delivered += 1
      await erase(leaving)
      return { kind: 'delivered' }
    },
    close() {},
  }
  await run(slow)
  assert.equal(delivered, 1)
  assert.equal(await outcomeOf(id), undefined)
  assert.equal(await waiting(id), undefined)

  const email = newAddress()
  const host = await addCustomer(newAddress())
  const guest = await addCustomer(email)
  const reference = createId()
  const invitation = { template: 'convite_equipe', data: { token: 'abc' }, reference } as const
  await queueMail(db, { ...invitation, customerId: host, email: email.toUpperCase() })
  await erase(guest)
  assert.equal(await waiting(mailId('convite_equipe', reference)), undefined)
})

test('an invitation goes to its address, and is recorded with its sender', async () => {
  const server = await startMailServer()
  const host = await addCustomer(newAddress())
  const email = newAddress()
  const reference = createId()
  const data = { team_name: 'Dados', invited_by: 'Ana', role: 'member', token: 'tOkEn' }
  await queueMail(db, { customerId: host, email, template: 'convite_equipe', data, reference })
  await withMailer(`smtp://127.0.0.1:${server.port}`, async (mailer) => {
    assert.equal(await run(mailer), 1)
  })
  await server.close()
  assert.deepEqual(server.taken[0]?.to, [email])
  const { customer_id, status } = await db
    .selectFrom('notifications')
    .selectAll()
    .where('id', '=', mailId('convite_equipe', reference))
    .executeTakeFirstOrThrow()
  assert.deepEqual([customer_id, status], [host, 'sent'])
})

test('each event is mailed once, with its data', async () => {
  const email = newAddress()
  const customerId = await addCustomer(email)
  const data = { amount_brl: '50', method: 'pix', balance_brl: '0.5', name: 'chave' }
  for (const type of EVENT_TYPES) await recordEvent(db, { customerId, type, data })
  for (const [type, more] of [
    ['topup.created', { method: 'card' }],
    ['topup.failed', { method: 'card' }],
    ['balance.low', { critical: true }],
    ['refund.requested', { withdrawal: true }],
  ] as const)
    await recordEvent(db, { customerId, type, data: { ...data, ...more } })
  // Handed on twice, as after a crash.
  await dispatchEvents(db, [queueMails], log)
  await sql`update events set dispatched_at = null`.execute(db)
  await dispatchEvents(db, [queueMails], log)
  const expected = [
    'alerta_gasto',
    'arrependimento_confirmado',
    'cartao_recusado',
    'chave_criada',
    'chave_pausada',
    'chave_retomada',
    'chave_revogada',
    'chaves_reativadas',
    'conta_reativada',
    'conta_suspensa',
    'fim_de_modelo',
    'indicacao_recompensa',
    'mudanca_de_preco',
    'recarga_automatica_desativada',
    'recarga_confirmada',
    'recarga_contestada',
    'recarga_expirada',
    'recarga_pendente',
    'reembolso_concluido',
    'reembolso_falhou',
    'reembolso_recusado',
    'reembolso_solicitado',
    'saldo_baixo',
    'saldo_critico',
    'saldo_zerado',
  ]
  await makeDue()
  assert.equal(await run(createSandboxMailer(db)), expected.length)
  const rows = await db
    .selectFrom('notifications')
    .select(['template', 'status'])
    .where('customer_id', '=', customerId)
    .orderBy('template')
    .execute()
  assert.deepEqual(
    rows,
    expected.map((template) => ({ template, status: 'sent' })),
  )
  const { rows: shown } = await sql<{ text: string }>`
    select text from sandbox_mails where email = ${email} and subject like '%Recarga%confirmada'`.execute(
    db,
  )
  assert.match(shown[0]?.text ?? '', /Valor pago: R\$\u00a050,00/)
})

test('a customer who opted out of low-balance mails is still notified of a used-up balance', async () => {
  const email = newAddress()
  const customerId = await addCustomer(email)
  await db
    .updateTable('customers')
    .set({ low_balance_email_enabled: false })
    .where('id', '=', customerId)
    .execute()
  const data = { balance_brl: '0.5', runway_days: 3 }
  for (const critical of [false, true])
    await recordEvent(db, { customerId, type: 'balance.low', data: { ...data, critical } })
  await recordEvent(db, { customerId, type: 'balance.depleted', data })
  await dispatchEvents(db, [queueMails], log)
  const queued = await db
    .selectFrom('mails')
    .select('template')
    .where('customer_id', '=', customerId)
    .execute()
  assert.deepEqual(queued, [{ template: 'saldo_zerado' }])
  await makeDue()
  await run(createSandboxMailer(db))
})

test('many keys revoked together are reported in one mail, and later ones in another', async () => {
  const email = newAddress()
  const customerId = await addCustomer(email)
  const revoke = async (count: number) => {
    for (let place = 0; place < count; place++)
      await recordEvent(db, {
        customerId,
        type: 'key.revoked',
        data: {
          id: createId(),
          name: `chave ${place}`,
          last_four: `f${String(place).padStart(3, '0')}`,
        },
      })
    await dispatchEvents(db, [queueMails], log)
  }
  const mailer = createSandboxMailer(db)
  await revoke(30)
  assert.equal(await run(mailer), 0, 'it waits for more')
  await makeDue()
  assert.equal(await run(mailer), 1)
  await revoke(1)
  await makeDue()
  assert.equal(await run(mailer), 1)
  const mails = await db
    .selectFrom('sandbox_mails')
    .select(['subject', 'text'])
    .where('email', '=', email)
    .orderBy('created_at')
    .execute()
  assert.deepEqual(
    mails.map(({ subject }) => subject),
    ['[modo de teste] Chaves revogadas', '[modo de teste] Chave revogada: chave 0'],
  )
  assert.match(mails[0]?.text ?? '', /Também: chave 20, termina em f020\n.*Outras chaves: 29\n/)
})
