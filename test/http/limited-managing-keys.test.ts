// deep: an attack
/**
 * A key that manages within limits, and whom it may let spend beyond them. Each act would be followed by a thief's own:
 * an invited accomplice makes a key without limits, a raised cap or a resumed key is spent.
 */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { loadConfig } from '../../src/app/config/config.ts'
import { listRoutes } from '../../src/app/resources.ts'
import { createId } from '../../src/platform/lib/ids.ts'
import { createApiKey, type ApiKeyInput } from '../../src/customers/api-keys.ts'
import { createKey, pauseKey } from '../../src/customers/key-acts.ts'
import { OPERATOR } from '../../src/platform/audit-log/audited.ts'
import { NANO_PER_BRL, parseUsd } from '../../src/platform/lib/money.ts'
import { ask, type Asked } from '../harness/ask.ts'
import { startGateway, type TestGateway } from '../harness/gateway.ts'
import { openSession } from '../harness/open-session.ts'
import { seedTeam } from '../harness/seed-team.ts'

const ACCOMPLICE = 'comparsa@example.com'
const LIMITS: Readonly<Record<string, Partial<ApiKeyInput>>> = {
  budget: { budget: { limitPicoUsd: parseUsd('1') as bigint, period: 'day' } },
  caps: { dayLimitNanoBrl: NANO_PER_BRL },
  model_ids: { modelIds: ['sandbox-chat'] },
  ip_allowlist: { ipAllowlist: ['127.0.0.0/8'] },
  tokens_per_minute: { tokensPerMinute: 1_000 },
  calls_at_once: { callsAtOnce: 1 },
  expires_at: { expiresAt: new Date(Date.now() + 600_000) },
  shield: { shield: { action: 'block', uuids: 'always' } },
}

let gateway: TestGateway
let teamId: string
/** Has no limits, and is paused. */
let pausedId: string
before(async () => {
  gateway = await startGateway()
  const { database, customerId } = gateway
  teamId = await seedTeam(database.db, customerId, { limitNanoBrl: NANO_PER_BRL })
  const input = { customerId, name: 'pausada', requestsPerMinute: 1_000 }
  const made = await createKey(database.db, OPERATOR, input)
  assert.equal(made.kind, 'created')
  if (made.kind === 'created') pausedId = made.key.id
  await pauseKey(database.db, OPERATOR, { customerId, keyId: pausedId })
})
after(() => gateway.stop())

function call(secret: string, method: string, path: string, body?: object): Promise<Asked> {
  return ask(gateway.node.baseUrl, path, { secret, method, body })
}

const ACTS: readonly [string, (secret: string) => Promise<Asked>][] = [
  [
    'invites nobody',
    (secret) =>
      call(secret, 'POST', `/me/teams/${teamId}/invitations`, {
        email: ACCOMPLICE,
        role: 'member',
      }),
  ],
  [
    'changes no cap of a team',
    (secret) => call(secret, 'PATCH', `/me/teams/${teamId}`, { monthly_cap_brl: null }),
  ],
  [
    'resumes no key that may more',
    (secret) => call(secret, 'POST', `/api-keys/${pausedId}/resume`),
  ],
]

for (const [field, limit] of Object.entries(LIMITS))
  test(`a managing key with a limit (${field}) invites nobody, changes no cap of a team, resumes no key that may more, waives no balance`, async () => {
    const { database, customerId } = gateway
    const input = { customerId, name: field, requestsPerMinute: 1_000, scope: 'manage' as const }
    const { secret } = await createApiKey(database.db, { ...input, ...limit })
    const { email, name: owner } = await database.db
      .selectFrom('customers')
      .select(['email', 'name'])
      .where('id', '=', customerId)
      .executeTakeFirstOrThrow()
    const waiver = { confirm: email ?? owner, waive_balance: true }
    for (const [name, act] of [
      ...ACTS,
      ['waives no balance', () => call(secret, 'DELETE', '/me', waiver)] as const,
    ]) {
      const { status, json, text } = await act(secret)
      assert.deepEqual([status, json?.error], [403, 'beyond_own_key'], `${name}: ${text}`)
      assert.match(json.details, new RegExp(`^${field}: `))
    }
  })

test('a key without limits, and a login session, still do each of these acts', async () => {
  const { database, node, secret, customerId } = gateway
  for (const [name, act] of ACTS) {
    const { status, text } = await act(secret)
    assert.ok(status < 300, `${name}: ${status} ${text}`)
  }
  await database.db.deleteFrom('team_invitations').where('team_id', '=', teamId).execute()
  await pauseKey(database.db, OPERATOR, { customerId, keyId: pausedId })
  const session = await openSession({ db: database.db, dataDir: node.dataDir }, customerId)
  for (const [name, act] of ACTS) {
    const { status, text } = await act(session)
    assert.ok(status < 300, `${name}: ${status} ${text}`)
  }
})

test('a managing key with any limit does none of the acts that outlive it or reach beyond the limit', async () => {
  const { database, customerId } = gateway
  const acts = listRoutes(loadConfig({ DATA_DIR: '.' }, '.')).flatMap(({ method, url, access }) =>
    access === 'manage' ? [[String(method), url] as const] : [],
  )
  assert.ok(acts.length >= 18)
  for (const [field, limit] of Object.entries(LIMITS)) {
    const input = { customerId, name: field, requestsPerMinute: 1_000, scope: 'manage' as const }
    const { secret } = await createApiKey(database.db, { ...input, ...limit })
    for (const [method, url] of acts) {
      const path = url.replace('/v1', '').replaceAll(/:\w+/g, createId())
      const { status, json, text } = await call(secret, method, path, {})
      assert.deepEqual([status, json?.error], [403, 'beyond_own_key'], `${method} ${url}: ${text}`)
      assert.match(json.details, new RegExp(`^${field}: `))
    }
    const longer = await call(secret, 'PUT', '/me/preferences', { stored_responses_days: 30 })
    assert.deepEqual([longer.status, longer.json?.error], [403, 'beyond_own_key'], longer.text)
    const other = await call(secret, 'PUT', '/me/preferences', { weekly_digest_enabled: true })
    assert.equal(other.status, 200, other.text)
  }
  const { secret } = await createApiKey(database.db, {
    customerId,
    name: 'com modelos',
    requestsPerMinute: 1_000,
    scope: 'manage',
    modelIds: ['sandbox-chat'],
  })
  const made = await call(secret, 'POST', '/api-keys', {
    name: 'menor',
    model_ids: ['sandbox-chat'],
    requests_per_minute: 10,
  })
  assert.equal(made.status, 201, made.text)
})
