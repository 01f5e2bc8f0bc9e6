/** Customers manage their webhooks, and nobody else's. That messages arrive is in `test/webhooks`. */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { EVENT_TYPES } from '../../src/platform/events/record-event.ts'
import { createId } from '../../src/platform/lib/ids.ts'
import { parseSealingKey } from '../../src/platform/lib/sealing-key.ts'
import { queueMessage } from '../../src/deliveries/webhooks/queue-messages.ts'
import { seedCustomer } from '../harness/test-database.ts'
import { createDelivery, isSignedWith, startReceiver } from '../harness/webhook-receiver.ts'
import { ask, type Asked } from '../harness/ask.ts'
import { startGateway } from '../harness/gateway.ts'

const gateway = await startGateway({ WEBHOOKS_ALLOW_PRIVATE: 'true' })
after(() => gateway.stop())
const { db } = gateway.database
const { baseUrl, dataDir } = gateway.node
const HOOK = 'https://hooks.example.com/x'

type Call = (method: string, path: string, body?: unknown) => Promise<Asked>

async function createCustomer(): Promise<{ customerId: string; call: Call }> {
  const { customerId, secret } = await seedCustomer(db, { balanceBrl: '0' })
  return {
    customerId,
    call: (method, path, body) => ask(baseUrl, path, { method, secret, body }),
  }
}

async function createHook(call: Call, body: object = { url: HOOK }): Promise<any> {
  const answer = await call('POST', '/webhooks', body)
  assert.equal(answer.status, 201, answer.text)
  return answer.json
}

/** Not due for a day, so that no worker takes them meanwhile. */
async function queueLate(customerId: string, endpointId: string, count: number): Promise<string[]> {
  const ids: string[] = []
  for (let n = 0; n < count; n++) {
    const message = {
      customerId,
      messageId: createId(),
      eventType: 'topup.paid',
      body: `{"n": ${n},  "nota":"ação \\u00e7 \\/"}`,
    }
    ids.push(
      ...(await db.transaction().execute(async (trx) => {
        const made = await queueMessage(trx, [endpointId], message)
        await sql`update webhook_attempts set due_at = now() + interval '1 day' where id = any(${made})`.execute(
          trx,
        )
        return made
      })),
    )
  }
  return ids
}

function actsOn(
  customerId: string,
): Promise<
  { action: string; subject_id: string | null; details: unknown; api_key_id: string | null }[]
> {
  return db
    .selectFrom('audit_log')
    .select(['action', 'subject_id', 'details', 'api_key_id'])
    .where('customer_id', '=', customerId)
    .where('action', 'like', 'webhook.%')
    .orderBy('created_at')
    .execute()
}

test('a webhook is created, read, listed, changed and deleted; each act is in the audit log', async () => {
  const { customerId, call } = await createCustomer()
  const made = await call('POST', '/webhooks', {
    url: 'https://Hooks.Example.com:443/a?b=c',
    description: 'Pedidos',
    event_types: ['topup.paid', 'key.revoked'],
  })
  assert.equal(made.status, 201, made.text)
  assert.equal(made.headers.get('cache-control'), 'no-store')
  const { signing_secret, ...webhook } = made.json
  assert.match(signing_secret, /^whsec_[A-Za-z0-9+/]{43}=$/)
  assert.deepEqual(
    { ...webhook, id: '', created_at: '' },
    {
      id: '',
      url: 'https://hooks.example.com/a?b=c',
      description: 'Pedidos',
      event_types: ['topup.paid', 'key.revoked'],
      is_enabled: true,
      disabled_at: null,
      disabled_reason: null,
      failing_since: null,
      created_at: '',
    },
  )
  assert.deepEqual((await call('GET', `/webhooks/${webhook.id}`)).json, webhook)
  const second = await createHook(call)
  assert.equal(second.event_types, null)
  const listed = await call('GET', '/webhooks')
  assert.deepEqual(
    listed.json.webhooks.map(({ id }: { id: string }) => id),
    [webhook.id, second.id],
  )
  assert.ok(!listed.text.includes('whsec_'))

  const change = { url: HOOK, description: null, event_types: null, is_enabled: false }
  const off = (await call('PATCH', `/webhooks/${webhook.id}`, change)).json
  assert.deepEqual([off.url, off.description, off.event_types], [HOOK, null, null])
  assert.deepEqual([off.is_enabled, off.disabled_reason], [false, 'customer'])
  assert.ok(off.disabled_at)
  await sql`update webhook_endpoints set failing_since = now() where id = ${webhook.id}`.execute(db)
  const on = (await call('PATCH', `/webhooks/${webhook.id}`, { is_enabled: true })).json
  assert.deepEqual(
    [on.is_enabled, on.disabled_at, on.disabled_reason, on.failing_since],
    [true, null, null, null],
  )
  assert.equal((await call('DELETE', `/webhooks/${webhook.id}`)).status, 200)
  for (const [method, path] of [
    ['GET', ''],
    ['DELETE', ''],
    ['PATCH', ''],
    ['POST', '/rotate-secret'],
    ['POST', '/test'],
    ['GET', '/attempts'],
  ] as const) {
    const gone = await call(
      method,
      `/webhooks/${webhook.id}${path}`,
      method === 'PATCH' ? {} : undefined,
    )
    assert.equal(gone.status, 404, path)
    assert.equal(gone.json.error, 'webhook_not_found')
  }
  const acts = await actsOn(customerId)
  assert.deepEqual(
    acts.filter((act) => act.subject_id === webhook.id).map(({ action }) => action),
    ['webhook.created', 'webhook.changed', 'webhook.changed', 'webhook.deleted'],
  )
  assert.deepEqual(acts[2]?.details, { fields: Object.keys(change) })
  assert.ok(acts.every((act) => act.api_key_id !== null))
  assert.ok(!JSON.stringify(acts).includes('example.com'))
})

test('the database has no signing secret in plain text, and a rotation replaces it', async () => {
  const { customerId, call } = await createCustomer()
  const { id, signing_secret: old } = await createHook(call)
  const answer = await call('POST', `/webhooks/${id}/rotate-secret`)
  assert.equal(answer.status, 200)
  assert.equal(answer.headers.get('cache-control'), 'no-store')
  assert.match(answer.json.signing_secret, /^whsec_/)
  assert.notEqual(answer.json.signing_secret, old)
  assert.equal(answer.json.id, id)
  const { rows } = await sql<{ row: string }>`
    select e::text as row from webhook_endpoints e where id = ${id}
    union all select l::text from audit_log l where customer_id = ${customerId}`.execute(db)
  for (const secret of [old, answer.json.signing_secret]) {
    const bytes = Buffer.from(secret.slice(6), 'base64')
    for (const { row } of rows) {
      assert.ok(!row.includes(bytes.toString('hex')))
      assert.ok(!row.includes(bytes.toString('base64')))
    }
    assert.ok(!gateway.node.log.join('\n').includes(secret))
  }
  assert.equal((await actsOn(customerId)).at(-1)?.action, 'webhook.secret_rotated')
})

test('a customer has at most twenty webhooks, also with concurrent creations; a deletion frees a place', async () => {
  const { call } = await createCustomer()
  const answers = await Promise.all(
    Array.from({ length: 25 }, () => call('POST', '/webhooks', { url: HOOK })),
  )
  const statuses = answers.map(({ status }) => status)
  assert.equal(statuses.filter((status) => status === 201).length, 20)
  const refused = answers.filter(({ status }) => status !== 201)
  for (const { status, json } of refused)
    assert.deepEqual([status, json.error], [409, 'too_many_webhooks'])
  const made = answers.find(({ status }) => status === 201)
  await call('DELETE', `/webhooks/${made?.json.id}`)
  await createHook(call)
})

test('an invalid field is refused by its name, and nothing is created or changed', async () => {
  const { call } = await createCustomer()
  const { id } = await createHook(call)
  const before = (await call('GET', '/webhooks')).text
  for (const [field, body] of [
    ['url', {}],
    ['url', { url: '' }],
    ['url', { url: null }],
    ['url', { url: 'x' }],
    ['url', { url: `https://example.com/${'a'.repeat(2000)}` }],
    ['url', { url: 'https://example.com/#a' }],
    ['url', { url: 'https://a:b@example.com/' }],
    ['url', { url: 'https://example.com:25/' }],
    ['url', { url: 'ftp://example.com/' }],
    ['description', { url: HOOK, description: 'a'.repeat(201) }],
    ['description', { url: HOOK, description: 'a\u0000b' }],
    ['event_types', { url: HOOK, event_types: [] }],
    ['event_types', { url: HOOK, event_types: ['nada'] }],
    ['event_types', { url: HOOK, event_types: ['topup.paid', 'topup.paid'] }],
    ['event_types', { url: HOOK, event_types: 'topup.paid' }],
    ['secret', { url: HOOK, secret: 'x' }],
  ] as const) {
    const calls = [await call('POST', '/webhooks', body)]
    if (Object.keys(body).length > 0) calls.push(await call('PATCH', `/webhooks/${id}`, body))
    for (const { status, json, text } of calls) {
      assert.equal(status, 400, JSON.stringify(body))
      assert.equal(json.error, 'invalid_request')
      assert.ok(json.details.startsWith(field), text)
    }
  }
  assert.equal((await call('PATCH', `/webhooks/${id}`, { is_enabled: 'no' })).status, 400)
  assert.equal((await call('GET', '/webhooks')).text, before)
})

test('the event types are listed, and each can be subscribed to', async () => {
  const { call } = await createCustomer()
  const { json } = await call('GET', '/webhooks/event-types')
  assert.deepEqual(json, { event_types: [...EVENT_TYPES] })
  const made = await createHook(call, { url: HOOK, event_types: json.event_types })
  assert.deepEqual(made.event_types, json.event_types)
})

test('a replay is a new attempt: the same message in the same bytes, under a new delivery_id', async () => {
  const { customerId, call } = await createCustomer()
  const { id } = await createHook(call)
  const [old = ''] = await queueLate(customerId, id, 1)
  await sql`update webhook_attempts set status = 'failed', try_number = 10, finished_at = now()
    where id = ${old}`.execute(db)
  const before = (await call('GET', `/webhooks/attempts/${old}`)).json
  const answer = await call('POST', `/webhooks/attempts/${old}/replay`)
  assert.equal(answer.status, 200, answer.text)
  const { delivery_id, message_id, body, status, is_replay, try_number, webhook_id } = answer.json
  assert.notEqual(delivery_id, old)
  assert.equal(body, '{"n": 0,  "nota":"ação \\u00e7 \\/"}')
  assert.deepEqual(
    { body, message_id, status, is_replay, try_number, webhook_id },
    {
      body: before.body,
      message_id: before.message_id,
      status: 'queued',
      is_replay: true,
      try_number: 1,
      webhook_id: id,
    },
  )
  assert.deepEqual((await call('GET', `/webhooks/attempts/${old}`)).json, before)
  const act = (await actsOn(customerId)).at(-1)
  assert.equal(act?.action, 'webhook.replayed')
  assert.deepEqual(act?.details, { replay_of: old, delivery_id })

  await call('PATCH', `/webhooks/${id}`, { is_enabled: false })
  for (const path of [`/webhooks/attempts/${old}/replay`, `/webhooks/${id}/test`]) {
    const refused = await call('POST', path)
    assert.deepEqual([refused.status, refused.json.error], [409, 'webhook_disabled'], path)
  }
  await call('DELETE', `/webhooks/${id}`)
  const gone = await call('POST', `/webhooks/attempts/${old}/replay`)
  assert.deepEqual([gone.status, gone.json.error], [404, 'webhook_attempt_not_found'])
})

test('at most a thousand deliveries requested by hand may wait', async () => {
  const { customerId, call } = await createCustomer()
  const { id } = await createHook(call)
  const [one = ''] = await queueLate(customerId, id, 1)
  await sql`
    insert into webhook_attempts (id, endpoint_id, customer_id, message_id, event_type, body, due_at)
    select gen_random_uuid(), endpoint_id, customer_id, message_id, event_type, body, due_at
    from webhook_attempts, generate_series(1, 999) where id = ${one}`.execute(db)
  for (const path of [`/webhooks/attempts/${one}/replay`, `/webhooks/${id}/test`]) {
    const refused = await call('POST', path)
    assert.deepEqual([refused.status, refused.json.error], [409, 'too_many_queued'], path)
  }
})

test('attempts are listed page by page, each once, and by status', async () => {
  const { customerId, call } = await createCustomer()
  const { id } = await createHook(call)
  const ids = await queueLate(customerId, id, 7)
  await sql`update webhook_attempts set status = 'delivered', finished_at = now()
    where id = any(${ids.slice(0, 3)})`.execute(db)
  // All at the same moment: only the id distinguishes them.
  await sql`update webhook_attempts set created_at = '2026-11-01T00:00:00.123456Z' where endpoint_id = ${id}`.execute(
    db,
  )
  const seen: string[] = []
  let cursor: string | null = ''
  while (cursor !== null) {
    const query: string = cursor === '' ? '' : `&cursor=${cursor}`
    const { status, json, text } = await call('GET', `/webhooks/${id}/attempts?limit=3${query}`)
    assert.equal(status, 200, text)
    for (const attempt of json.attempts) {
      seen.push(attempt.delivery_id)
      assert.ok(!('body' in attempt))
    }
    cursor = json.next_cursor
  }
  assert.deepEqual(seen, ids.toSorted().toReversed())
  const delivered = (await call('GET', `/webhooks/${id}/attempts?status=delivered`)).json.attempts
  assert.deepEqual(delivered.map((one: any) => one.delivery_id).sort(), ids.slice(0, 3).sort())
  for (const query of ['status=x', 'limit=0', 'limit=201', 'cursor=x'])
    assert.equal((await call('GET', `/webhooks/${id}/attempts?${query}`)).status, 400, query)
})

test("every route answers 404 for another customer's webhook and attempt, and changes nothing", async () => {
  const owner = await createCustomer()
  const stranger = await createCustomer()
  const { id } = await createHook(owner.call)
  await createHook(stranger.call)
  const [attempt = ''] = await queueLate(owner.customerId, id, 1)
  const snapshot = async () =>
    (
      await sql`
        with ours (id) as (values (${owner.customerId}::uuid), (${stranger.customerId}::uuid))
        select e::text as row from webhook_endpoints e join ours on ours.id = e.customer_id
        union all select a::text from webhook_attempts a join ours on ours.id = a.customer_id
        union all select l::text from audit_log l join ours on ours.id = l.customer_id
        order by 1`.execute(db)
    ).rows
  const before = await snapshot()
  for (const [method, path, body] of [
    ['GET', `/webhooks/${id}`],
    ['PATCH', `/webhooks/${id}`, { url: 'https://stranger.example.com/', is_enabled: false }],
    ['PATCH', `/webhooks/${id}`, {}],
    ['DELETE', `/webhooks/${id}`],
    ['POST', `/webhooks/${id}/rotate-secret`],
    ['POST', `/webhooks/${id}/test`],
    ['GET', `/webhooks/${id}/attempts`],
    ['GET', `/webhooks/attempts/${attempt}`],
    ['POST', `/webhooks/attempts/${attempt}/replay`],
  ] as const) {
    const answer = await stranger.call(method, path, body)
    assert.equal(answer.status, 404, `${method} ${path}`)
    const code = path.includes('/attempts/') ? 'webhook_attempt_not_found' : 'webhook_not_found'
    assert.equal(answer.json.error, code)
    assert.equal((await ask(baseUrl, path, { method, body })).status, 401)
  }
  const { json } = await stranger.call('GET', '/webhooks')
  assert.ok(!JSON.stringify(json).includes(id))
  assert.deepEqual(await snapshot(), before)
})

test('a test message reaches its receiver, signed with the secret of that moment', async () => {
  const receiver = await startReceiver()
  const { call } = await createCustomer()
  const { id, signing_secret } = await createHook(call, { url: HOOK, event_types: ['key.created'] })
  await sql`update webhook_endpoints set url = ${`${receiver.url}/t`} where id = ${id}`.execute(db)
  const sealingKey = parseSealingKey(await readFile(join(dataDir, 'secrets.key'), 'utf8'))
  assert.ok(sealingKey)
  // Concurrently with the node's own worker: either may deliver it, but it arrives once.
  const delivery = createDelivery(db, {
    settings: { sealingKey, allowHttp: true, allowPrivate: true },
  })
  try {
    const { json } = await call('POST', `/webhooks/${id}/test`)
    assert.deepEqual([json.status, json.event_type], ['queued', 'webhook.test'])
    assert.deepEqual(JSON.parse(json.body).data, { webhook_id: id })
    let attempt: any
    for (const deadline = Date.now() + 30_000; attempt?.status !== 'delivered'; await sleep(20)) {
      assert.ok(Date.now() < deadline, JSON.stringify(attempt))
      await delivery.startDue()
      attempt = (await call('GET', `/webhooks/attempts/${json.delivery_id}`)).json
    }
    const [got, ...more] = receiver.received
    assert.ok(got)
    assert.equal(more.length, 0)
    assert.ok(isSignedWith(signing_secret, got))
    assert.equal(got.body, json.body)
    assert.equal(got.headers['webhook-id'], json.message_id)
    assert.equal(got.headers['x-svc-delivery-id'], json.delivery_id)
    assert.deepEqual([attempt.http_status, attempt.response_head], [200, 'ok'])
  } finally {
    await delivery.stop()
    receiver.close()
  }
})
