/** An operator's read-only key: what it reads, who makes it, and when it ends. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import { loadConfig } from '../../src/app/config/config.ts'
import { createApiKey } from '../../src/customers/api-keys.ts'
import { listRoutes } from '../../src/app/resources.ts'
import { createId } from '../../src/platform/lib/ids.ts'
import { ask, credentialHeaders, sound, type Asked } from '../harness/ask.ts'
import { startGateway, type TestGateway } from '../harness/gateway.ts'
import { enableFactor, openOperatorSession, openSession } from '../harness/open-session.ts'
import { runCli } from '../harness/run-cli.ts'
import { seedCustomer } from '../harness/test-database.ts'

const EXPORT = '/admin/audit-log/export.csv'
const INPUT = { name: 'auditoria', scope: 'operator' }
const DAY_MS = 86_400_000

let gateway: TestGateway
let at: Parameters<typeof openSession>[0]

before(async () => {
  gateway = await startGateway({
    ADMIN_EMAILS: Array.from({ length: 20 }, (_, index) => `admin${index}@x.example`).join(),
    SUPPORT_EMAILS: 'atende@x.example',
  })
  at = { db: gateway.database.db, dataDir: gateway.node.dataDir }
})

after(() => gateway.stop())

interface Operator {
  readonly customerId: string
  readonly email: string
  readonly session: string
}

let admins = 0

async function newOperator(email = `admin${admins++}@x.example`): Promise<Operator> {
  const { customerId } = await seedCustomer(at.db, { balanceBrl: '10' })
  const session = await openOperatorSession(at, customerId, email)
  await enableFactor(at.db, customerId)
  return { customerId, email, session }
}

function call(secret: string, method: string, path: string, body?: unknown): Promise<Asked> {
  return ask(gateway.node.baseUrl, path, { secret, method, body })
}

async function makeKey({ session }: Operator, more: object = {}): Promise<any> {
  const made = await call(session, 'POST', '/api-keys', { ...INPUT, ...more })
  assert.equal(made.status, 201, made.text)
  return made.json
}

async function assertRefused(answer: Promise<Asked>, status: number, error: string): Promise<void> {
  const { status: given, json, text } = await answer
  assert.deepEqual([given, json?.error?.code ?? json?.error], [status, error], text)
}

test('an operator makes a key in a session with a second factor, and the key exports the audit log', async () => {
  const operator = await newOperator()
  const made = await makeKey(operator)
  assert.deepEqual([made.scope, made.model_ids], ['operator', []])
  const days = (Date.parse(made.expires_at) - Date.now()) / DAY_MS
  assert.ok(days > 29.9 && days <= 30, made.expires_at)
  const exported = await call(made.key, 'GET', EXPORT)
  assert.equal(exported.status, 200, exported.text)
  assert.ok(exported.text.includes(`;api_key.created;${operator.customerId};${made.id};`))
  await call(operator.session, 'DELETE', `/api-keys/${made.id}`)
  const { rows } =
    await sql`select action, api_key_id = ${made.id} as "isByKey", details ->> 'scope' as scope
    from audit_log where subject_id = ${made.id} or api_key_id = ${made.id} order by created_at`.execute(
      at.db,
    )
  assert.deepEqual(rows, [
    { action: 'api_key.created', isByKey: null, scope: 'operator' },
    { action: 'audit_log.exported', isByKey: true, scope: null },
    { action: 'api_key.revoked', isByKey: null, scope: null },
  ])
})

test("of all routes an operator's key has the reads of its owner's role, and nothing else", async () => {
  const { key } = await makeKey(await newOperator('atende@x.example'))
  let read = 0
  for (const { method: methods, url, access } of listRoutes(loadConfig({ DATA_DIR: '.' }, '.'))) {
    if (access === 'public' || access === 'signed' || access === 'machine') continue
    for (const method of [methods].flat()) {
      const answer = await fetch(
        new URL(url.replaceAll(/:\w+/g, createId()), gateway.node.baseUrl),
        {
          method,
          redirect: 'manual',
          headers: { ...credentialHeaders(key), 'content-type': 'application/json' },
          ...(method === 'GET' ? {} : { body: '{}' }),
        },
      )
      await answer.body?.cancel()
      const isRefused = answer.status === 403 || answer.status === 401
      assert.equal(isRefused, access !== 'support' || method !== 'GET', `${method} ${url}`)
      if (!isRefused) read += 1
    }
  }
  assert.ok(read >= 5, `${read} were read`)
})

test("an operator's key calls no model, by its secret, by its id, or in a run of a prompt", async () => {
  const operator = await newOperator()
  const { id, key } = await makeKey(operator)
  await assertRefused(
    call(key, 'POST', '/chat/completions', sound()),
    403,
    'key_scope_insufficient',
  )
  const byId = { secret: operator.session, headers: { 'x-svc-api-key-id': id }, body: sound() }
  await assertRefused(
    ask(gateway.node.baseUrl, '/chat/completions', byId),
    403,
    'key_scope_insufficient',
  )
  const prompt = await call(operator.session, 'POST', '/me/prompts', { name: 'Olá', body: 'Olá' })
  const run = { api_key: key, model: 'sandbox-chat' }
  const ran = await call(operator.session, 'POST', `/me/prompts/${prompt.json.id}/run`, run)
  assert.equal(ran.status, 403, ran.text)
})

test("only an operator's session with a second factor and a recent proof makes an operator's key, and no key becomes one", async () => {
  const operator = await newOperator()
  const { customerId } = operator
  const input = { customerId, name: 'chave', requestsPerMinute: 100 }
  const manage = (await createApiKey(at.db, { ...input, scope: 'manage' })).secret
  const own = await makeKey(operator)
  const customer = (await seedCustomer(at.db, { balanceBrl: '1' })).customerId
  const make = (secret: string) => call(secret, 'POST', '/api-keys', INPUT)
  await assertRefused(make(manage), 403, 'forbidden')
  await assertRefused(make(own.key), 403, 'key_scope_insufficient')
  await assertRefused(make(await openSession(at, customer, { hasFactor: true })), 403, 'forbidden')
  await assertRefused(make(await openSession(at, customerId)), 403, 'second_factor_required')
  const stale = await openSession(at, customerId, { hasFactor: true, isProved: false })
  await assertRefused(make(stale), 403, 'proof_needed')
  const byCommand = ['key', 'create', customerId, '--name', 'chave', '--scope', 'operator']
  const ran = await runCli(byCommand, { DATABASE_URL: gateway.database.databaseUrl })
  assert.match(ran.stderr, /--scope/)

  const plain = await call(operator.session, 'POST', '/api-keys', { name: 'abc', model_ids: ['*'] })
  for (const [id, change] of [
    [plain.json.id, { scope: 'operator' }],
    [own.id, { scope: 'manage' }],
    [own.id, { expires_at: null }],
    [own.id, { model_ids: null }],
  ] as const)
    await assertRefused(
      call(operator.session, 'PATCH', `/api-keys/${id}`, change),
      400,
      'invalid_request',
    )
})

test("an operator's key is valid for 90 days at most, also where the database is asked", async () => {
  const operator = await newOperator()
  const after = (days: number): string => new Date(Date.now() + days * DAY_MS).toISOString()
  const long = call(operator.session, 'POST', '/api-keys', { ...INPUT, expires_at: after(90.1) })
  await assertRefused(long, 400, 'invalid_request')
  const longest = await makeKey(operator, { expires_at: after(89.9), model_ids: ['sandbox-chat'] })
  assert.deepEqual(longest.model_ids, [])
  for (const expiresAt of [null, after(92)])
    await assert.rejects(
      sql`update api_keys set expires_at = ${expiresAt} where id = ${longest.id}`.execute(at.db),
      /api_keys_operator_expires/,
    )
})

/** Each behind the back of the node, which is not notified. */
const ENDS: Readonly<Record<string, (keyId: string, operator: Operator) => Promise<unknown>>> = {
  'is revoked': (id) => sql`update api_keys set revoked_at = now() where id = ${id}`.execute(at.db),
  expires: (id) => sql`update api_keys set expires_at = now() where id = ${id}`.execute(at.db),
  'is paused': (id) =>
    sql`update api_keys set paused_at = now(), paused_reason = 'owner' where id = ${id}`.execute(
      at.db,
    ),
  'has an owner who is no operator': (_, { customerId }) =>
    sql`update customers set email = ${`${customerId}@x.example`} where id = ${customerId}`.execute(
      at.db,
    ),
  'has an owner who is suspended': (_, { customerId }) =>
    sql`update customers set suspended_at = now(), suspended_reason = 'operator' where id = ${customerId}`.execute(
      at.db,
    ),
  'has an owner without a second factor': (_, { email }) =>
    sql`delete from sign_in_second_factors f using sign_in_users u
      where u.id = f.user_id and u.email = ${email}`.execute(at.db),
}

for (const [what, end] of Object.entries(ENDS))
  test(`an operator's key that ${what} reads nothing from this moment on`, async () => {
    const operator = await newOperator()
    const { id, key } = await makeKey(operator)
    assert.equal((await call(key, 'GET', '/admin/customers')).status, 200)
    await end(id, operator)
    const refused = await call(key, 'GET', EXPORT)
    assert.equal(refused.status, 403, refused.text)
  })

test("a passkey is a second factor of the owner of an operator's key, too", async () => {
  const operator = await newOperator()
  const { key } = await makeKey(operator)
  await sql`with gone as (delete from sign_in_second_factors f using sign_in_users u
      where u.id = f.user_id and u.email = ${operator.email} returning f.user_id)
    insert into sign_in_passkeys (id, user_id, name, public_key, credential_id, counter, device_type, is_backed_up)
    select gen_random_uuid(), user_id, 'telefone', '', user_id::text, 0, 'x', false from gone`.execute(
    at.db,
  )
  assert.equal((await call(key, 'GET', EXPORT)).status, 200)
})
