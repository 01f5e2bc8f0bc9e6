/** Profile, preferences and notifications, as a customer changes and reads them. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { sql } from 'kysely'
import { createId } from '../../src/platform/lib/ids.ts'
import { seedCustomer } from '../harness/test-database.ts'
import { ask, type Asked } from '../harness/ask.ts'
import { createApiKey } from '../../src/customers/api-keys.ts'
import { startGateway } from '../harness/gateway.ts'
import { openSession } from '../harness/open-session.ts'

const gateway = await startGateway()
after(() => gateway.stop())
const { db } = gateway.database
const { baseUrl } = gateway.node

const CPF = '24971563792'
const CNPJ = '12ABC34501DE35'

function put(path: string, secret: string, body: unknown): Promise<Asked> {
  return ask(baseUrl, path, { method: 'PUT', secret, body })
}
const read = (path: string, secret: string): Promise<Asked> => ask(baseUrl, path, { secret })

function actsOf(customerId: string) {
  return db
    .selectFrom('audit_log')
    .selectAll()
    .where('customer_id', '=', customerId)
    .orderBy('created_at')
    .execute()
}

test('a profile exists only once created, and its creation requires a CPF or CNPJ', async () => {
  const { secret, customerId } = await seedCustomer(db, { balanceBrl: '0' })
  const missing = await read('/me/profile', secret)
  assert.deepEqual([missing.status, missing.json], [404, { error: 'profile_not_found' }])
  for (const body of [
    {},
    { full_name: 'Zé' },
    { cpf_cnpj: null },
    { cpf_cnpj: '' },
    { cpf_cnpj: '  ' },
  ]) {
    const answer = await put('/me/profile', secret, body)
    assert.deepEqual([answer.status, answer.json.error], [400, 'cpf_required'])
  }
  for (const [cpf_cnpj, error] of [
    ['2497156379', 'invalid_cpf_cnpj_format'],
    ['x'.repeat(1000), 'invalid_cpf_cnpj_format'],
    ['\u0000', 'invalid_cpf_cnpj_format'],
    ['249.715.637-93', 'invalid_cpf_cnpj_checksum'],
    ['11111111111', 'invalid_cpf_cnpj_checksum'],
    ['12ABC34501DE00', 'invalid_cpf_cnpj_checksum'],
  ] as const) {
    const answer = await put('/me/profile', secret, { cpf_cnpj })
    assert.deepEqual([answer.status, answer.json.error], [400, error], cpf_cnpj)
  }
  assert.equal((await read('/me/profile', secret)).status, 404)
  assert.deepEqual(await actsOf(customerId), [])
})

test('a profile can be created with the number alone, and stores it without punctuation', async () => {
  const { secret } = await seedCustomer(db, { balanceBrl: '0' })
  const made = await put('/me/profile', secret, { cpf_cnpj: '249.715.637-92' })
  assert.equal(made.status, 200, made.text)
  assert.deepEqual([made.json.cpf_cnpj, made.json.full_name], [CPF, 'Teste'])
  assert.deepEqual(made.json.flags, {
    has_cpf_cnpj: true,
    can_top_up: true,
    is_company: false,
    has_address: false,
    weekly_digest_enabled: true,
  })
  const address = {
    postal_code: '01310-100',
    street: ' Avenida Paulista ',
    street_number: '1578',
    complement: 'Sala 3',
    district: 'Bela Vista',
    city: 'São Paulo',
    state: 'SP',
  }
  const body = { ...address, full_name: 'Padaria Ltda.', cpf_cnpj: '12.abc.345/01de-35' }
  const changed = await put('/me/profile', secret, { ...body, phone: '+55 (11) 98765-4321' })
  assert.equal(changed.status, 200, changed.text)
  const { flags, created_at, updated_at, ...fields } = changed.json
  assert.deepEqual(fields, {
    ...body,
    cpf_cnpj: CNPJ,
    phone: '+5511987654321',
    postal_code: '01310100',
    street: 'Avenida Paulista',
  })
  assert.deepEqual([flags.is_company, flags.has_address], [true, true])
  assert.equal(created_at, made.json.created_at)
  assert.ok(updated_at > created_at)
  assert.deepEqual((await read('/me/profile', secret)).json, changed.json)
})

test('missing fields remain, null clears a field, and the number cannot be cleared', async () => {
  const { secret } = await seedCustomer(db, { balanceBrl: '0' })
  await put('/me/profile', secret, { cpf_cnpj: CPF, city: 'Recife', phone: '81 3333-4444' })
  for (const cpf_cnpj of [undefined, null, '']) {
    const { status, json } = await put('/me/profile', secret, { phone: null, cpf_cnpj })
    assert.deepEqual([status, json.cpf_cnpj, json.city, json.phone], [200, CPF, 'Recife', null])
  }
  const refused = await put('/me/profile', secret, { cpf_cnpj: '123', city: 'Olinda' })
  assert.equal(refused.status, 400)
  assert.equal((await read('/me/profile', secret)).json.city, 'Recife')
})

test('values that an invoice cannot carry are refused, and change nothing', async () => {
  const { secret } = await seedCustomer(db, { balanceBrl: '0' })
  await put('/me/profile', secret, { cpf_cnpj: CPF })
  const before = (await read('/me/profile', secret)).text
  for (const [field, values] of Object.entries({
    full_name: ['', '   ', 'a\u0000b', 'a\nb', 'x'.repeat(201), 7, null],
    cpf_cnpj: [24971563792, 'x'.repeat(1001)],
    phone: ['123', '1'.repeat(16), 'telefone', '--------'],
    postal_code: ['0131010', '01310-1000', 'abcde-fgh', ''],
    street: ['\u0000', 'x'.repeat(201)],
    city: [['Recife']],
    state: ['XX', 'sp', 'São Paulo'],
    name: ['Outro'],
  })) {
    for (const value of values) {
      const answer = await put('/me/profile', secret, { [field]: value })
      assert.equal(answer.status, 400, `${field}: ${JSON.stringify(value)}`)
      assert.equal(answer.json.error, 'invalid_request')
      assert.match(answer.json.details, new RegExp(field))
    }
  }
  for (const body of ['null', '[]', '"x"', '{'])
    assert.equal((await put('/me/profile', secret, body)).status, 400, body)
  assert.equal((await read('/me/profile', secret)).text, before)
})

test('concurrent first profiles become one profile, with the fields of each', async () => {
  const { secret, customerId } = await seedCustomer(db, { balanceBrl: '0' })
  const cities = ['Natal', 'Belém', 'Manaus', 'Palmas']
  const answers = await Promise.all(
    Array.from({ length: 12 }, (_, place) =>
      put('/me/profile', secret, {
        cpf_cnpj: CPF,
        ...(place % 2 ? { city: cities[place % 4] } : { district: 'Centro' }),
      }),
    ),
  )
  assert.deepEqual([...new Set(answers.map(({ status }) => status))], [200])
  const { json } = await read('/me/profile', secret)
  assert.equal(json.district, 'Centro')
  assert.ok(cities.includes(json.city))
  const acts = await actsOf(customerId)
  assert.equal(acts.filter(({ details }) => JSON.stringify(details).includes('cpf_cnpj')).length, 1)
})

test('the audit log names the changed fields, and no log has their values', async () => {
  const { secret, customerId } = await seedCustomer(db, { balanceBrl: '0' })
  await put('/me/profile', secret, {
    cpf_cnpj: CPF,
    full_name: 'Iracema de Alencar',
    city: 'Fortaleza',
  })
  await put('/me/profile', secret, { city: 'Sobral', full_name: 'Iracema de Alencar' })
  await put('/me/profile', secret, { city: 'Sobral' })
  await put('/me/preferences', secret, {
    timezone: 'America/Fortaleza',
    weekly_digest_enabled: true,
  })
  await put('/me/preferences', secret, { timezone: 'America/Fortaleza' })
  const acts = await actsOf(customerId)
  assert.deepEqual(
    acts.map(({ action, actor_kind, actor_id, ip, details }) => ({
      action,
      actor_kind,
      actor_id,
      ip,
      details,
    })),
    [
      ['profile.changed', ['full_name', 'cpf_cnpj', 'city']],
      ['profile.changed', ['city']],
      ['preferences.changed', ['timezone']],
    ].map(([action, fields]) => ({
      action,
      actor_kind: 'customer',
      actor_id: customerId,
      ip: '127.0.0.1',
      details: { fields },
    })),
  )
  for (const word of [CPF, 'Iracema', 'Sobral'])
    assert.ok(!(JSON.stringify(acts) + gateway.node.log.join('\n')).includes(word), word)
})

test('preferences are changed one by one, and only to values that both the program and the database know', async () => {
  const { secret } = await seedCustomer(db, { balanceBrl: '0' })
  const before = {
    timezone: 'America/Sao_Paulo',
    preferred_locale: 'pt-BR',
    weekly_digest_enabled: true,
    low_balance_email_enabled: true,
    incident_email_enabled: false,
    stored_responses_days: null,
  }
  assert.deepEqual((await read('/me/preferences', secret)).json, before)
  for (const body of [
    { timezone: 'America/Nowhere' },
    { timezone: '+03:00' },
    { timezone: 'EST5EDT,M3.2.0' },
    { timezone: 'posix/America/Recife' },
    { timezone: 'america/recife' },
    { timezone: '' },
    { timezone: '\u0000' },
    { timezone: null },
    { preferred_locale: 'pt_BR' },
    { preferred_locale: 'pt-br' },
    { preferred_locale: 'pt-BR\n' },
    { preferred_locale: 'por' },
    { weekly_digest_enabled: 'false' },
    { low_balance_email_enabled: null },
    { incident_email_enabled: 1 },
    { stored_responses_days: 0 },
    { stored_responses_days: 31 },
    { stored_responses_days: 1.5 },
    { stored_responses_days: true },
    { language: 'pt' },
    { timezone: 'America/Recife', preferred_locale: 'x' },
  ]) {
    const answer = await put('/me/preferences', secret, body)
    assert.deepEqual(
      [answer.status, answer.json.error],
      [400, 'invalid_request'],
      JSON.stringify(body),
    )
  }
  assert.deepEqual((await read('/me/preferences', secret)).json, before)
  for (const timezone of ['America/Noronha', 'UTC', 'Europe/Lisbon']) {
    const { status, json } = await put('/me/preferences', secret, { timezone })
    assert.deepEqual([status, json], [200, { ...before, timezone }])
  }
  const rest = {
    preferred_locale: 'en',
    weekly_digest_enabled: false,
    low_balance_email_enabled: false,
    incident_email_enabled: true,
    stored_responses_days: 30,
  }
  const { json } = await put('/me/preferences', secret, rest)
  assert.deepEqual(json, { timezone: 'Europe/Lisbon', ...rest })
  assert.deepEqual((await put('/me/preferences', secret, {})).json, json)
})

test('only a managing key or a session makes the account store responses for longer', async () => {
  const { secret: managing, customerId } = await seedCustomer(db, { balanceBrl: '0' })
  const input = { customerId, name: 'vazada', requestsPerMinute: 1_000, scope: 'account' as const }
  const { secret: leaked } = await createApiKey(db, input)
  const session = await openSession({ db, dataDir: gateway.node.dataDir }, customerId)
  const set = async (secret: string, days: number | null): Promise<unknown> => {
    const { status, json } = await put('/me/preferences', secret, { stored_responses_days: days })
    return status === 200 ? json.stored_responses_days : json.error
  }
  assert.equal(await set(leaked, 1), 'key_scope_insufficient')
  assert.equal(await set(managing, 7), 7)
  assert.equal(await set(leaked, 8), 'key_scope_insufficient')
  assert.equal(await set(leaked, 7), 7)
  assert.equal(await set(leaked, 6), 6)
  assert.equal(await set(leaked, null), null)
  assert.equal(await set(leaked, 1), 'key_scope_insufficient')
  assert.equal(await set(session, 30), 30)
})

test('a budget keeps the time zone of its creation', async () => {
  const budget = { limitPicoUsd: 10n ** 12n, period: 'day' as const }
  const { secret, key } = await seedCustomer(db, { balanceBrl: '0', budget })
  await put('/me/preferences', secret, { timezone: 'Asia/Tokyo' })
  const row = await db
    .selectFrom('api_key_budgets')
    .select('timezone')
    .where('api_key_id', '=', key.id)
    .executeTakeFirstOrThrow()
  assert.equal(row.timezone, 'America/Sao_Paulo')
})

test('notifications are paged, newest first, each once, with their number', async () => {
  const { secret, customerId } = await seedCustomer(db, { balanceBrl: '0' })
  const stranger = await seedCustomer(db, { balanceBrl: '0' })
  // Some within the same millisecond, some at the very same time.
  const ids = Array.from({ length: 60 }, () => createId())
  for (const [place, id] of ids.entries()) {
    const isFailed = place % 10 === 0
    await sql`
      insert into notifications (id, customer_id, template, status, error, sent_at)
      values (${id}, ${customerId}, 'balance_low', ${isFailed ? 'failed' : 'sent'},
        ${isFailed ? 'mailbox full' : null},
        timestamptz '2026-07-01 12:00:00.000001Z' + make_interval(secs => ${Math.floor(place / 2)} * 0.0003))`.execute(
      db,
    )
  }
  const first = await read('/me/notifications', secret)
  assert.equal(first.json.total, 60)
  assert.equal(first.json.notifications.length, 50)
  const seen: { id: string; status: string; error: string | null }[] = []
  for (let cursor = ''; ;) {
    const { json } = await read(`/me/notifications?limit=7${cursor}`, secret)
    assert.equal(json.total, 60)
    seen.push(...json.notifications)
    if (json.next_cursor === null) break
    cursor = `&cursor=${json.next_cursor}`
  }
  assert.deepEqual(
    seen.map(({ id }) => id),
    ids.toReversed(),
  )
  assert.deepEqual(seen.at(-1), {
    id: ids[0],
    template: 'balance_low',
    sent_at: '2026-07-01T12:00:00.000Z',
    status: 'failed',
    error: 'mailbox full',
  })
  assert.equal(seen[0]?.error, null)
  assert.deepEqual((await read('/me/notifications', stranger.secret)).json, {
    total: 0,
    notifications: [],
    next_cursor: null,
  })
  for (const query of ['limit=0', 'limit=201', 'limit=x', 'cursor=x', 'limit=1.5'])
    assert.equal((await read(`/me/notifications?${query}`, secret)).status, 400, query)
})

test("a customer can neither read nor change another's profile and preferences", async () => {
  const one = await seedCustomer(db, { balanceBrl: '0' })
  const other = await seedCustomer(db, { balanceBrl: '0' })
  await put('/me/profile', one.secret, { cpf_cnpj: CPF, city: 'Recife' })
  assert.equal((await read('/me/profile', other.secret)).status, 404)
  // Two accounts may be of the same person.
  assert.equal(
    (await put('/me/profile', other.secret, { cpf_cnpj: CPF, city: 'Olinda' })).status,
    200,
  )
  await put('/me/preferences', other.secret, { timezone: 'UTC' })
  assert.equal((await read('/me/profile', one.secret)).json.city, 'Recife')
  assert.equal((await read('/me/preferences', one.secret)).json.timezone, 'America/Sao_Paulo')
  for (const path of ['/me/profile', '/me/preferences', '/me/notifications', '/me/referrals']) {
    const { status, text } = await ask(baseUrl, path)
    assert.deepEqual([status, text], [401, ''], path)
  }
})
