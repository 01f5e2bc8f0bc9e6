/** Keys by their own interface: made, shown, changed, revoked, and who may do so. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { createApiKey } from '../../src/customers/api-keys.ts'
import { createId, sha256 } from '../../src/platform/lib/ids.ts'
import { debit } from '../../src/money/ledger/entries.ts'
import { NANO_PER_BRL } from '../../src/platform/lib/money.ts'
import { seedTeam } from '../harness/seed-team.ts'
import { seedCustomer } from '../harness/test-database.ts'
import { ask, askChat, sound, type Asked } from '../harness/ask.ts'
import { assertHeaders } from '../harness/assert-answer.ts'
import { assertAudit, untilNoHoldIsOpen } from '../harness/assert-audit.ts'
import { startGateway, type TestGateway } from '../harness/gateway.ts'

const SECRET = /^sk-svc-[0-9A-Za-z]{38}$/
const INPUT = { name: 'produção', model_ids: ['sandbox-chat'] }

let gateway: TestGateway

before(async () => {
  gateway = await startGateway()
})
after(() => gateway.stop())

function call(
  method: string,
  path: string,
  body?: unknown,
  secret = gateway.secret,
): Promise<Asked> {
  return ask(gateway.node.baseUrl, path, { method, secret, body })
}

async function createKey(more: object = {}, secret = gateway.secret): Promise<any> {
  const answer = await call('POST', '/api-keys', { ...INPUT, ...more }, secret)
  assert.equal(answer.status, 201, answer.text)
  return answer.json
}

function assertRestRefusal(answer: Asked, status: number, error: string, details?: RegExp): void {
  assert.equal(answer.status, status, answer.text)
  assert.equal(answer.json.error, error)
  if (details) assert.match(answer.json.details, details)
  assertHeaders(answer, answer.requestId)
}

async function actsOn(keyId: string): Promise<any[]> {
  return gateway.database.db
    .selectFrom('audit_log')
    .selectAll()
    .where('subject_id', '=', keyId)
    .orderBy('id')
    .execute()
}

/** Every table of the database as text. */
async function everything(): Promise<string> {
  const { db } = gateway.database
  const { rows: tables } = await sql<{ name: string }>`
    select format('%I.%I', schemaname, tablename) as name from pg_tables
    where schemaname not in ('pg_catalog', 'information_schema')`.execute(db)
  const texts = await Promise.all(
    tables.map(async ({ name }) => {
      const { rows } = await sql<{ text: string }>`
        select ${sql.lit(name)} || t::text as text from ${sql.raw(name)} t`.execute(db)
      return rows.map(({ text }) => text).join('\n')
    }),
  )
  return texts.join('\n')
}

test('a created key has the requested fields, defaults for the others, and works', async () => {
  const answer = await call('POST', '/api-keys', INPUT)
  assert.equal(answer.status, 201)
  assert.equal(answer.headers.get('cache-control'), 'no-store')
  const { key: secret, ...shown } = answer.json
  assert.match(secret, SECRET)
  assert.deepEqual(shown, {
    id: shown.id,
    name: 'produção',
    last_four: secret.slice(-4),
    status: 'active',
    scope: 'calls',
    model_ids: ['sandbox-chat'],
    ip_allowlist: null,
    requests_per_minute: 120,
    tokens_per_minute: null,
    shield: null,
    budget: null,
    minute_cap_brl: null,
    minute_cap_used_brl: null,
    day_cap_brl: null,
    day_cap_used_brl: null,
    task_cap_brl: null,
    calls_at_once: null,
    cache_seconds: null,
    auto_cache: false,
    paused_reason: null,
    team_id: null,
    last_used_at: null,
    created_at: shown.created_at,
    expires_at: null,
    revoked_at: null,
  })
  assert.deepEqual((await call('GET', `/api-keys/${shown.id}`)).json, shown)
  assert.equal((await askChat(gateway.node.baseUrl, secret, sound())).status, 200)
  const other = await askChat(gateway.node.baseUrl, secret, sound('gpt-4o-mini'))
  assert.equal(other.json.error.code, 'key_model_access_denied')

  const full = await createKey({
    ip_allowlist: ['127.0.0.1', '::1/128', '2001:db8::/32', '10.0.0.0/8'],
    requests_per_minute: 7,
    tokens_per_minute: 5000,
    budget: { limit_usd: 0.1, period: 'day' },
    expires_at: '2099-01-31T00:00:00-03:00',
  })
  assert.deepEqual(full.ip_allowlist, ['127.0.0.1', '::1/128', '2001:db8::/32', '10.0.0.0/8'])
  assert.deepEqual([full.requests_per_minute, full.tokens_per_minute], [7, 5000])
  assert.deepEqual(full.budget, { limit_usd: 0.1, period: 'day', spent_usd: 0 })
  assert.equal(full.expires_at, '2099-01-31T03:00:00.000Z')
  const row = await gateway.database.db
    .selectFrom('api_key_budgets')
    .select('limit_pico_usd')
    .where('api_key_id', '=', full.id)
    .executeTakeFirstOrThrow()
  assert.equal(row.limit_pico_usd, 100_000_000_000n)
})

test('a name has 3 to 50 characters', async () => {
  for (const name of [undefined, null, 7, ['abc'], '', 'ab', '  ab  ', 'x'.repeat(51)]) {
    const answer = await call('POST', '/api-keys', { ...INPUT, name })
    assertRestRefusal(answer, 400, 'name must be 3-50 chars')
  }
  assertRestRefusal(
    await call('POST', '/api-keys', { ...INPUT, name: 'a\u0000bc' }),
    400,
    'invalid_request',
    /^name: /,
  )
  for (const name of ['abc', 'x'.repeat(50), '😀😀😀', '😀'.repeat(50)])
    assert.equal((await createKey({ name })).name, name)
})

test('a key can be limited to models of the catalog, and shows them', async () => {
  for (const model_ids of [undefined, null, [], ['none'], 'sandbox-chat', '*', [7], {}]) {
    const answer = await call('POST', '/api-keys', { ...INPUT, model_ids })
    assertRestRefusal(answer, 400, 'no_valid_models')
  }
  const { model_ids } = await createKey({ model_ids: ['none', 'gpt-4o', 'sandbox-chat', 'gpt-4o'] })
  assert.deepEqual(model_ids, ['gpt-4o', 'sandbox-chat'])
})

test('a key for `*` calls all models, also later ones', async () => {
  for (const model_ids of [['*'], ['sandbox-chat', '*']]) {
    const made = await createKey({ model_ids })
    assert.equal(made.model_ids, null)
    assert.equal((await askChat(gateway.node.baseUrl, made.key, sound('gpt-4o-mini'))).status, 200)
  }
  const limited = await createKey({ model_ids: ['sandbox-chat'] })
  const lifted = await call('PATCH', `/api-keys/${limited.id}`, { model_ids: null })
  assert.equal(lifted.json.model_ids, null)
  await call('PATCH', `/api-keys/${limited.id}`, { model_ids: ['sandbox-chat'] })
  const again = await call('PATCH', `/api-keys/${limited.id}`, { model_ids: ['*'] })
  assert.equal(again.json.model_ids, null)
  assert.equal((await askChat(gateway.node.baseUrl, limited.key, sound('gpt-4o'))).status, 200)
})

test('an invalid limit is refused by its name', async () => {
  const budget = (limit_usd: unknown): object => ({ budget: { limit_usd, period: 'month' } })
  const addresses = Array.from({ length: 101 }, (_, index) => `10.0.0.${index}`)
  const faults: [object, RegExp][] = [
    [{ ip_allowlist: ['10.0.0.0/8', '10.0.0.0/33'] }, /^ip_allowlist: "10\.0\.0\.0\/33" não é/],
    [{ ip_allowlist: ['example.com'] }, /^ip_allowlist: "example\.com" não é/],
    [{ ip_allowlist: ['a\u0000'] }, /^ip_allowlist: /],
    [{ ip_allowlist: addresses }, /^ip_allowlist: /],
    [{ ip_allowlist: [] }, /^ip_allowlist: /],
    [{ requests_per_minute: 0 }, /^requests_per_minute: /],
    [{ requests_per_minute: 1.5 }, /^requests_per_minute: /],
    [{ requests_per_minute: 10_001 }, /^requests_per_minute: /],
    [{ requests_per_minute: null }, /^requests_per_minute: /],
    [{ tokens_per_minute: 0 }, /^tokens_per_minute: /],
    [{ tokens_per_minute: 1e18 }, /^tokens_per_minute: /],
    [budget(-1), /^budget\.limit_usd: /],
    [budget('10'), /^budget\.limit_usd: /],
    [budget(1_000_001), /^budget\.limit_usd: /],
    [budget(0.1234567), /^budget\.limit_usd: .*6 casas decimais/],
    [budget(1e-7), /^budget\.limit_usd: .*6 casas decimais/],
    [{ budget: { limit_usd: 1 } }, /^budget\.period: é obrigatório/],
    [{ budget: { limit_usd: 1, period: 'week' } }, /^budget\.period: /],
    [{ expires_at: '2020-01-01T00:00:00Z' }, /^expires_at: deve ser uma data futura/],
    [{ expires_at: '2099-12-31T23:59:60Z' }, /^expires_at: /],
    [{ expires_at: 'amanhã' }, /^expires_at: /],
    [{ team_id: createId() }, /^team_id: não é conhecido/],
  ]
  for (const [more, details] of faults)
    assertRestRefusal(
      await call('POST', '/api-keys', { ...INPUT, ...more }),
      400,
      'invalid_request',
      details,
    )
  assert.equal((await createKey({ ip_allowlist: addresses.slice(1) })).ip_allowlist.length, 100)
  assert.equal((await createKey(budget(999_999.999999))).budget.limit_usd, 999_999.999999)
})

test('the secret of a key is shown once and stored only as a hash', async () => {
  const { key: secret, id } = await createKey({ scope: 'account' })
  await call('PATCH', `/api-keys/${id}`, { name: 'renomeada' })
  await askChat(gateway.node.baseUrl, secret, sound())
  const answers = await Promise.all([
    call('GET', '/api-keys?limit=200'),
    call('GET', `/api-keys/${id}`, undefined, secret),
    call('DELETE', `/api-keys/${id}`),
    call('GET', '/api-keys?status=revoked'),
    call('GET', '/usage'),
  ])
  for (const { text, status } of answers) {
    assert.equal(status, 200, text)
    assert.doesNotMatch(text, /sk-svc-/)
  }
  const [stored, hash] = [await everything(), sha256(secret).toString('hex')]
  assert.ok(stored.includes(hash), 'the tables were looked at')
  for (const text of [stored, gateway.node.log.join('\n')]) {
    assert.ok(!text.includes(secret))
    assert.ok(!text.includes(Buffer.from(secret).toString('hex')))
    assert.ok(!text.includes(Buffer.from(secret).toString('base64')))
  }
  assert.ok(!gateway.node.log.join('\n').includes(hash))
})

test('keys are found by a part of the name or the end of the secret, also beyond the first page', async () => {
  const { db } = gateway.database
  const { secret, customerId } = await seedCustomer(db, {
    balanceBrl: '1',
    name: 'Robô de Cobrança',
  })
  for (const name of ['Site', 'App 100%', 'SITE novo'])
    await createApiKey(db, { customerId, name, requestsPerMinute: 1 })
  const found = async (q: string): Promise<string[]> => {
    const path = `/api-keys?limit=2&q=${encodeURIComponent(q)}`
    return (await call('GET', path, undefined, secret)).json.api_keys.map((one: any) => one.name)
  }
  assert.deepEqual(await found('site'), ['SITE novo', 'Site'])
  assert.deepEqual(await found('cobrança'), ['Robô de Cobrança'])
  assert.deepEqual(await found('100%'), ['App 100%'])
  assert.deepEqual(await found('%'), ['App 100%'])
  assert.deepEqual(await found(secret.slice(-4)), ['Robô de Cobrança'])
  assert.deepEqual(await found('nada'), [])
})

test('keys are paged, newest first, each once, and filtered by status', async () => {
  const { secret, customerId, key } = await seedCustomer(gateway.database.db, { balanceBrl: '1' })
  // In one transaction they all have the same time.
  const made = await gateway.database.db
    .transaction()
    .execute((trx) =>
      Promise.all(
        Array.from({ length: 5 }, () =>
          createApiKey(trx, { customerId, name: 'muitas', requestsPerMinute: 1 }),
        ),
      ),
    )
  const newest = made
    .map((one) => one.key.id)
    .sort()
    .toReversed()
  const seen: string[] = []
  for (let cursor = ''; ;) {
    const { json } = await call('GET', `/api-keys?limit=2${cursor}`, undefined, secret)
    seen.push(...json.api_keys.map((one: any) => one.id))
    if (json.next_cursor === null) break
    cursor = `&cursor=${json.next_cursor}`
  }
  assert.deepEqual(seen, [...newest, key.id])

  const ofStatus = async (status: string): Promise<string[]> =>
    (await call('GET', `/api-keys?status=${status}`, undefined, secret)).json.api_keys.map(
      (one: any) => one.id,
    )
  await call('DELETE', `/api-keys/${newest[0]}`, undefined, secret)
  await sql`update api_keys set expires_at = now() where id = ${newest[1]}`.execute(
    gateway.database.db,
  )
  assert.deepEqual(await ofStatus('revoked'), newest.slice(0, 1))
  assert.deepEqual(await ofStatus('expired'), newest.slice(1, 2))
  assert.deepEqual(await ofStatus('active'), [...newest.slice(2), key.id])
  assert.deepEqual(await ofStatus('suspended'), [])
  const amount = { amountNanoBrl: NANO_PER_BRL, reason: 'adjustment', reference: createId() }
  await debit(gateway.database.db, { customerId, ...amount })
  assert.deepEqual(await ofStatus('suspended'), [...newest.slice(2), key.id])
  assert.deepEqual(await ofStatus('revoked'), newest.slice(0, 1))
  assertRestRefusal(await call('GET', '/api-keys?status=gone'), 400, 'invalid_request', /^status/)
})

test("another customer's key is not found by any route, and does not change", async () => {
  const stranger = await seedCustomer(gateway.database.db, { balanceBrl: '1' })
  const path = `/api-keys/${stranger.key.id}`
  const own = await createKey()
  const rowOf = (): Promise<object> =>
    gateway.database.db
      .selectFrom('api_keys')
      .selectAll()
      .where('id', '=', stranger.key.id)
      .executeTakeFirstOrThrow()
  const before = await rowOf()
  for (const answer of [
    await call('GET', path),
    await call('PATCH', path, { name: 'minha agora' }),
    await call('PATCH', path, { budget: null }),
    await call('PATCH', path, {}),
    await call('DELETE', path),
    await call('DELETE', `/api-keys/${createId()}`),
    await call('GET', '/api-keys/none'),
    await call('DELETE', '/api-keys/%00'),
  ])
    assertRestRefusal(answer, 404, 'key_not_found')
  await call('POST', '/api-keys/bulk-revoke', { ids: [own.id, stranger.key.id] })
  assert.deepEqual(await rowOf(), before)
  assert.equal((await call('GET', `/api-keys/${own.id}`)).json.status, 'revoked')
  const listed = (await call('GET', '/api-keys?limit=200')).json.api_keys
  assert.ok(!listed.some((one: any) => one.id === stranger.key.id))
})

test("a team's key reads and changes no keys", async () => {
  const { db } = gateway.database
  const { customerId } = gateway
  const teamId = await seedTeam(db, customerId)
  const input = { customerId, name: 'do time', requestsPerMinute: 100, teamId }
  const { key, secret } = await createApiKey(db, input)
  for (const [method, path, body] of [
    ['GET', '/api-keys'],
    ['POST', '/api-keys', INPUT],
    ['GET', `/api-keys/${key.id}`],
    ['PATCH', `/api-keys/${key.id}`, { budget: null }],
    ['DELETE', `/api-keys/${key.id}`],
    ['POST', '/api-keys/bulk-revoke', { all: true }],
  ] as const)
    assertRestRefusal(await call(method, path, body, secret), 403, 'forbidden')
  const shown = (await call('GET', `/api-keys/${key.id}`)).json
  assert.deepEqual([shown.team_id, shown.status], [teamId, 'active'])
})

test('an update of a key changes the given fields only, and null removes a limit', async () => {
  const made = await createKey({
    ip_allowlist: ['127.0.0.1'],
    tokens_per_minute: 100_000,
    budget: { limit_usd: 5, period: 'month' },
    expires_at: '2099-01-01T00:00:00Z',
  })
  const { key: secret, ...shown } = made
  const path = `/api-keys/${made.id}`
  assert.equal((await askChat(gateway.node.baseUrl, secret, sound())).status, 200)
  await untilNoHoldIsOpen(gateway.database)
  const { spent_usd } = (await call('GET', path)).json.budget
  assert.ok(spent_usd > 0)

  const same = { ...shown, last_used_at: undefined }
  const patch = async (body: object): Promise<object> => {
    const { status, text, json } = await call('PATCH', path, body)
    assert.equal(status, 200, text)
    return { ...json, last_used_at: undefined }
  }
  const budget = { limit_usd: 2.000001, period: 'day', spent_usd }
  assert.deepEqual(await patch({}), { ...same, budget: { ...shown.budget, spent_usd } })
  assert.deepEqual(await patch({ budget: { limit_usd: 2.000001, period: 'day' } }), {
    ...same,
    budget,
  })
  assert.deepEqual(await patch({ name: 'outro nome', requests_per_minute: 5 }), {
    ...same,
    budget,
    name: 'outro nome',
    requests_per_minute: 5,
  })
  const lifted = { ip_allowlist: null, tokens_per_minute: null, budget: null, expires_at: null }
  assert.deepEqual(await patch(lifted), {
    ...same,
    ...lifted,
    name: 'outro nome',
    requests_per_minute: 5,
  })
  for (const body of [{ name: null }, { name: 'ab' }])
    assertRestRefusal(await call('PATCH', path, body), 400, 'name must be 3-50 chars')
  for (const body of [{ model_ids: [] }, { model_ids: ['none'] }])
    assertRestRefusal(await call('PATCH', path, body), 400, 'no_valid_models')
  assertRestRefusal(
    await call('PATCH', path, { requests_per_minute: null }),
    400,
    'invalid_request',
  )

  await call('DELETE', path)
  assertRestRefusal(await call('PATCH', path, { expires_at: null }), 409, 'key_revoked')
  assert.deepEqual(
    (await actsOn(made.id)).map(({ action, details }) => {
      // The audit proves the limits of a key from these.
      const { limits: _limits, ...others } = details ?? {}
      return [action, details && others]
    }),
    [
      ['api_key.created', { scope: 'calls' }],
      ['api_key.changed', { fields: ['budget'] }],
      ['api_key.changed', { fields: ['name', 'requests_per_minute'] }],
      ['api_key.changed', { fields: Object.keys(lifted) }],
      ['api_key.revoked', null],
    ],
  )
  await assertAudit(gateway.database)
})

test('the audit log has the creation and revocation of a key: actor, address and calling key', async () => {
  const { id } = await createKey()
  await call('DELETE', `/api-keys/${id}`)
  const { rows } = await sql<{ id: string }>`
    select id from api_keys where secret_hash = ${sha256(gateway.secret)}`.execute(
    gateway.database.db,
  )
  for (const act of await actsOn(id)) {
    assert.deepEqual(
      [act.actor_kind, act.actor_id, act.customer_id, act.api_key_id, act.ip],
      ['customer', gateway.customerId, gateway.customerId, rows[0]?.id, '127.0.0.1'],
    )
  }
})

test('an act that cannot be recorded does not happen', async () => {
  const { db } = gateway.database
  const { id } = await createKey({ name: 'sem registro' })
  const countKeys = async (): Promise<number> =>
    (await db.selectFrom('api_keys').select('id').execute()).length
  const before = await countKeys()
  await sql`alter table audit_log add constraint closed check (false) not valid`.execute(db)
  try {
    for (const answer of [
      await call('POST', '/api-keys', INPUT),
      await call('PATCH', `/api-keys/${id}`, { name: 'com outro nome' }),
      await call('DELETE', `/api-keys/${id}`),
    ])
      assertRestRefusal(answer, 500, 'internal_error')
  } finally {
    await sql`alter table audit_log drop constraint closed`.execute(db)
  }
  assert.equal(await countKeys(), before)
  const shown = (await call('GET', `/api-keys/${id}`)).json
  assert.deepEqual([shown.name, shown.status], ['sem registro', 'active'])
})

test('the last use of a key is shown seconds later, for model calls and others', async () => {
  const [caller, reader, idle] = [await createKey(), await createKey(), await createKey()]
  const startedAt = Date.now()
  await askChat(gateway.node.baseUrl, caller.key, sound())
  await call('GET', '/usage', undefined, reader.key)
  for (const { id } of [caller, reader]) {
    let usedAt: string | null = null
    for (const deadline = Date.now() + 30_000; usedAt === null; await sleep(100)) {
      assert.ok(Date.now() < deadline)
      usedAt = (await call('GET', `/api-keys/${id}`)).json.last_used_at
    }
    const ms = Date.parse(usedAt)
    assert.ok(ms >= startedAt && ms <= Date.now())
  }
  assert.equal((await call('GET', `/api-keys/${idle.id}`)).json.last_used_at, null)
})
