/** One click ends the weekly digest (RFC 8058): for its reader alone, by nobody's session, and not by following a link. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, test } from 'node:test'
import { OPERATOR } from '../../src/platform/audit-log/audited.ts'
import { createCustomer } from '../../src/customers/customers.ts'
import { getPreferences } from '../../src/customers/preferences.ts'
import { createSmtpMailer } from '../../src/deliveries/email/create-smtp-mailer.ts'
import { SANDBOX_SENDER } from '../../src/deliveries/email/mail-sender.ts'
import { queueMail } from '../../src/deliveries/email/queue-mail.ts'
import { renderMail, TEMPLATE_NAMES } from '../../src/deliveries/email/render-mail.ts'
import { sendDueMails } from '../../src/deliveries/email/send-due-mails.ts'
import { readSmtpUrl } from '../../src/deliveries/email/smtp-url.ts'
import { createUnsubscribeLinks } from '../../src/deliveries/email/unsubscribe-links.ts'
import { createId } from '../../src/platform/lib/ids.ts'
import { createLog } from '../../src/platform/lib/log.ts'
import { deleteAccount } from '../../src/identity/personal-data/delete-account.ts'
import { decodeQuoted, headerOf, startMailServer } from '../harness/mail-server.ts'
import { createTestDatabase, seedCustomer } from '../harness/test-database.ts'
import { startGateway } from '../harness/gateway.ts'

const sealingKey = randomBytes(32)
const previousSealingKey = randomBytes(32)
const gateway = await startGateway({
  SECRETS_KEY: sealingKey.toString('base64'),
  SECRETS_KEY_PREVIOUS: previousSealingKey.toString('base64'),
})
after(() => gateway.stop())
const { db } = gateway.database
const publicUrl = new URL(gateway.node.baseUrl).origin
const links = createUnsubscribeLinks({ sealingKey, publicUrl })

async function addReader(): Promise<{ customerId: string; email: string; url: string }> {
  const { customerId } = await seedCustomer(db, { balanceBrl: '0' })
  const email = `leitora.${createId()}@example.com`
  await db
    .updateTable('customers')
    .set({ email, weekly_digest_enabled: true })
    .where('id', '=', customerId)
    .execute()
  return { customerId, email, url: links.urlFor(customerId) as string }
}

async function wantsDigest(customerId: string): Promise<boolean> {
  return (await getPreferences(db, customerId)).weekly_digest_enabled
}

/** As mail programs do (RFC 8058, 3.2): no cookies, and a redirect is a failure. */
function post(url: string): Promise<Response> {
  const body = new URLSearchParams({ 'List-Unsubscribe': 'One-Click' })
  return fetch(url, { method: 'POST', body, redirect: 'error' })
}

test('following the link changes nothing; the button, and a mail program, end the digest of this reader', async () => {
  const [reader, other] = [await addReader(), await addReader()]
  for (const method of ['GET', 'HEAD']) {
    const followed = await fetch(reader.url, { method })
    assert.equal(followed.status, 200)
    assert.match(followed.headers.get('content-type') ?? '', /^text\/html/)
    assert.match(followed.headers.get('content-security-policy') ?? '', /form-action 'self'/)
    if (method === 'GET') {
      const page = await followed.text()
      assert.match(page, /<html lang="pt-BR">.*<form method="post">.*<button>/s)
      assert.doesNotMatch(page, /<script|<img|http/)
    }
  }
  assert.ok(await wantsDigest(reader.customerId))
  for (const round of [1, 2]) {
    const posted = await post(reader.url)
    assert.equal(posted.status, 200, String(round))
    assert.match(await posted.text(), /Pronto/)
  }
  assert.ok(!(await wantsDigest(reader.customerId)))
  assert.ok(await wantsDigest(other.customerId))
  const acts = await db
    .selectFrom('audit_log')
    .select(['action', 'actor_kind', 'actor_id', 'ip', 'details'])
    .where('customer_id', '=', reader.customerId)
    .execute()
  assert.deepEqual(acts, [
    {
      action: 'preferences.changed',
      actor_kind: 'customer',
      actor_id: reader.customerId,
      ip: '127.0.0.1',
      details: { fields: ['weekly_digest_enabled'], by: 'unsubscribe_link' },
    },
  ])
})

test('a POST with any body is enough, unless the body is too large', async () => {
  for (const body of [undefined, '', '{}', 'List-Unsubscribe=One-Click', new FormData()]) {
    const { customerId, url } = await addReader()
    assert.equal(
      (await fetch(url, { method: 'POST', ...(body === undefined ? {} : { body }) })).status,
      200,
    )
    assert.ok(!(await wantsDigest(customerId)))
  }
  const { customerId, url } = await addReader()
  assert.equal((await fetch(url, { method: 'POST', body: 'x'.repeat(5_000) })).status, 413)
  assert.ok(await wantsDigest(customerId))
})

test('a forged link is not found, and changes nothing', async () => {
  const { customerId, url } = await addReader()
  const token = url.split('/').at(-1) as string
  const foreign = createUnsubscribeLinks({ sealingKey: randomBytes(32), publicUrl })
  const other = (await addReader()).url.split('/').at(-1) as string
  const flipped = (place: number) =>
    token.slice(0, place) + (token[place] === 'A' ? 'B' : 'A') + token.slice(place + 1)
  const forged = [
    ...[0, 10, 21, 22, 41, 42].map(flipped),
    token.slice(0, -1),
    `${token}A`,
    `${token}=`,
    token.slice(0, 22) + other.slice(22),
    (foreign.urlFor(customerId) as string).split('/').at(-1) as string,
    customerId,
    'x',
    '%00',
    'á'.repeat(43),
  ]
  for (const each of forged) {
    const address = `${publicUrl}/unsubscribe/${each}`
    for (const answer of [await fetch(address), await post(address)]) {
      assert.equal(answer.status, 404, each)
      assert.match(await answer.text(), /Endereço desconhecido/)
    }
  }
  assert.ok(await wantsDigest(customerId))
  assert.equal((await fetch(`${publicUrl}/unsubscribe/`)).status, 404)
})

test('links that were signed with the previous key stay valid', async () => {
  const { customerId } = await addReader()
  const before = createUnsubscribeLinks({ sealingKey: previousSealingKey, publicUrl })
  assert.equal((await post(before.urlFor(customerId) as string)).status, 200)
  assert.ok(!(await wantsDigest(customerId)))
})

test('the link of a deleted account gets the same answer', async () => {
  const { customerId, url } = await addReader()
  await deleteAccount(db, OPERATOR, { customerId, waiveBalance: true })
  assert.equal((await fetch(url)).status, 200)
  assert.equal((await post(url)).status, 200)
})

test('a link reveals nothing about its reader, and never changes', async () => {
  const { customerId, email, url } = await addReader()
  assert.equal(url, links.urlFor(customerId))
  assert.match(url, /\/unsubscribe\/[\w-]{43}$/)
  const decoded = Buffer.from(url.split('/').at(-1) as string, 'base64url').toString('latin1')
  assert.ok(!decoded.includes(email) && !decoded.includes('Teste'))
  assert.equal(
    createUnsubscribeLinks({ sealingKey, publicUrl: undefined }).urlFor(customerId),
    undefined,
  )
})

test('optional mails, and no others, have the link in their headers, its text and its HTML', async () => {
  // This database has no server, which would send the digest itself.
  const other = await createTestDatabase()
  const email = 'leitora@example.com'
  const reader = await createCustomer(other.db, { name: 'Leitora', email })
  assert.ok('id' in reader)
  const customerId = reader.id
  const own = links.urlFor(customerId) as string
  const url = `${own}?preference=weekly_digest_enabled`
  const server = await startMailServer()
  const smtp = readSmtpUrl(`smtp://127.0.0.1:${server.port}`)
  assert.ok(smtp)
  const mailer = createSmtpMailer(smtp)
  const data = { from: '2026-11-09', to: '2026-11-15', requests: 3 }
  const mail = { customerId, data, template: 'resumo_semanal', reference: createId() } as const
  await other.db.transaction().execute((trx) => queueMail(trx, mail))
  const log = createLog('silent', () => {})
  await sendDueMails(other.db, { mailer, sender: SANDBOX_SENDER, unsubscribe: links, log })
  await other.drop()
  mailer.close()
  await server.close()
  const [taken] = server.taken
  assert.deepEqual(taken?.to, [email])
  const source = taken.source
  const header = headerOf(source, 'list-unsubscribe')
  assert.ok(header?.startsWith(`<${url}>, <mailto:`), header)
  assert.equal(headerOf(source, 'list-unsubscribe-post'), 'List-Unsubscribe=One-Click')
  // In the header, in the text, and twice in the HTML.
  assert.equal(decodeQuoted(source).split(url).length - 1, 4)
  const preferences = new Map<string, string>([
    ['resumo_semanal', 'weekly_digest_enabled'],
    ['incidentes', 'incident_email_enabled'],
  ])
  for (const template of TEMPLATE_NAMES) {
    const reader = { name: 'Ana', timezone: 'UTC', unsubscribeUrl: own }
    const rendered = renderMail(template, {}, reader, SANDBOX_SENDER)
    const preference = preferences.get(template)
    const link = `${own}?preference=${preference ?? ''}`
    const isOptional = preference !== undefined
    assert.equal(rendered.listUnsubscribePost !== undefined, isOptional, template)
    assert.equal(rendered.html.includes(`<a href="${link}">${link}</a>`), isOptional, template)
    assert.equal(rendered.text.includes(`\n${link}\n`), isOptional, template)
  }
})

test('the link of a mail about incidents ends those mails alone', async () => {
  const { customerId, url } = await addReader()
  await db
    .updateTable('customers')
    .set({ incident_email_enabled: true })
    .where('id', '=', customerId)
    .execute()
  const link = `${url}?preference=incident_email_enabled`
  assert.match(await (await fetch(link)).text(), /incidentes[^]*<button>/)
  assert.ok((await getPreferences(db, customerId)).incident_email_enabled)
  assert.match(await (await post(link)).text(), /Pronto[^]*incidentes/)
  const { incident_email_enabled, weekly_digest_enabled } = await getPreferences(db, customerId)
  assert.deepEqual([incident_email_enabled, weekly_digest_enabled], [false, true])
  // No other preference can be named.
  await post(`${url}?preference=low_balance_email_enabled`)
  assert.ok((await getPreferences(db, customerId)).low_balance_email_enabled)
  assert.ok(!(await wantsDigest(customerId)))
})
