// deep: starts processes
/** Messages reach their receivers: signed, once when all goes well, and for days again when it does not. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { after, afterEach, beforeEach, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import type { Database } from '../../src/platform/db/open.ts'
import { SYSTEM } from '../../src/platform/audit-log/audited.ts'
import { leaseDueAttempts } from '../../src/deliveries/webhooks/lease-attempts.ts'
import { pruneWebhookAttempts } from '../../src/deliveries/webhooks/webhook-attempts.ts'
import {
  changeWebhook,
  deleteWebhook,
  findWebhook,
  rotateSigningSecret,
  type WebhookEndpoint,
} from '../../src/deliveries/webhooks/webhook-endpoints.ts'
import { createTestDatabase } from '../harness/test-database.ts'
import {
  attemptsOf,
  createDelivery,
  deliverAll,
  isSignedWith,
  seedWebhook,
  SETTINGS,
  startReceiver,
  queueEvent,
  type Answer,
  type Receiver,
} from '../harness/webhook-receiver.ts'

const database = await createTestDatabase()
const { db } = database
let receiver: Receiver
beforeEach(async () => {
  await sql`truncate webhook_attempts, webhook_endpoints`.execute(db)
  receiver = await startReceiver()
})
afterEach(() => receiver.close())
after(() => database.drop())

function answerWith(status: number, headers: Record<string, string> = {}): Answer {
  return (response) => response.writeHead(status, headers).end()
}

async function currentOf({ customerId, id }: WebhookEndpoint): Promise<WebhookEndpoint> {
  const found = await findWebhook(db, customerId, id)
  assert.ok(found)
  return found
}

/** Why webhooks of the customer were switched off, in the words of the mails about it. */
async function reasonsMailed(customerId: string): Promise<unknown[]> {
  const { rows } = await sql<{ reason: unknown }>`
    select data ->> 'reason' as reason from mails
    where customer_id = ${customerId} and template = 'webhook_desativado'`.execute(db)
  return rows.map(({ reason }) => reason)
}

function setEnabled(
  db: Database,
  webhook: { customerId: string; id: string },
  isEnabled: boolean,
): ReturnType<typeof changeWebhook> {
  const fields = ['is_enabled']
  return changeWebhook(db, SYSTEM, { ...webhook, change: { isEnabled }, fields })
}

test('a message arrives as it was queued, and the reference library verifies it', async () => {
  const { customerId, endpoint, signingSecret } = await seedWebhook(db, `${receiver.url}/a?b=c`)
  const messageId = await queueEvent(db, customerId, { amount_brl: '50', note: 'ação ✓' })
  await deliverAll(createDelivery(db))
  const [got, ...more] = receiver.received
  assert.ok(got)
  assert.equal(more.length, 0)
  assert.equal(`${got.method} ${got.path}`, 'POST /a?b=c')
  assert.ok(isSignedWith(signingSecret, got))
  const { type, timestamp, data } = JSON.parse(got.body)
  assert.deepEqual(Object.keys(JSON.parse(got.body)), ['type', 'timestamp', 'data'])
  assert.equal(type, 'topup.paid')
  assert.equal(new Date(timestamp).toISOString(), timestamp)
  assert.deepEqual(data, { amount_brl: 50, note: 'ação ✓' })
  const [attempt] = await attemptsOf(db, endpoint.id)
  assert.ok(attempt)
  assert.equal(got.headers['webhook-id'], messageId)
  assert.equal(got.headers['x-svc-delivery-id'], attempt.id)
  assert.equal(got.headers['content-type'], 'application/json')
  assert.match(String(got.headers['user-agent']), /^Catraca/)
  const { status, http_status, response_head, body, error, try_number } = attempt
  assert.deepEqual(
    { status, http_status, response_head, body, error, try_number },
    {
      status: 'delivered',
      http_status: 200,
      response_head: 'ok',
      body: got.body,
      error: null,
      try_number: 1,
    },
  )
  assert.ok(attempt.latency_ms !== null && attempt.finished_at)
})

test("only the customer's enabled endpoints that subscribe to the type get the event", async () => {
  const one = await seedWebhook(db, `${receiver.url}/all`)
  const { customerId } = one
  const wants = { customerId, eventTypes: ['key.revoked', 'topup.paid'] as const }
  await seedWebhook(db, `${receiver.url}/wants`, { ...wants, eventTypes: [...wants.eventTypes] })
  await seedWebhook(db, `${receiver.url}/not`, { customerId, eventTypes: ['key.created'] })
  await seedWebhook(db, `${receiver.url}/other`)
  const off = await seedWebhook(db, `${receiver.url}/off`, { customerId })
  const gone = await seedWebhook(db, `${receiver.url}/gone`, { customerId })
  await db.transaction().execute(async (trx) => {
    await setEnabled(trx, { customerId, id: off.endpoint.id }, false)
    await deleteWebhook(trx, SYSTEM, { customerId, id: gone.endpoint.id })
  })
  const id = await queueEvent(db, customerId)
  await deliverAll(createDelivery(db))
  assert.deepEqual(receiver.received.map(({ path }) => path).sort(), ['/all', '/wants'])
  assert.deepEqual(
    [...new Set(receiver.received.map(({ headers }) => headers['webhook-id']))],
    [id],
  )
  for (const { endpoint } of [off, gone])
    assert.deepEqual(await attemptsOf(db, endpoint.id), [], 'nothing is queued either')
})

test('after a rotation the old secret signs nothing, not even messages that were queued earlier', async () => {
  const { customerId, endpoint, signingSecret } = await seedWebhook(db, receiver.url)
  await queueEvent(db, customerId)
  receiver.answer = answerWith(500)
  let now = new Date()
  const delivery = createDelivery(db, { now: () => now })
  await deliverAll(delivery)
  await queueEvent(db, customerId)
  const rotated = await rotateSigningSecret(db, SYSTEM, SETTINGS.sealingKey, {
    customerId,
    id: endpoint.id,
  })
  assert.ok(rotated)
  receiver.answer = answerWith(200)
  now = new Date(now.getTime() + 10_000)
  await deliverAll(delivery)
  const [before, ...later] = receiver.received
  assert.ok(before && isSignedWith(signingSecret, before))
  assert.equal(later.length, 2)
  for (const got of later) {
    assert.equal(isSignedWith(signingSecret, got), false)
    assert.ok(isSignedWith(rotated.signingSecret, got))
  }
})

test('a failing message is attempted ten times on schedule with the same bytes; then the endpoint is switched off', async () => {
  const { customerId, endpoint } = await seedWebhook(db, receiver.url)
  const messageId = await queueEvent(db, customerId, { a: 1 })
  await queueEvent(db, customerId, { b: 1 })
  receiver.answer = answerWith(500)
  const startMs = Date.now()
  let now = new Date(startMs)
  const delivery = createDelivery(db, { now: () => now, random: () => 0 })
  let tries = 0
  for (const seconds of [0, 5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400]) {
    if (seconds > 0) {
      now = new Date(now.getTime() + seconds * 1000 - 1)
      await deliverAll(delivery)
      assert.equal(receiver.received.length, tries, 'not a moment earlier')
      now = new Date(now.getTime() + 1)
    } else now = new Date(startMs + 60_000)
    assert.deepEqual(await reasonsMailed(customerId), [])
    await deliverAll(delivery)
    tries += 2
    assert.equal(receiver.received.length, tries)
  }
  const current = await currentOf(endpoint)
  assert.equal(current.disabledReason, 'failing')
  assert.deepEqual(await reasonsMailed(customerId), ['failing'])
  const attempts = (await attemptsOf(db, endpoint.id)).filter((one) => one.message_id === messageId)
  assert.deepEqual(
    attempts.map((one) => one.try_number).sort((a, b) => a - b),
    [1, 2, 3, 4, 5, 6, 7, 8, 9, 10],
  )
  assert.equal(new Set(attempts.map((one) => one.id)).size, 10)
  assert.deepEqual([...new Set(attempts.map((one) => one.status))], ['failed'])
  const mine = receiver.received.filter(({ headers }) => headers['webhook-id'] === messageId)
  assert.equal(mine.length, 10)
  assert.equal(new Set(mine.map(({ body }) => body)).size, 1)
  assert.equal(new Set(mine.map(({ headers }) => headers['webhook-timestamp'])).size, 10)
  assert.equal(new Set(mine.map(({ headers }) => headers['x-svc-delivery-id'])).size, 10)
  const { rows } = await sql<{ actor_kind: string; details: object }>`
    select actor_kind, details from audit_log
    where action = 'webhook.disabled' and subject_id = ${endpoint.id}`.execute(db)
  assert.deepEqual(rows, [{ actor_kind: 'system', details: { reason: 'failing' } }])
  await queueEvent(db, customerId)
  assert.equal(await delivery.startDue(), 0)
})

test('a message that is always refused does not switch off an endpoint that accepts others', async () => {
  const { customerId, endpoint } = await seedWebhook(db, receiver.url)
  await queueEvent(db, customerId, { poison: true })
  receiver.answer = (response, { body }) =>
    response.writeHead(body.includes('poison') ? 500 : 204).end()
  let now = new Date()
  const delivery = createDelivery(db, { now: () => now })
  for (let day = 0; day < 12; day++) {
    await deliverAll(delivery)
    if (day === 3) await queueEvent(db, customerId)
    now = new Date(now.getTime() + 30 * 3_600_000)
  }
  const attempts = await attemptsOf(db, endpoint.id)
  assert.equal(attempts.length, 11)
  assert.equal(attempts.filter(({ status }) => status === 'queued').length, 0)
  assert.equal((await currentOf(endpoint)).disabledAt, null)
})

test('one success ends the failing period, and so does switching the endpoint on by hand', async () => {
  const { customerId, endpoint } = await seedWebhook(db, receiver.url)
  receiver.answer = answerWith(500)
  const delivery = createDelivery(db)
  await queueEvent(db, customerId)
  await deliverAll(delivery)
  assert.ok((await currentOf(endpoint)).failingSince)
  receiver.answer = answerWith(200)
  await queueEvent(db, customerId)
  await deliverAll(delivery)
  assert.equal((await currentOf(endpoint)).failingSince, null)
  receiver.answer = answerWith(410)
  await queueEvent(db, customerId)
  await deliverAll(delivery)
  const enabled = await setEnabled(db, { customerId, id: endpoint.id }, true)
  assert.equal(enabled?.disabledAt, null)
  assert.equal(enabled?.failingSince, null)
})

test('410 switches the endpoint off at once, and fails its waiting messages', async () => {
  const { customerId, endpoint } = await seedWebhook(db, receiver.url)
  const delivery = createDelivery(db)
  receiver.answer = answerWith(500)
  await queueEvent(db, customerId)
  await deliverAll(delivery)
  receiver.answer = answerWith(410)
  await queueEvent(db, customerId)
  await deliverAll(delivery)
  assert.deepEqual(await reasonsMailed(customerId), ['gone'])
  assert.equal((await currentOf(endpoint)).disabledReason, 'gone')
  const attempts = await attemptsOf(db, endpoint.id)
  assert.deepEqual(attempts.map(({ status, error }) => `${status} ${error}`).sort(), [
    'failed gone',
    'failed http_status',
    'failed webhook_disabled',
  ])
})

test("a receiver's Retry-After is respected, and a redirect is not followed", async () => {
  const { customerId, endpoint } = await seedWebhook(db, receiver.url)
  receiver.answer = answerWith(429, { 'retry-after': '8' })
  await queueEvent(db, customerId)
  const now = new Date()
  const delivery = createDelivery(db, { now: () => now, random: () => 0 })
  await sql`update webhook_attempts set due_at = ${now}::timestamptz`.execute(db)
  await deliverAll(delivery)
  const next = (await attemptsOf(db, endpoint.id)).find(({ status }) => status === 'queued')
  assert.equal(next?.due_at.getTime(), now.getTime() + 8_000)
  await sql`delete from webhook_attempts`.execute(db)
  receiver.answer = answerWith(500, { 'retry-after': '8' })
  await queueEvent(db, customerId)
  await sql`update webhook_attempts set due_at = ${now}::timestamptz`.execute(db)
  await deliverAll(delivery)
  const unasked = (await attemptsOf(db, endpoint.id)).find(({ status }) => status === 'queued')
  assert.equal(unasked?.due_at.getTime(), now.getTime() + 5_000, 'an error is no question for time')

  await sql`delete from webhook_attempts`.execute(db)
  for (const status of [301, 302, 303, 307, 308]) {
    receiver.received.length = 0
    receiver.answer = answerWith(status, { location: `${receiver.url}/elsewhere` })
    await queueEvent(db, customerId)
    await sql`update webhook_attempts set due_at = ${now}::timestamptz where try_number = 1`.execute(
      db,
    )
    await deliverAll(delivery)
    assert.deepEqual(
      receiver.received.map(({ path }) => path),
      ['/'],
    )
  }
  const failed = (await attemptsOf(db, endpoint.id)).filter((one) => one.status === 'failed')
  assert.deepEqual([...new Set(failed.map(({ error }) => error))], ['redirect'])
})

test('a worker that dies between claiming and recording a message loses nothing: it is sent again under the same id', async () => {
  const { customerId, endpoint } = await seedWebhook(db, receiver.url)
  const messageId = await queueEvent(db, customerId)
  let now = new Date(Date.now() + 1_000)
  const at = () => sql<Date>`${now}::timestamptz`
  // The worker dies here: nothing is recorded.
  const [lost] = await leaseDueAttempts(db, { limit: 20, at: at() })
  assert.ok(lost)
  const delivery = createDelivery(db, { now: () => now })
  await deliverAll(delivery)
  assert.equal(receiver.received.length, 0, 'it is leased')
  now = new Date(now.getTime() + 61_000)
  await deliverAll(delivery)
  const [got, ...more] = receiver.received
  assert.equal(more.length, 0)
  assert.equal(got?.headers['webhook-id'], messageId)
  assert.equal(got?.headers['x-svc-delivery-id'], lost.id)
  const attempts = await attemptsOf(db, endpoint.id)
  assert.deepEqual(
    attempts.map(({ status, try_number }) => [status, try_number]),
    [['delivered', 1]],
  )
})

test('a worker that is killed during a delivery loses nothing', async () => {
  const { customerId, endpoint, signingSecret } = await seedWebhook(db, receiver.url)
  const messageId = await queueEvent(db, customerId)
  const { sealingKey } = SETTINGS
  const worker = spawn(
    process.execPath,
    [
      join(import.meta.dirname, './delivering-process.ts'),
      database.databaseUrl,
      sealingKey.toString('base64'),
    ],
    { stdio: 'inherit' },
  )
  // It has sent the message, and dies before it can record the result.
  receiver.answer = (response) => {
    worker.kill('SIGKILL')
    worker.once('exit', () => response.end())
  }
  const [, signal] = (await once(worker, 'exit')) as [number | null, string | null]
  assert.equal(signal, 'SIGKILL')
  assert.equal(receiver.received.length, 1)
  const [left] = await attemptsOf(db, endpoint.id)
  assert.equal(left?.status, 'running')
  receiver.answer = answerWith(200)
  const now = (): Date => new Date(Date.now() + 61_000)
  await deliverAll(createDelivery(db, { now }))
  assert.equal(receiver.received.length, 2)
  for (const got of receiver.received) {
    assert.ok(isSignedWith(signingSecret, got))
    assert.equal(got.headers['webhook-id'], messageId)
    assert.equal(got.headers['x-svc-delivery-id'], left.id)
  }
  const [attempt, ...more] = await attemptsOf(db, endpoint.id)
  assert.equal(attempt?.status, 'delivered')
  assert.equal(more.length, 0)
})

test('a worker that returns after its lease records nothing over the work of others', async () => {
  const { customerId, endpoint } = await seedWebhook(db, receiver.url)
  await queueEvent(db, customerId)
  let now = new Date(Date.now() + 1_000)
  let release = (): void => {}
  const held = new Promise<void>((resolve) => (release = resolve))
  receiver.answer = (response) => void held.then(() => response.writeHead(500).end())
  const slow = createDelivery(db, { now: () => now })
  assert.equal(await slow.startDue(), 1)
  while (receiver.received.length === 0) await sleep(5)
  now = new Date(now.getTime() + 61_000)
  receiver.answer = answerWith(200)
  await deliverAll(createDelivery(db, { now: () => now }))
  release()
  await slow.whenIdle()
  const attempts = await attemptsOf(db, endpoint.id)
  assert.deepEqual(
    attempts.map(({ status }) => status),
    ['delivered'],
  )
  assert.equal((await currentOf(endpoint)).failingSince, null)
})

test('workers in parallel deliver each message once, and never three at a time to one endpoint', async () => {
  const hooks = await Promise.all(
    Array.from({ length: 4 }, (_, place) => seedWebhook(db, `${receiver.url}/${place}`)),
  )
  const running = new Map<string, number>()
  let most = 0
  receiver.answer = (response, { path }) => {
    const count = (running.get(path) ?? 0) + 1
    running.set(path, count)
    most = Math.max(most, count)
    setTimeout(() => {
      running.set(path, (running.get(path) as number) - 1)
      response.end()
    }, 5)
  }
  for (const { customerId } of hooks) for (let n = 0; n < 10; n++) await queueEvent(db, customerId)
  const workers = Array.from({ length: 3 }, () => createDelivery(db))
  for (const deadline = Date.now() + 30_000; receiver.received.length < 40;) {
    assert.ok(Date.now() < deadline, `${receiver.received.length} came`)
    await Promise.all(workers.map((worker) => worker.startDue()))
    await sleep(2)
  }
  await Promise.all(workers.map((worker) => worker.stop()))
  const ids = receiver.received.map(({ headers }) => headers['x-svc-delivery-id'])
  assert.equal(ids.length, 40)
  assert.equal(new Set(ids).size, 40)
  assert.ok(most <= 2, `${most} at once`)
})

test('a receiver that hangs, with a backlog, delays no other receiver and no other customer', async () => {
  const hanging = await seedWebhook(db, `${receiver.url}/hangs`)
  const { customerId } = hanging
  for (let n = 0; n < 15; n++) await seedWebhook(db, `${receiver.url}/hangs`, { customerId })
  for (let n = 0; n < 10; n++) await queueEvent(db, customerId)
  const other = await seedWebhook(db, `${receiver.url}/other`)
  receiver.answer = (response, { path }) => void (path === '/other' && response.end())
  const delivery = createDelivery(db, { timeoutMs: 5_000 })
  const begun = await delivery.startDue()
  assert.equal(begun, 10, 'of one customer as many at once')
  for (let n = 0; n < 5; n++) await queueEvent(db, other.customerId)
  for (const deadline = Date.now() + 4_000; ; await sleep(10)) {
    await delivery.startDue()
    const done = (await attemptsOf(db, other.endpoint.id)).filter((one) => one.finished_at)
    if (done.length === 5) break
    assert.ok(Date.now() < deadline)
  }
  receiver.close()
  await delivery.stop()
})

test('answers are read up to 2 kB, and an endless one counts by its status', async () => {
  const { customerId, endpoint } = await seedWebhook(db, receiver.url)
  let closed: Promise<unknown> | undefined
  const answers: Answer[] = [
    (response) => {
      closed = once(response, 'close')
      const more = (): void => {
        while (!response.destroyed && response.write('não '.repeat(10_000)));
      }
      response.on('drain', more)
      more()
    },
    (response) => void response.writeHead(200).write('begun'),
    (response) => response.end(Buffer.from([0, 0xff, 0xfe, 0x41, 0])),
    (response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end('no gzip'),
    (response) => response.end(Buffer.alloc(2_048, 0xff)),
  ]
  const delivery = createDelivery(db)
  for (const answer of answers) {
    receiver.answer = answer
    await queueEvent(db, customerId)
    await deliverAll(delivery)
    await closed
  }
  const [endless, slow, binary, packed, noText] = await attemptsOf(db, endpoint.id)
  for (const one of [endless, slow, binary, packed, noText]) assert.equal(one?.status, 'delivered')
  assert.ok(Buffer.byteLength(endless?.response_head ?? '') <= 2_048)
  assert.ok((endless?.response_head ?? '').startsWith('não não '))
  assert.equal(slow?.response_head, 'begun')
  assert.match(binary?.response_head ?? '', /A/)
  assert.equal(packed?.response_head, '')
})

test('an attempt without an answer fails in time, with a reason', async () => {
  const { customerId, endpoint } = await seedWebhook(db, receiver.url)
  const answers: Answer[] = [
    () => {},
    (response) => void response.socket?.destroy(),
    (response) => void response.socket?.end('no http\r\n\r\n'),
    (response) => void response.socket?.write(`HTTP/1.1 200 OK\r\nx: ${'y'.repeat(100_000)}`),
  ]
  for (const [index, answer] of answers.entries()) {
    receiver.answer = answer
    await queueEvent(db, customerId)
    // Only the first is silent: a slow machine must not make the others late.
    await deliverAll(createDelivery(db, { timeoutMs: index === 0 ? 100 : 30_000 }))
  }
  const failed = (await attemptsOf(db, endpoint.id)).filter((one) => one.try_number === 1)
  assert.equal(failed.length, 4)
  assert.equal(failed[0]?.error, 'timeout')
  for (const one of failed.slice(1)) {
    assert.equal(one.status, 'failed')
    assert.match(one.error ?? '', /^connection_failed: \w+$/)
  }
})

test('with a wrong key nothing is sent, no attempt is counted and nothing is lost', async () => {
  const { customerId, endpoint } = await seedWebhook(db, receiver.url)
  await queueEvent(db, customerId)
  let now = new Date(Date.now() + 1_000)
  const settings = { ...SETTINGS, sealingKey: randomBytes(32) }
  const errors: string[] = []
  const log = { debug() {}, info() {}, warn() {}, error: (name: string) => void errors.push(name) }
  await deliverAll(createDelivery(db, { settings, log, now: () => now }))
  assert.equal(receiver.received.length, 0)
  assert.deepEqual(errors, ['delivery_failed'])
  now = new Date(now.getTime() + 301_000)
  await deliverAll(createDelivery(db, { now: () => now }))
  assert.equal(receiver.received.length, 1)
  const attempts = await attemptsOf(db, endpoint.id)
  assert.deepEqual(
    attempts.map(({ status, try_number }) => [status, try_number]),
    [['delivered', 1]],
  )
})

test('nothing is sent for a deleted account, or to a deleted endpoint', async () => {
  const kept = await seedWebhook(db, receiver.url)
  const gone = await seedWebhook(db, receiver.url)
  await queueEvent(db, kept.customerId)
  await queueEvent(db, gone.customerId)
  await deleteWebhook(db, SYSTEM, { customerId: gone.customerId, id: gone.endpoint.id })
  await sql`update customers set deleted_at = now() where id = ${kept.customerId}`.execute(db)
  await deliverAll(createDelivery(db))
  assert.equal(receiver.received.length, 0)
  const [attempt] = await attemptsOf(db, gone.endpoint.id)
  assert.deepEqual([attempt?.status, attempt?.error], ['failed', 'webhook_deleted'])
  await queueEvent(db, kept.customerId)
  assert.equal((await attemptsOf(db, kept.endpoint.id)).length, 1)
})

test('an event with a message of 20 kB is refused before anything is queued', async () => {
  const { customerId, endpoint } = await seedWebhook(db, receiver.url)
  const overhead = JSON.stringify({
    type: 'topup.paid',
    timestamp: new Date().toISOString(),
    data: { text: '' },
  }).length
  await queueEvent(db, customerId, { text: 'x'.repeat(19_999 - overhead) })
  await assert.rejects(
    queueEvent(db, customerId, { text: 'x'.repeat(20_000 - overhead) }),
    /longer/,
  )
  assert.equal((await attemptsOf(db, endpoint.id)).length, 1)
})

test('nothing is queued for an endpoint that is being switched off at that moment', async () => {
  const { customerId, endpoint } = await seedWebhook(db, receiver.url)
  let queued: Promise<string> | undefined
  await db.transaction().execute(async (trx) => {
    await setEnabled(trx, { customerId, id: endpoint.id }, false)
    queued = queueEvent(db, customerId)
    await sleep(100)
  })
  await queued
  assert.deepEqual(await attemptsOf(db, endpoint.id), [])
})

test('messages that a killed worker left for a switched-off endpoint are not sent, and have failed', async () => {
  const { customerId, endpoint } = await seedWebhook(db, receiver.url)
  await queueEvent(db, customerId)
  const leased = await leaseDueAttempts(db, { limit: 20, at: sql<Date>`now()` })
  assert.equal(leased.length, 1)
  await setEnabled(db, { customerId, id: endpoint.id }, false)
  const now = (): Date => new Date(Date.now() + 61_000)
  await deliverAll(createDelivery(db, { now }))
  assert.equal(receiver.received.length, 0)
  await pruneWebhookAttempts(db)
  const [attempt] = await attemptsOf(db, endpoint.id)
  assert.deepEqual([attempt?.status, attempt?.error], ['failed', 'webhook_disabled'])
})

test('a worker has at most twenty attempts in progress', async () => {
  for (let customers = 0; customers < 3; customers++) {
    const { customerId } = await seedWebhook(db, receiver.url)
    for (let n = 0; n < 4; n++) await seedWebhook(db, receiver.url, { customerId })
    for (let n = 0; n < 2; n++) await queueEvent(db, customerId)
  }
  receiver.answer = () => {}
  const delivery = createDelivery(db, { timeoutMs: 5_000 })
  assert.equal(await delivery.startDue(), 20)
  assert.equal(await delivery.startDue(), 0)
  const stopped = delivery.stop()
  receiver.close()
  await stopped
  const { rows } = await sql<{ count: bigint }>`
    select count(*) from webhook_attempts where status = 'queued' and try_number = 1`.execute(db)
  assert.equal(rows[0]?.count, 10n, 'one that is stopped begins nothing more')
})

test('attempts are deleted after 30 days, and deleted endpoints with the last of them', async () => {
  const { customerId, endpoint } = await seedWebhook(db, receiver.url)
  const gone = await seedWebhook(db, receiver.url)
  for (const id of [customerId, gone.customerId]) await queueEvent(db, id)
  await deliverAll(createDelivery(db))
  await queueEvent(db, customerId)
  await deleteWebhook(db, SYSTEM, { customerId: gone.customerId, id: gone.endpoint.id })
  assert.equal(await pruneWebhookAttempts(db), 0)
  const recent = await seedWebhook(db, receiver.url)
  await sql`update webhook_attempts set created_at = now() - interval '31 days'`.execute(db)
  await queueEvent(db, recent.customerId)
  await deleteWebhook(db, SYSTEM, { customerId: recent.customerId, id: recent.endpoint.id })
  await sql`update webhook_endpoints set deleted_at = now() - interval '31 days'
    where deleted_at is not null`.execute(db)
  assert.equal(await pruneWebhookAttempts(db), 2)
  assert.deepEqual(
    (await attemptsOf(db, endpoint.id)).map(({ status }) => status),
    ['queued'],
  )
  const left = await db.selectFrom('webhook_endpoints').select('id').orderBy('id').execute()
  assert.deepEqual(
    left.map(({ id }) => id),
    [endpoint.id, recent.endpoint.id],
    'one that an attempt names stays',
  )
})
