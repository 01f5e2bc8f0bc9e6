// deep: every route with every kind of caller
/** Who may call what: every route with every kind of caller, and what a leaked key cannot do. */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, test } from 'node:test'
import Fastify from 'fastify'
import { loadConfig } from '../../src/app/config/config.ts'
import { createApiKey, type ApiKeyInput } from '../../src/customers/api-keys.ts'
import { renderAccessMatrix } from '../../src/site/docs/access-matrix.ts'
import { listRoutes } from '../../src/app/resources.ts'
import { CALLERS, hasAccess, type Access, type CallerKind } from '../../src/http/rest/access.ts'
import { addRoutes, type Route } from '../../src/http/rest/route.ts'
import { createId } from '../../src/platform/lib/ids.ts'
import { parseUsd } from '../../src/platform/lib/money.ts'
import { ask, credentialHeaders, sound, type Asked } from '../harness/ask.ts'
import { APPROVED, cardBody } from '../harness/cards.ts'
import { startGateway } from '../harness/gateway.ts'
import { enableFactor, openOperatorSession, openSession } from '../harness/open-session.ts'
import { TAX_ID } from '../harness/seed-person.ts'
import { seedCustomer } from '../harness/test-database.ts'

const EMAILS = {
  support: 'atende@admin.example',
  finance: 'caixa@admin.example',
  admin: 'chefe@admin.example',
}
const gateway = await startGateway({
  SUPPORT_EMAILS: EMAILS.support,
  // With several roles, the highest counts.
  FINANCE_EMAILS: `${EMAILS.finance}, ${EMAILS.admin}`,
  ADMIN_EMAILS: `${EMAILS.admin},${EMAILS.admin.replace('chefe', 'dona')}`,
  WEBHOOKS_ALLOW_PRIVATE: 'true',
})
after(() => gateway.stop())
const { db } = gateway.database
const { baseUrl } = gateway.node
const routes = listRoutes(loadConfig({ DATA_DIR: '.' }, '.'))
const at = { db, dataDir: gateway.node.dataDir }

interface Owner {
  readonly customerId: string
  /** Of a login session whose user proved their identity just now. */
  readonly session: string
}

async function newOwner(email?: string): Promise<Owner> {
  const { customerId } = await seedCustomer(db, { balanceBrl: '10' })
  if (email !== undefined)
    await db.updateTable('customers').set({ email }).where('id', '=', customerId).execute()
  return { customerId, session: await openSession(at, customerId) }
}

async function newOperator(role: keyof typeof EMAILS): Promise<Owner> {
  const { customerId } = await seedCustomer(db, { balanceBrl: '0' })
  return { customerId, session: await openOperatorSession(at, customerId, EMAILS[role]) }
}

async function keyOf({ customerId }: Owner, more: Partial<ApiKeyInput> = {}): Promise<string> {
  const input = { customerId, name: 'teste', requestsPerMinute: 1_000, ...more }
  return (await createApiKey(db, input)).secret
}

function call(secret: string, method: string, path: string, body?: unknown): Promise<Asked> {
  return ask(baseUrl, path, { secret, method, body })
}

function assertRefused(answer: Asked, error: string, what = ''): void {
  assert.deepEqual([answer.status, answer.json?.error], [403, error], `${what}: ${answer.text}`)
}

/** A kind of refusal that only the access explains. */
function isRefusedFor(access: Access, { status, json }: { status: number; json: any }): boolean {
  if (access === 'session') return status === 401
  // Model calls have formats of errors of their own.
  const isOfCall = access === 'calls' && typeof json?.error === 'object'
  return (
    status === 403 &&
    (isOfCall || ['key_scope_insufficient', 'beyond_own_key', 'forbidden'].includes(json?.error))
  )
}

async function request(secret: string, method: string, url: string): Promise<any> {
  const answer = await fetch(new URL(url.replaceAll(/:\w+/g, createId()), baseUrl), {
    method,
    redirect: 'manual',
    headers: { ...credentialHeaders(secret), 'content-type': 'application/json' },
    // No route knows the field, so what is allowed is refused for its body, and changes nothing.
    ...(method === 'GET' ? {} : { body: '{"no_such_field":1}' }),
  })
  const text = await answer.text()
  return { status: answer.status, json: text.startsWith('{') ? JSON.parse(text) : undefined }
}

test('every route answers every kind of caller as in the access matrix', async () => {
  const admin = await newOperator('admin')
  await enableFactor(db, admin.customerId)
  const expiresAt = new Date(Date.now() + 600_000)
  const credential: Record<CallerKind, string> = {
    calls: await keyOf(await newOwner(), { scope: 'calls' }),
    account: await keyOf(await newOwner(), { scope: 'account' }),
    limited: await keyOf(await newOwner(), { scope: 'manage', callsAtOnce: 5 }),
    manage: await keyOf(await newOwner(), { scope: 'manage' }),
    operator: await keyOf(admin, { scope: 'operator', expiresAt }),
    session: (await newOwner()).session,
    support: (await newOperator('support')).session,
    finance: (await newOperator('finance')).session,
    admin: admin.session,
  }
  // The deletion of the account takes no fields, so it comes last.
  const ordered = routes.toSorted((one, other) => rank(one) - rank(other))
  let refused = 0
  for (const { method, url, access } of ordered) {
    // They take neither keys nor login sessions.
    if (access === 'signed' || access === 'machine') continue
    for (const caller of CALLERS) {
      const by = [method].flat()[0] ?? ''
      const answer = await request(credential[caller], by, url)
      const isRefused = isRefusedFor(access, answer)
      const what = `${String(method)} ${url} by ${caller}: ${answer.status} ${answer.json?.error}`
      if (access !== 'public') assert.equal(isRefused, !hasAccess(caller, access, by), what)
      else assert.notEqual(answer.json?.error, 'key_scope_insufficient', what)
      if (isRefused) refused += 1
    }
  }
  assert.ok(refused > 150, `${refused} were refused`)
})

function rank({ method, url }: Pick<Route<never>, 'method' | 'url'>): number {
  return method === 'DELETE' && url === '/v1/me' ? 1 : 0
}

test("operator routes refuse every customer's key and every session without a second factor", async () => {
  const { customerId } = await seedCustomer(db, { balanceBrl: '0', scope: 'manage' })
  const inFull = await openOperatorSession(at, customerId, EMAILS.admin.replace('chefe', 'dona'))
  const owner = { customerId, session: await openSession(at, customerId) }
  const secret = await keyOf(owner, { scope: 'manage' })
  const operators = routes.filter(({ url }) => url.startsWith('/v1/admin/'))
  assert.ok(operators.length >= 25)
  for (const { method, url } of operators) {
    const byKey = await request(secret, String(method), url)
    assert.deepEqual([byKey.status, byKey.json.error], [403, 'forbidden'], url)
    const bySession = await request(owner.session, String(method), url)
    assert.deepEqual([bySession.status, bySession.json.error], [403, 'second_factor_required'], url)
  }
  assert.equal((await call(inFull, 'GET', '/admin/customers')).status, 200)
  const session = (await call(owner.session, 'GET', '/session')).json
  assert.deepEqual(
    [session.is_admin, session.operator_role, session.needs_second_factor],
    [true, 'admin', true],
  )
})

test('the access matrix of test/acceptance/specification.md equals that of the routes (`npm run docs:access`)', async () => {
  const page = await readFile(join(import.meta.dirname, '../acceptance/specification.md'), 'utf8')
  assert.ok(page.endsWith(renderAccessMatrix(routes)))
})

test('a route without a known access cannot be registered', async () => {
  const route = { method: 'GET', url: '/v1/new', schema: {} } as unknown as Route<never>
  for (const access of [undefined, 'customer', 'toString']) {
    const routes = [{ ...route, access } as Route<never>]
    assert.throws(() => addRoutes(Fastify(), routes, () => ({ handler: () => null })), /access/)
  }
})

const LIMITS: Readonly<Record<string, Partial<ApiKeyInput>>> = {
  models: { modelIds: ['sandbox-chat'] },
  addresses: { ipAllowlist: ['127.0.0.1'] },
  'a budget': { budget: { limitPicoUsd: parseUsd('0.01') as bigint, period: 'lifetime' } },
  'an expiry': { expiresAt: new Date(Date.now() + 600_000) },
}

for (const [limit, input] of Object.entries(LIMITS))
  test(`a key limited in ${limit} calls models and reads GET /usage, and does nothing else`, async () => {
    const owner = await newOwner()
    const secret = await keyOf(owner, input)
    const { json } = await call(owner.session, 'GET', '/api-keys')
    const own = json.api_keys[0]
    assert.equal(own.scope, 'calls')
    const card = createId()
    const acts: [method: string, path: string, body?: unknown][] = [
      ['PATCH', `/api-keys/${own.id}`, { budget: null, expires_at: null, ip_allowlist: null }],
      ['POST', '/api-keys', { name: 'sem limites', model_ids: ['sandbox-chat', 'sandbox-long'] }],
      ['POST', '/topups', { amount: 5_000, method: 'card', payment_method_id: card }],
      ['PUT', '/topups/automatic', { threshold_brl: 1, amount_brl: 20, payment_method_id: card }],
      ['PUT', '/me/shield', { action: 'off' }],
      ['POST', '/webhooks', { url: 'https://hooks.example.com/x' }],
      ['POST', '/api-keys/bulk-revoke', { all: true }],
      ['DELETE', `/api-keys/${json.api_keys[1].id}`],
      ['DELETE', '/me'],
    ]
    for (const [method, path, body] of acts)
      assertRefused(await call(secret, method, path, body), 'key_scope_insufficient', path)
    assert.equal((await call(secret, 'GET', '/usage')).status, 200)
    assert.equal((await call(secret, 'POST', '/chat/completions', sound())).status, 200)
    assert.deepEqual((await call(owner.session, 'GET', '/api-keys')).json.api_keys.length, 2)
  })

test('a key without limits may do all that the specification lists for a key, and nothing else', async () => {
  const owner = await newOwner('dona@exemplo.com.br')
  const secret = await keyOf(owner)
  const other = (await call(owner.session, 'GET', '/api-keys')).json.api_keys[1].id
  const profile = { full_name: 'Dona da Conta', cpf_cnpj: TAX_ID }
  const webhook = await call(owner.session, 'POST', '/webhooks', {
    url: 'http://127.0.0.1:9999/never',
  })
  assert.equal(webhook.status, 201, webhook.text)
  const prompt = await call(secret, 'POST', '/me/prompts', { name: 'Olá', body: 'Olá, {{nome}}' })
  const promptPath = `/me/prompts/${prompt.json.id}`
  const listed: [method: string, path: string, status: number, body?: unknown][] = [
    ['POST', '/chat/completions', 200, sound()],
    ...[
      '/usage',
      '/usage/export.csv',
      '/usage/export.json',
      '/usage/by-key',
      '/usage/rate-limit',
      '/me/usage-summary',
      '/me/dashboard-stats',
      '/me/runway',
      '/me/shield',
      '/me/shield/report',
      '/me/notifications',
      '/me/export',
      '/me/recommendations',
      '/me/referrals',
      '/me/teams',
      '/me/alerts',
      '/me/refunds',
      '/me/sessions',
      '/me/prompts',
      promptPath,
      `${promptPath}/versions`,
      `${promptPath}/runs`,
    ].map((path): [string, string, number] => ['GET', path, 200]),
    ['PUT', '/me/profile', 200, profile],
    ['GET', '/me/profile', 200],
    ['PUT', '/me/preferences', 200, { timezone: 'America/Manaus' }],
    ['POST', '/me/teams', 201, { name: 'Produto' }],
    [
      'POST',
      '/me/alerts',
      201,
      { name: 'Aviso', kind: 'balance_below', threshold: 5, channels: ['email'] },
    ],
    ['POST', '/me/refunds', 409, { amount: 5 }],
    ['PATCH', promptPath, 200, { body: 'Oi, {{nome}}' }],
    ['POST', `${promptPath}/clone`, 201],
    [
      'POST',
      `${promptPath}/run`,
      200,
      { api_key: secret, values: { nome: 'Ana' }, model: 'sandbox-chat' },
    ],
    ['DELETE', promptPath, 200],
    ['POST', `/webhooks/${webhook.json.id}/rotate-secret`, 200],
    ['POST', `/webhooks/attempts/${createId()}/replay`, 404],
    ['POST', '/payment-methods', 201, cardBody(APPROVED)],
    ['POST', '/topups', 201, { amount: 20, method: 'pix' }],
    ['DELETE', `/payment-methods/${createId()}`, 404],
    ['DELETE', `/api-keys/${other}`, 200],
    ['POST', '/api-keys/bulk-revoke', 200, { ids: [other] }],
  ]
  for (const [method, path, status, body] of listed) {
    const answer = await call(secret, method, path, body)
    assert.equal(answer.status, status, `${method} ${path}: ${answer.text}`)
  }
  const cards = await call(secret, 'GET', '/payment-methods')
  const card = cards.json.payment_methods[0].id
  const beyond: [method: string, path: string, body?: unknown][] = [
    ['POST', '/topups', { amount: 20, method: 'card', payment_method_id: card }],
    ['PUT', '/topups/automatic', { threshold_brl: 1, amount_brl: 20, payment_method_id: card }],
    ['POST', '/api-keys', { name: 'mais uma', model_ids: ['sandbox-chat'] }],
    ['POST', '/webhooks', { url: 'https://hooks.example.com/x' }],
    ['DELETE', '/me'],
  ]
  for (const [method, path, body] of beyond)
    assertRefused(await call(secret, method, path, body), 'key_scope_insufficient', path)
})

const INPUT = { name: 'nova chave', model_ids: ['sandbox-chat'] }

test('only a session with a recent proof of identity can grant the scope manage', async () => {
  const owner = await newOwner()
  const stale = await openSession(at, owner.customerId, { isProved: false })
  const key = await keyOf(owner, { scope: 'manage' })
  for (const secret of [stale, key])
    assertRefused(
      await call(secret, 'POST', '/api-keys', { ...INPUT, scope: 'manage' }),
      'proof_needed',
    )
  const plain = await call(stale, 'POST', '/api-keys', INPUT)
  assert.deepEqual([plain.status, plain.json.scope], [201, 'calls'])
  const path = `/api-keys/${plain.json.id}`
  for (const secret of [stale, key])
    assertRefused(await call(secret, 'PATCH', path, { scope: 'manage' }), 'proof_needed')
  const made = await call(owner.session, 'POST', '/api-keys', { ...INPUT, scope: 'manage' })
  assert.deepEqual([made.status, made.json.scope], [201, 'manage'], made.text)
  const raised = await call(owner.session, 'PATCH', path, { scope: 'manage' })
  assert.deepEqual([raised.status, raised.json.scope], [200, 'manage'], raised.text)
  // Its limits too are the owner's to change.
  assertRefused(await call(stale, 'PATCH', path, { requests_per_minute: 10_000 }), 'proof_needed')
})

test('a key can neither create nor change a key with more rights, nor change itself', async () => {
  const owner = await newOwner()
  const own = {
    name: 'a própria',
    scope: 'manage',
    modelIds: ['sandbox-chat'],
    ipAllowlist: ['127.0.0.0/24', '2001:db8::/48'],
    requestsPerMinute: 60,
    expiresAt: new Date(Date.now() + 600_000),
  } as const
  const secret = await keyOf(owner, own)
  const within = {
    name: 'menor',
    model_ids: ['sandbox-chat'],
    ip_allowlist: ['127.0.0.0/25', '2001:db8:0:1::/64'],
    requests_per_minute: 60,
    tokens_per_minute: 1_000,
    calls_at_once: 2,
    expires_at: own.expiresAt.toISOString(),
  }
  const made = await call(secret, 'POST', '/api-keys', within)
  assert.equal(made.status, 201, made.text)
  const excesses: Record<string, object> = {
    model_ids: { model_ids: ['sandbox-chat', 'sandbox-long'] },
    ip_allowlist: { ip_allowlist: ['127.0.0.0/23'] },
    requests_per_minute: { requests_per_minute: 61 },
    expires_at: { expires_at: null },
  }
  const path = `/api-keys/${made.json.id}`
  for (const [field, excess] of Object.entries(excesses)) {
    const more = await call(secret, 'POST', '/api-keys', { ...within, ...excess })
    assertRefused(more, 'beyond_own_key', field)
    assert.match(more.json.details, new RegExp(`^${field}: `))
    assertRefused(await call(secret, 'PATCH', path, excess), 'beyond_own_key', field)
  }
  for (const addresses of [['2001:db8::/47'], ['::/0'], ['10.0.0.1'], null])
    assertRefused(
      await call(secret, 'PATCH', path, { ip_allowlist: addresses }),
      'beyond_own_key',
      String(addresses),
    )
  assert.equal((await call(secret, 'PATCH', path, { requests_per_minute: 10 })).status, 200)
  // Not even a name, where the other key may more; nor its own.
  await keyOf(owner, { scope: 'account', name: 'maior' })
  const { api_keys: keys } = (await call(owner.session, 'GET', '/api-keys')).json
  const idOf = (name: string): string =>
    keys.find((key: { name: string }) => key.name === name)?.id ?? assert.fail(name)
  const rename = (name: string) =>
    call(secret, 'PATCH', `/api-keys/${idOf(name)}`, { name: 'outra' })
  assertRefused(await rename('maior'), 'beyond_own_key')
  assertRefused(await rename('a própria'), 'proof_needed')
})

test('a key with a limit that several keys would multiply creates no keys', async () => {
  const owner = await newOwner()
  const budget = { limitPicoUsd: parseUsd('1') as bigint, period: 'day' } as const
  const limits = [
    ['budget', { budget }, { budget: { limit_usd: 1, period: 'day' } }],
    ['tokens_per_minute', { tokensPerMinute: 1_000 }, { tokens_per_minute: 1_000 }],
    ['calls_at_once', { callsAtOnce: 2 }, { calls_at_once: 2 }],
  ] as const
  for (const [field, own, asked] of limits) {
    const secret = await keyOf(owner, { scope: 'manage', ...own })
    const made = await call(secret, 'POST', '/api-keys', { ...INPUT, ...asked })
    assertRefused(made, 'beyond_own_key')
    assert.match(made.json.details, new RegExp(`^${field}: `))
  }
})
