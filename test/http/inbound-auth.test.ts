/** The identity provider's messages: trusted only if signed, handled once, and in any order. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import Fastify from 'fastify'
import { sql } from 'kysely'
import { Webhook } from 'standardwebhooks'
import { SYSTEM } from '../../src/platform/audit-log/audited.ts'
import { createCustomer, findCustomer, type Customer } from '../../src/customers/customers.ts'
import { createApiKey } from '../../src/customers/api-keys.ts'
import { addRoutes } from '../../src/http/rest/route.ts'
import { authEventRoutes } from '../../src/http/sign-in/auth-event-routes.ts'
import type { HttpParts } from '../../src/http/rest/parts.ts'
import { deleteWaitingUsers } from '../../src/identity/delete-user.ts'
import { pruneAuthEvents, takeAuthEvent } from '../../src/identity/take-auth-event.ts'
import { credit, debit } from '../../src/money/ledger/entries.ts'
import { createId, sha256 } from '../../src/platform/lib/ids.ts'
import { createLog } from '../../src/platform/lib/log.ts'
import { ask, type Asked } from '../harness/ask.ts'
import { startGateway } from '../harness/gateway.ts'

const SECRET = `whsec_${Buffer.alloc(32, 5).toString('base64')}`
const ADMINS = ['chefe@exemplo.com.br', 'kika@exemplo.com.br']
const gateway = await startGateway({
  AUTH_WEBHOOK_SECRET: `v1,${SECRET}`,
  ADMIN_EMAILS: 'Chefe@Exemplo.com.br, kika@exemplo.com.br',
})
after(() => gateway.stop())
const { db } = gateway.database
const root = new URL(gateway.node.baseUrl).origin
const signer = new Webhook(SECRET)
const silent = createLog('silent', () => {})

interface Sent {
  id?: string
  at?: Date
  family?: 'webhook' | 'svix'
  headers?: Record<string, string>
}

/** As a provider sends it, signed with the reference library. */
function send(body: unknown, sent: Sent = {}): Promise<Asked> {
  const { id = `msg_${createId()}`, at = new Date(), family = 'svix' } = sent
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  const headers = {
    [`${family}-id`]: id,
    [`${family}-timestamp`]: String(Math.floor(at.getTime() / 1000)),
    [`${family}-signature`]: signer.sign(id, at, text),
    ...sent.headers,
  }
  return ask(`${root}/v1`, '/inbound/auth', { body: text, headers })
}

async function deliver(body: unknown, sent?: Sent): Promise<void> {
  const answer = await send(body, sent)
  assert.deepEqual([answer.status, answer.json], [200, { received: true }], answer.text)
}

interface ClerkUser {
  id: string
  email?: string | null
  status?: string
  name?: string
  at?: number
}

/** In Clerk's shape; `at` is seconds after some moment of this morning. */
function clerk(type: string, { id, email, status = 'verified', name = 'Ana', at = 0 }: ClerkUser) {
  const addresses = [
    {
      id: 'idn_other',
      email_address: `${id}.other@example.com`,
      verification: { status: 'verified' },
    },
    ...(email ? [{ id: 'idn_1', email_address: email, verification: { status } }] : []),
  ]
  return {
    object: 'event',
    type,
    timestamp: Date.now(),
    data: {
      id,
      object: 'user',
      first_name: name,
      last_name: 'Lima',
      email_addresses: addresses,
      primary_email_address_id: email ? 'idn_1' : null,
      updated_at: Date.UTC(2026, 10, 21) + at * 1000,
    },
  }
}

const deleted = (id: string) => ({
  object: 'event',
  type: 'user.deleted',
  data: { id, deleted: true },
})

async function customerOf(externalId: string): Promise<Customer | undefined> {
  const row = await db
    .selectFrom('external_users')
    .select('customer_id')
    .where('external_id_hash', '=', sha256(`external user ${externalId}`))
    .executeTakeFirst()
  return row?.customer_id ? findCustomer(db, row.customer_id) : undefined
}

async function theCustomer(externalId: string): Promise<Customer> {
  const customer = await customerOf(externalId)
  assert.ok(customer, externalId)
  return customer
}

function actsOn(customerId: string) {
  return (
    db
      .selectFrom('audit_log')
      .select(['action', 'actor_kind', 'ip', 'details'])
      .where('customer_id', '=', customerId)
      .orderBy('created_at')
      // Those of one transaction have one time.
      .orderBy('id')
      .execute()
  )
}

async function countCustomers(): Promise<number> {
  const { rows } = await sql<{
    count: number
  }>`select count(*)::int4 as count from customers`.execute(db)
  return rows[0]?.count ?? -1
}

const newUser = (): string => `user_${createId()}`
const newEmail = (): string => `pessoa.${createId()}@example.com`

test('a message without a recent signature by the secret is refused and changes nothing', async () => {
  const before = await countCustomers()
  const body = JSON.stringify(clerk('user.created', { id: newUser(), email: newEmail() }))
  const at = new Date()
  const other = new Webhook(`whsec_${Buffer.alloc(32, 6).toString('base64')}`)
  const refused = [
    await send(body, { headers: { 'svix-signature': other.sign('a', at, body) }, id: 'a', at }),
    await send(body, {
      headers: { 'svix-signature': signer.sign('a', at, `${body} `) },
      id: 'a',
      at,
    }),
    await send(body, { headers: { 'svix-signature': '' } }),
    await send(body, { at: new Date(at.getTime() - 310_000) }),
    await send(body, { at: new Date(at.getTime() + 310_000) }),
    await ask(`${root}/v1`, '/inbound/auth', { body }),
    await ask(`${root}/v1`, '/inbound/auth', { method: 'POST' }),
    await ask(`${root}/v1`, '/inbound/auth', { body, secret: gateway.secret }),
  ]
  for (const { status, json, text } of refused)
    assert.deepEqual([status, json], [401, { error: 'invalid_signature' }], text)
  assert.equal(await countCustomers(), before)
  const { rows } = await sql`select 1 from auth_events`.execute(db)
  assert.deepEqual(rows, [])
})

test('without a configured secret every message is refused', async () => {
  const server = Fastify()
  const deps = { db, config: { authWebhookSecret: undefined }, log: silent } as unknown as HttpParts
  addRoutes(server, authEventRoutes, (route) => route.handlersOf(deps))
  const at = new Date()
  const { statusCode, body } = await server.inject({
    method: 'POST',
    url: '/v1/inbound/auth',
    headers: {
      'content-type': 'application/json',
      'webhook-id': 'a',
      'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
      'webhook-signature': signer.sign('a', at, '{}'),
    },
    payload: '{}',
  })
  await server.close()
  assert.deepEqual([statusCode, JSON.parse(body)], [401, { error: 'invalid_signature' }])
})

test('a created user becomes a customer, an updated one changes it, and the audit log records both', async () => {
  const [id, email, next] = [newUser(), newEmail(), newEmail()]
  await deliver(clerk('user.created', { id, email: email.toUpperCase() }), { family: 'webhook' })
  const made = await theCustomer(id)
  assert.deepEqual([made.name, made.email], ['Ana Lima', email])
  await deliver(clerk('user.updated', { id, email: next, name: 'Bia', at: 1 }))
  const changed = await theCustomer(id)
  assert.deepEqual([changed.id, changed.name, changed.email], [made.id, 'Bia Lima', next])
  const by = 'identity_provider'
  const system = { actor_kind: 'system', ip: '127.0.0.1' }
  assert.deepEqual(await actsOn(made.id), [
    { ...system, action: 'customer.created', details: { by, email: 'verified' } },
    {
      ...system,
      action: 'customer.changed',
      details: { by, fields: ['name', 'email'], email: 'verified' },
    },
  ])
  // An account that can be paid into and spent from.
  const key = await createApiKey(db, { customerId: made.id, name: 'uma', requestsPerMinute: 10 })
  const usage = await ask(gateway.node.baseUrl, '/usage', { secret: key.secret })
  assert.equal(usage.json.balance.balance_brl, 0)
})

test('messages in the formats of Supabase and WorkOS are accepted', async () => {
  const [supabase, workos] = [newUser(), newUser()]
  const [first, second] = [newEmail(), newEmail()]
  await deliver({
    type: 'user.created',
    data: {
      id: supabase,
      email: first,
      email_confirmed_at: '2026-11-21T10:00:00Z',
      user_metadata: { full_name: '  Caio \u0000 Reis\n', email_verified: true },
    },
  })
  await deliver({
    id: 'event_1',
    event: 'user.created',
    data: { id: workos, email: second, email_verified: true, first_name: 'Davi', last_name: null },
  })
  const made = [await theCustomer(supabase), await theCustomer(workos)]
  assert.deepEqual(
    made.map(({ name, email }) => [name, email]),
    [
      ['Caio Reis', first],
      ['Davi', second],
    ],
  )
})

test('an e-mail that the provider has not verified is not stored', async () => {
  for (const body of [
    clerk('user.created', { id: newUser(), email: newEmail(), status: 'unverified' }),
    clerk('user.created', { id: newUser(), email: null }),
    clerk('user.created', { id: newUser(), email: 'not an address' }),
    { type: 'user.created', data: { id: newUser(), email: newEmail(), email_verified: 'true' } },
    { type: 'user.created', data: { id: newUser(), email: newEmail(), email_confirmed_at: null } },
    {
      type: 'user.created',
      data: { id: newUser(), email: newEmail(), user_metadata: { email_verified: true } },
    },
  ]) {
    await deliver(body)
    assert.equal((await theCustomer(body.data.id)).email, null, JSON.stringify(body))
  }
  const [id, email] = [newUser(), newEmail()]
  await deliver(clerk('user.created', { id, email }))
  await deliver(clerk('user.updated', { id, email: newEmail(), status: 'unverified', at: 1 }))
  assert.equal((await theCustomer(id)).email, null, 'the former one is not theirs any more')
})

test('a message cannot take over the e-mail of another customer, nor make its user an admin', async () => {
  const taken = newEmail()
  const owner = await createCustomer(db, { name: 'Dona', email: taken.toUpperCase() })
  assert.ok('id' in owner)
  // U+212A, the sign of Kelvin, is a K in lower case.
  for (const email of [
    taken,
    taken.toUpperCase(),
    'CHEFE@exemplo.com.br',
    '\u212aika@exemplo.com.br',
  ]) {
    const created = newUser()
    await deliver(clerk('user.created', { id: created, email }))
    assert.equal((await theCustomer(created)).email, null, email)
    const updated = newUser()
    await deliver(clerk('user.created', { id: updated, email: newEmail() }))
    await deliver(clerk('user.updated', { id: updated, email, at: 1 }))
    const { id, email: left } = await theCustomer(updated)
    assert.equal(left, null, email)
    const why = ADMINS.includes(email.toLowerCase()) ? 'reserved' : 'taken'
    assert.equal((await actsOn(id)).at(-1)?.details?.['email'], why)
    const { secret } = await createApiKey(db, { customerId: id, name: 'uma', requestsPerMinute: 9 })
    const log = await ask(gateway.node.baseUrl, '/admin/audit-log/export.csv', { secret })
    assert.deepEqual([log.status, log.json], [403, { error: 'forbidden' }])
  }
  assert.equal((await findCustomer(db, taken))?.id, owner.id)
  for (const admin of ADMINS) assert.equal(await findCustomer(db, admin), undefined)
})

test('a customer whom the operator made an admin remains one after an update', async () => {
  const [id, email] = [newUser(), newEmail()]
  const options = { actor: SYSTEM, adminEmails: new Set<string>() }
  const take = (body: unknown, adminEmails = options.adminEmails) =>
    takeAuthEvent(db, { id: createId(), sentAt: new Date(), body }, { ...options, adminEmails })
  await take(clerk('user.created', { id, email }))
  const admins = new Set([email])
  await take(clerk('user.updated', { id, email, name: 'Eva', at: 1 }), admins)
  const { name, email: left } = await theCustomer(id)
  assert.deepEqual([name, left], ['Eva Lima', email])
})

test('a repeated message gets the same answer and is handled once', async () => {
  const [id, messageId] = [newUser(), `msg_${createId()}`]
  const body = clerk('user.created', { id, email: newEmail() })
  const answers = await Promise.all(Array.from({ length: 8 }, () => send(body, { id: messageId })))
  assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]))
  const { id: customerId } = await theCustomer(id)
  await sql`update customers set name = 'Mudou' where id = ${customerId}`.execute(db)
  await deliver(clerk('user.updated', { id, name: 'Outra', at: 9 }), { id: messageId })
  assert.equal((await theCustomer(id)).name, 'Mudou')
  assert.equal((await actsOn(customerId)).length, 1)
})

test('the newest message about a user wins, in any order and with any repetitions', async () => {
  const orders = [
    [0, 1, 2],
    [0, 2, 1],
    [1, 0, 2],
    [1, 2, 0],
    [2, 0, 1],
    [2, 1, 0],
  ]
  for (const order of [...orders, 'at once'] as const) {
    const [id, email] = [newUser(), newEmail()]
    const messages = [
      clerk('user.created', { id, email: newEmail(), name: 'Um' }),
      clerk('user.updated', { id, email: newEmail(), status: 'unverified', name: 'Dois', at: 1 }),
      clerk('user.updated', { id, email, name: 'Três', at: 2 }),
    ]
    if (order === 'at once')
      await Promise.all([...messages, ...messages].map((message) => deliver(message)))
    else for (const place of order) await deliver(messages[place])
    const { name, email: left } = await theCustomer(id)
    assert.deepEqual([name, left], ['Três Lima', email], String(order))
  }
})

test('of concurrent users with the same e-mail, one gets it, and each becomes a customer', async () => {
  const email = newEmail()
  const created = Array.from({ length: 4 }, newUser)
  const updated = Array.from({ length: 4 }, newUser)
  for (const id of updated) await deliver(clerk('user.created', { id }))
  await Promise.all([
    ...created.map((id) => deliver(clerk('user.created', { id, email }))),
    ...updated.map((id) => deliver(clerk('user.updated', { id, email, at: 1 }))),
  ])
  const emails = await Promise.all(
    [...created, ...updated].map(async (id) => (await theCustomer(id)).email),
  )
  assert.deepEqual(
    emails.filter((each) => each !== null),
    [email],
  )
})

test('deleting a user deletes the account, and late messages do not create it again', async () => {
  const [id, email] = [newUser(), newEmail()]
  await deliver(clerk('user.created', { id, email }))
  const { id: customerId } = await theCustomer(id)
  const { secret } = await createApiKey(db, { customerId, name: 'uma', requestsPerMinute: 9 })
  await deliver(deleted(id))
  const gone = await theCustomer(id)
  assert.ok(gone.deletedAt)
  assert.equal(gone.email, null)
  assert.equal((await ask(gateway.node.baseUrl, '/usage', { secret })).status, 401)
  const before = await countCustomers()
  await deliver(deleted(id))
  await deliver(clerk('user.updated', { id, email, at: 100 }))
  const early = newUser()
  await deliver(deleted(early))
  await deliver(clerk('user.created', { id: early, email: newEmail() }))
  await deliver(clerk('user.updated', { id: early, email: newEmail(), at: 1 }))
  assert.equal(await customerOf(early), undefined)
  assert.equal(await countCustomers(), before)
  assert.deepEqual(
    (await actsOn(customerId)).map(({ action }) => action),
    ['customer.created', 'account.deleted'],
  )
  // The address is free for somebody else.
  const next = newUser()
  await deliver(clerk('user.created', { id: next, email }))
  assert.equal((await theCustomer(next)).email, email)
})

test('a deleted user with a balance loses the keys at once, and the account once the balance is refunded', async () => {
  const id = newUser()
  await deliver(clerk('user.created', { id, email: newEmail() }))
  const { id: customerId } = await theCustomer(id)
  const money = { customerId, amountNanoBrl: 5_000_000_000n, reference: createId() }
  await credit(db, { ...money, reason: 'top_up' })
  const { secret } = await createApiKey(db, { customerId, name: 'uma', requestsPerMinute: 9 })
  await deliver(deleted(id))
  await deliver(deleted(id))
  assert.equal((await theCustomer(id)).deletedAt, null)
  assert.equal((await ask(gateway.node.baseUrl, '/usage', { secret })).status, 401)
  assert.equal(await deleteWaitingUsers(db, silent), 0)
  await debit(db, { ...money, reason: 'refund' })
  // Or the server's own job, at this moment.
  await deleteWaitingUsers(db, silent)
  assert.ok((await theCustomer(id)).deletedAt)
  assert.equal(await deleteWaitingUsers(db, silent), 0)
  assert.deepEqual(
    (await actsOn(customerId)).map(({ action }) => action),
    ['customer.created', 'api_key.revoked', 'account.deletion_waits', 'account.deleted'],
  )
})

test('unknown types and unreadable content are acknowledged with 200', async () => {
  const before = await countCustomers()
  const bodies = [
    { type: 'session.created', data: { id: 'sess_1' } },
    { type: 'user.createdx', data: { id: newUser() } },
    { type: 'user.created' },
    { type: 'user.created', data: { id: 7 } },
    { type: 'user.created', data: { id: '' } },
    { type: 'user.created', data: { id: 'x'.repeat(300) } },
    { type: '\u0000', data: [] },
    { user: {}, email_data: {} },
    [],
    'null',
    '{',
    '',
  ]
  const ids = bodies.map(() => `msg_${createId()}`)
  for (const [place, body] of bodies.entries()) await deliver(body, { id: ids[place] as string })
  assert.equal(await countCustomers(), before)
  const seen = await db.selectFrom('auth_events').selectAll().where('id', 'in', ids).execute()
  assert.equal(seen.length, bodies.length)
  const outcomes = new Map(seen.map(({ id, outcome }) => [id, outcome]))
  assert.deepEqual(
    ids.map((id) => outcomes.get(id)),
    bodies.map((_, place) => ([0, 1, 6].includes(place) ? 'unknown_type' : 'unreadable')),
  )
})

test('a message whose handling fails leaves no rows, and its repetition is handled', async () => {
  const [id, messageId] = [newUser(), `msg_${createId()}`]
  const body = clerk('user.created', { id, email: newEmail() })
  await sql`alter table audit_log add constraint closed check (action <> 'customer.created') not valid`.execute(
    db,
  )
  const failed = await send(body, { id: messageId })
  await sql`alter table audit_log drop constraint closed`.execute(db)
  assert.equal(failed.status, 500)
  assert.equal(await customerOf(id), undefined)
  await deliver(body, { id: messageId })
  assert.ok(await customerOf(id))
})

test('a body that is too large is refused', async () => {
  const { status, json } = await send({ type: 'user.created', data: 'x'.repeat(256 * 1024) })
  assert.deepEqual([status, json.error], [413, 'payload_too_large'])
})

test('rows of handled messages are deleted after two weeks', async () => {
  await pruneAuthEvents(db)
  await sql`insert into auth_events (id, type, received_at) values
    ('old', 'x', now() - interval '14 days 1 minute'), ('young', 'x', now() - interval '13 days')`.execute(
    db,
  )
  assert.equal(await pruneAuthEvents(db), 1)
  const left = await db.selectFrom('auth_events').select('id').where('type', '=', 'x').execute()
  assert.deepEqual(left, [{ id: 'young' }])
})

test('the log contains neither the secret nor personal data', () => {
  const log = gateway.node.log.join('\n')
  assert.ok(!log.includes(SECRET.slice(6)) && !log.includes('@example.com'), log)
})
