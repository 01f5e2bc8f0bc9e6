// deep: every list at its limits
/** Sessions and pages: what a list has where nothing is said, the most and the least that can be asked for, and how many things there may be. */
import { NANO_PER_BRL } from '../../src/platform/lib/money.ts'
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import { createApiKey } from '../../src/customers/api-keys.ts'
import { createCustomer } from '../../src/customers/customers.ts'
import { ensureReferralCode, refer } from '../../src/customers/referrals.ts'
import { addTeamMember, TEAM_MEMBERS_MAX } from '../../src/customers/team-members.ts'
import { insertTeam } from '../../src/customers/teams.ts'
import type { Database } from '../../src/platform/db/open.ts'
import { createId } from '../../src/platform/lib/ids.ts'
import { seedRefusals } from '../harness/seed-refusals.ts'
import { seedUsage } from '../harness/seed-usage.ts'
import { seedCustomer } from '../harness/test-database.ts'
import { crowdForOperators } from './crowd-for-operators.ts'
import { ask, type Asked } from '../harness/ask.ts'
import { openOperatorSession } from '../harness/open-session.ts'
import { startGateway } from '../harness/gateway.ts'
import { operationsOf, readOpenApi } from '../harness/operations.ts'

const ADMIN_EMAIL = 'muitas@admin.example'
const gateway = await startGateway({ ADMIN_EMAILS: ADMIN_EMAIL })
after(() => gateway.stop())
const { db } = gateway.database
const { baseUrl } = gateway.node
const DAY_MS = 86_400_000

/** There is more than a page of everything. */
let crowded: Crowded
before(async () => {
  crowded = await createCrowded()
})

const get = (path: string, secret: string): Promise<Asked> => ask(baseUrl, path, { secret })

test('sessions have the sums of their charges, newest first; a session lists its charges in order', async () => {
  const { customerId, key, secret } = await seedCustomer(db, { balanceBrl: '100' })
  const nowMs = Math.floor(Date.now() / 1000) * 1000 - 60_000
  const use = (sessionId: string, secondsAgo: number, modelId: string, billed: bigint) => ({
    at: new Date(nowMs - secondsAgo * 1000),
    modelId,
    promptTokens: 10,
    completionTokens: 3,
    sessionId,
    billed,
  })
  const [first, , third] = await seedUsage(db, {
    customerId,
    apiKeyId: key.id,
    events: [
      use('uma', 7, 'gpt-4o', 1_000_000_001n),
      use('outra', 5, 'gpt-4o', 1n),
      use('uma', 2, 'claude-haiku-4-5', 2_000_000_000n),
      { ...use('uma', 1, 'gpt-4o', 0n), outcome: 'released' as const },
    ],
  })
  const at = (secondsAgo: number): string => new Date(nowMs - secondsAgo * 1000).toISOString()
  const { text, json } = await get('/me/sessions', secret)
  const models = json.sessions[0].models.toSorted()
  assert.deepEqual(models, ['claude-haiku-4-5', 'gpt-4o'])
  assert.deepEqual(json, {
    days: 30,
    count: 2,
    sessions: [
      {
        session_id: 'uma',
        request_count: 2,
        total_billed_brl: 3.000000001,
        total_prompt_tokens: 20,
        total_completion_tokens: 6,
        total_tokens: 26,
        models,
        first_request_at: at(7),
        last_request_at: at(2),
        duration_ms: 5_000,
      },
      {
        session_id: 'outra',
        request_count: 1,
        total_billed_brl: 0.000000001,
        total_prompt_tokens: 10,
        total_completion_tokens: 3,
        total_tokens: 13,
        models: ['gpt-4o'],
        first_request_at: at(5),
        last_request_at: at(5),
        duration_ms: 0,
      },
    ],
    next_cursor: null,
  })
  assert.match(text, /"total_billed_brl":0\.000000001,/)

  const { events, ...session } = (await get('/me/sessions/uma', secret)).json
  assert.deepEqual(session, {
    session_id: 'uma',
    request_count: 2,
    total_billed_brl: 3.000000001,
    next_cursor: null,
    archived_before: null,
  })
  assert.deepEqual(
    events.map((event: any) => [event.id, event.model_id, event.created_at]),
    [
      [first?.id, 'gpt-4o', at(7)],
      [third?.id, 'claude-haiku-4-5', at(2)],
    ],
  )
  assert.deepEqual(
    [events[0].api_key_id, events[0].prompt_tokens, events[0].completion_tokens],
    [key.id, 10, 3],
  )
})

test("another customer's session is a 404, and an id of more than 80 characters a 400", async () => {
  const owner = await seedCustomer(db, { balanceBrl: '10' })
  const sessionId = 's'.repeat(80)
  await seedUsage(db, {
    customerId: owner.customerId,
    apiKeyId: owner.key.id,
    events: [
      { at: new Date(), modelId: 'gpt-4o', promptTokens: 1, completionTokens: 1, sessionId },
    ],
  })
  assert.equal((await get(`/me/sessions/${sessionId}`, owner.secret)).status, 200)
  for (const [path, secret] of [
    [`/me/sessions/${sessionId}`, gateway.secret],
    ['/me/sessions/nenhuma', owner.secret],
    ['/me/sessions/%00', owner.secret],
  ] as const) {
    const { status, json } = await get(path, secret)
    assert.deepEqual([status, json], [404, { error: 'session_not_found' }], path)
  }
  const long = await get(`/me/sessions/${sessionId}s`, owner.secret)
  assert.deepEqual([long.status, long.json.error], [400, 'invalid_request'])
  assert.deepEqual((await get('/me/sessions', gateway.secret)).json.count, 0)
})

test('the list of sessions covers 30 days, or the requested number', async () => {
  const { customerId, key, secret } = await seedCustomer(db, { balanceBrl: '10' })
  const events = [0, 20, 40, 80, 95].map((daysAgo) => ({
    at: new Date(Date.now() - daysAgo * DAY_MS),
    modelId: 'gpt-4o',
    promptTokens: 1,
    completionTokens: 1,
    sessionId: `s${daysAgo}`,
  }))
  await seedUsage(db, { customerId, apiKeyId: key.id, events })
  const ids = async (query: string): Promise<string[]> => {
    const { json } = await get(`/me/sessions${query}`, secret)
    assert.equal(json.count, json.sessions.length)
    return json.sessions.map((session: any) => session.session_id)
  }
  assert.deepEqual(await ids(''), ['s0', 's20'])
  assert.deepEqual(await ids('?days=1'), ['s0'])
  assert.deepEqual(await ids('?days=60'), ['s0', 's20', 's40'])
  assert.deepEqual(await ids('?days=90'), ['s0', 's20', 's40', 's80'])
  for (const days of ['0', '91', '1.5', 'x', '-1'])
    assert.equal((await get(`/me/sessions?days=${days}`, secret)).status, 400, days)
})

/** As many customers, or acts in the audit log, as there are by then. */
const EVERYBODY = -1
const EVERY_ACT = -2

/** The specification's page sizes, and those of the lists that it names only by the way. */
const PAGES: readonly [
  operation: string,
  field: string,
  byDefault: number,
  most: number,
  /** Of the customer of whom there is much of everything. */
  total: number,
][] = [
  ['GET /me/sessions', 'sessions', 100, 500, 616],
  ['GET /me/sessions/{id}', 'events', 1_000, 1_000, 1_005],
  ['GET /me/notifications', 'notifications', 50, 200, 210],
  ['GET /me/prompts/{id}/runs', 'runs', 20, 100, 110],
  ['GET /usage/events', 'usage_events', 50, 200, 1_620],
  ['GET /usage/calls', 'calls', 50, 200, 1_620],
  ['GET /usage/refusals/by-hour', 'refusals', 50, 200, 210],
  ['GET /me/public-bills', 'public_bills', 50, 200, 210],
  ['GET /api-keys', 'api_keys', 50, 200, 421],
  ['GET /me/prompts', 'prompts', 50, 200, 211],
  ['GET /me/prompts/{id}/versions', 'versions', 50, 200, 211],
  ['GET /me/referrals', 'referred_users', 50, 200, 210],
  ['GET /me/teams', 'teams', 50, 200, 60],
  ['GET /me/teams/{id}/keys', 'api_keys', 50, 200, 210],
  ['GET /topups', 'topups', 50, 200, 210],
  ['GET /me/refunds', 'refunds', 50, 200, 210],
  ['GET /admin/refunds', 'refunds', 50, 200, 210],
  // With the one that charges are made with.
  ['GET /fx-rates', 'fx_rates', 60, 400, 411],
  ['GET /webhooks/{id}/attempts', 'attempts', 50, 200, 210],
  ['GET /admin/adjustments', 'adjustments', 50, 200, 210],
  ['GET /admin/incidents', 'incidents', 50, 200, 210],
  ['GET /admin/audit-log', 'entries', 50, 200, EVERY_ACT],
  ['GET /admin/webhooks/in-trouble', 'webhooks', 50, 200, 210],
  ['GET /admin/mails/in-trouble', 'mails', 50, 200, 210],
  ['GET /admin/customers', 'customers', 50, 200, EVERYBODY],
  ['GET /admin/customers/{id}/notes', 'notes', 50, 200, 210],
]

interface Crowded {
  readonly secret: string
  /** Of a list, with its ids. */
  readonly pathOf: (operation: string) => string
}

async function createCrowded(): Promise<Crowded> {
  const { customerId, key, secret } = await seedCustomer(db, { balanceBrl: '10000' })
  const made = await ask(baseUrl, '/me/prompts', { secret, body: { name: 'Muitas', body: 'v1' } })
  const promptId = made.json.id as string
  await sql`
    insert into fx_rates (rate_e4, rate_date, source)
    select 50000 + n, date '2000-01-01' + n, 'sandbox' from generate_series(1, 410) n`.execute(db)
  const use = { modelId: 'gpt-4o', promptTokens: 1, completionTokens: 1 }
  const sessionOf = (index: number): string =>
    index < 1_005 ? 'grande' : index < 1_115 ? `prompt-${promptId}-${index}` : `s${index}`
  await seedUsage(db, {
    customerId,
    apiKeyId: key.id,
    events: Array.from({ length: 1_620 }, (_, index) => ({
      ...use,
      at: new Date(Date.now() - index),
      sessionId: sessionOf(index),
    })),
  })
  await seedRefusals(db, {
    customerId,
    apiKeyId: key.id,
    rows: Array.from({ length: 210 }, (_, index) => ({
      at: new Date(Date.now() - index * 3_600_000),
      code: 'model_not_found',
      status: 404,
      refusals: 1,
    })),
  })
  const teamId = await db
    .transaction()
    .execute((trx) => crowd(trx, { customerId, promptId, count: 210 }))
  const url = 'https://hooks.example.com/'
  const webhook = await ask(baseUrl, '/webhooks', { secret, body: { url } })
  await addAttempts(customerId, webhook.json.id, 210)
  await crowdForOperators(db, 210)
  await sql`
    insert into refunds (id, customer_id, amount_nano_brl, kind, status, created_at)
    select gen_random_uuid(), ${customerId}, ${5n * NANO_PER_BRL}, 'request', 'failed', now() - make_interval(secs => n)
    from generate_series(1, 210) n`.execute(db)
  await sql`
    insert into public_bills (id, token, customer_id, usage_event_id, created_at)
    select gen_random_uuid(), lpad(n::text, 32, '0'), ${customerId}, gen_random_uuid(), now() - make_interval(secs => n)
    from generate_series(1, 210) n`.execute(db)
  await sql`
    insert into customer_notes (id, customer_id, written_by, note)
    select gen_random_uuid(), ${customerId}, ${customerId}, 'Ligou.' from generate_series(1, 210)`.execute(
    db,
  )
  const ids: Record<string, string> = {
    'GET /admin/customers/{id}/notes': customerId,
    'GET /me/sessions/{id}': 'grande',
    'GET /me/teams/{id}/keys': teamId,
    'GET /webhooks/{id}/attempts': webhook.json.id,
  }
  return {
    // The lists of operators are read by the same customer.
    secret: await openOperatorSession(
      { db, dataDir: gateway.node.dataDir },
      customerId,
      ADMIN_EMAIL,
    ),
    pathOf: (operation) =>
      operation.slice('GET '.length).replace('{id}', ids[operation] ?? promptId),
  }
}

/** Due in a day: no worker takes them meanwhile. */
async function addAttempts(customerId: string, endpointId: string, count: number): Promise<void> {
  await db
    .insertInto('webhook_attempts')
    .values(
      Array.from({ length: count }, () => ({
        id: createId(),
        endpoint_id: endpointId,
        customer_id: customerId,
        message_id: createId(),
        event_type: 'topup.paid',
        body: '{}',
        first_failed_at: null,
        due_at: new Date(Date.now() + DAY_MS),
      })),
    )
    .execute()
}

async function crowd(
  trx: Database,
  { customerId, promptId, count }: { customerId: string; promptId: string; count: number },
): Promise<string> {
  const many = Array.from({ length: count }, (_, index) => index)
  const prompt = { customer_id: customerId, variables: [], tags: [], version: 1 }
  const texts = { description: null, default_model: null, name: 'Outro' }
  const promptIds = many.map(() => createId())
  await trx
    .insertInto('prompts')
    .values(promptIds.map((id, n) => ({ id, slug: `outro-${n}`, ...prompt, ...texts })))
    .execute()
  const version = { body: 'texto', change_note: null }
  await trx
    .insertInto('prompt_versions')
    .values(promptIds.map((prompt_id) => ({ prompt_id, version: 1, ...version })))
    .execute()
  await trx
    .insertInto('prompt_versions')
    .values(many.map((n) => ({ prompt_id: promptId, ...version, version: n + 2 })))
    .execute()
  const notification = { customer_id: customerId, template: 'welcome', status: 'sent' as const }
  await trx
    .insertInto('notifications')
    .values(many.map(() => ({ id: createId(), ...notification, error: null })))
    .execute()
  const topUp = { customer_id: customerId, method: 'pix' as const, processor: 'asaas' }
  await trx
    .insertInto('top_ups')
    .values(many.map(() => ({ id: createId(), ...topUp, amount_nano_brl: 20n * NANO_PER_BRL })))
    .execute()
  const code = await ensureReferralCode(trx, customerId)
  const team = { ownerId: customerId, name: 'Equipe', limitNanoBrl: null }
  let teamId = ''
  for (const index of many) {
    const input = { customerId, name: `chave ${index}`, requestsPerMinute: 1 }
    await createApiKey(trx, input)
    const customer = await createCustomer(trx, { name: 'Ana' })
    if ('kind' in customer) throw new Error(customer.kind)
    await refer(trx, { customerId: customer.id, code })
    if (index < 60) {
      const made = await insertTeam(trx, team)
      if (made.kind === 'created') teamId = made.id
    }
  }
  for (let index = 0; index < 210; index++)
    await createApiKey(trx, { customerId, name: 'da equipe', requestsPerMinute: 1, teamId })
  return teamId
}

test('each list has a default size, and accepts sizes from 1 to its maximum only', async () => {
  const { secret, pathOf } = crowded
  for (const [operation, field, byDefault, most, total] of PAGES) {
    const path = pathOf(operation)
    const sizeOf = async (query: string): Promise<number> => {
      const { status, json, text } = await get(`${path}${query}`, secret)
      assert.equal(status, 200, `${operation}${query}: ${text.slice(0, 300)}`)
      return json[field].length
    }
    assert.deepEqual(
      [await sizeOf(''), await sizeOf('?limit=1'), await sizeOf(`?limit=${most}`)],
      [byDefault, 1, total < 0 ? most : Math.min(most, total)],
      operation,
    )
    for (const limit of ['0', `${most + 1}`, '-1', '1.5', '1e1', '', 'x', '1&limit=2']) {
      const { status, json } = await get(`${path}?limit=${limit}`, secret)
      assert.deepEqual([status, json.error], [400, 'invalid_request'], `${operation} ${limit}`)
      assert.match(json.details, /^limit: /)
    }
  }
})

async function countAll(total: number): Promise<number> {
  const table = sql.table(total === EVERYBODY ? 'customers' : 'audit_log')
  const { rows } = await sql<{
    count: number
  }>`select count(*)::int4 as count from ${table}`.execute(db)
  return rows[0]?.count ?? 0
}

test('the cursor reads every list to its end, each entry once', async () => {
  const { secret, pathOf } = crowded
  for (const [operation, field, , most, total] of PAGES) {
    // Of runs only the newest are shown, and rates have a day to go on from.
    if (operation.endsWith('/runs') || operation === 'GET /fx-rates') continue
    const seen: string[] = []
    const limit = Math.ceil(most / 3)
    for (let cursor = ''; ;) {
      const { json } = await get(`${pathOf(operation)}?limit=${limit}${cursor}`, secret)
      assert.ok(json[field].length <= limit)
      seen.push(...json[field].map((entry: object) => JSON.stringify(entry)))
      if (json.next_cursor === null) break
      cursor = `&cursor=${json.next_cursor}`
    }
    const expected = total < 0 ? await countAll(total) : total
    assert.equal(seen.length, expected, operation)
    // Only a letter of each referred user is shown, and it is the same here.
    if (field !== 'referred_users') assert.equal(new Set(seen).size, expected, operation)
    const wrong = await get(`${pathOf(operation)}?cursor=x`, secret)
    assert.deepEqual([wrong.status, wrong.json.error], [400, 'invalid_request'], operation)
  }
})

test('every list is tested above', async () => {
  const withLimit = [...operationsOf(await readOpenApi(baseUrl)).values()]
    .filter(({ described }) => described.parameters?.some(({ name }) => name === 'limit'))
    .map(({ name }) => name)
    // Their pages are those of other formats (`models-by-key.test.ts`, `stored-responses.test.ts`, `batches.test.ts`,
    // `videos.test.ts`).
    .filter((name) => !/^GET \/(files|batches|messages\/batches|videos)$/.test(name))
    .filter((name) => name !== 'GET /models' && name !== 'GET /responses/{id}/input_items')
    // Of days, by the day (`public-bills.test.ts`).
    .filter((name) => name !== 'GET /charge-chain')
  assert.deepEqual(withLimit.sort(), PAGES.map(([operation]) => operation).sort())
})

test('a customer has at most 1,000 active keys, and a team 100; one more is a 409', async () => {
  const { customerId, secret } = await seedCustomer(db, { balanceBrl: '1' })
  const made = await ask(baseUrl, '/me/teams', { secret, body: { name: 'Equipe' } })
  const teamId = made.json.id as string
  const create = (count: number, more: object = {}): Promise<void> =>
    db.transaction().execute(async (trx) => {
      const input = { customerId, name: 'chave', requestsPerMinute: 1, ...more }
      for (let index = 0; index < count; index++) await createApiKey(trx, input)
    })
  const body = { name: 'mais uma', model_ids: ['sandbox-chat'] }
  const post = (path: string): Promise<Asked> => ask(baseUrl, path, { secret, body })
  await create(99, { teamId })
  assert.equal((await post(`/me/teams/${teamId}/keys`)).status, 201)
  const ofTeam = await post(`/me/teams/${teamId}/keys`)
  assert.deepEqual([ofTeam.status, ofTeam.json.error], [409, 'too_many_keys'])
  await create(898)
  assert.equal((await post('/api-keys')).status, 201)
  const refused = await post('/api-keys')
  assert.deepEqual([refused.status, refused.json.error], [409, 'too_many_keys'])
})

test('a team has a maximum number of members', async () => {
  const owner = await seedCustomer(db, { balanceBrl: '1' })
  const guest = await seedCustomer(db, { balanceBrl: '1' })
  const email = `${createId()}@exemplo.com.br`
  await db.updateTable('customers').set({ email }).where('id', '=', guest.customerId).execute()
  const { secret } = owner
  const teamId = (await ask(baseUrl, '/me/teams', { secret, body: { name: 'Cheia' } })).json.id
  await db.transaction().execute(async (trx) => {
    for (let index = 0; index < TEAM_MEMBERS_MAX; index++) {
      const customer = await createCustomer(trx, { name: 'Bia' })
      if ('kind' in customer) throw new Error(customer.kind)
      await addTeamMember(trx, { teamId, customerId: customer.id, role: 'member' })
    }
  })
  const invited = await ask(baseUrl, `/me/teams/${teamId}/invitations`, {
    secret,
    body: { email, role: 'member' },
  })
  const accepted = await ask(baseUrl, '/me/invitations/accept', {
    secret: guest.secret,
    body: { token: invited.json.token },
  })
  assert.deepEqual([accepted.status, accepted.json.error], [409, 'too_many_members'])
})
