/** The audit log's export: for admins only, complete, within its limits, and itself recorded. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import { createCustomer } from '../../src/customers/customers.ts'
import { createId } from '../../src/platform/lib/ids.ts'
import { runCli } from '../harness/run-cli.ts'
import { seedCustomer } from '../harness/test-database.ts'
import { ask, credentialHeaders, type Asked } from '../harness/ask.ts'
import { openOperatorSession } from '../harness/open-session.ts'
import { startGateway, type TestGateway } from '../harness/gateway.ts'
import { operationsOf, readOpenApi } from '../harness/operations.ts'

const PATH = '/admin/audit-log/export.csv'
const HEAD =
  'id;created_at;actor_kind;actor_id;api_key_id;ip;action;customer_id;subject_id;details;session_id'

let gateway: TestGateway
let admin: { customerId: string; secret: string }

before(async () => {
  gateway = await startGateway({ ADMIN_EMAILS: 'Chefe@exemplo.com.br, outra@exemplo.com.br' })
  const { db } = gateway.database
  const { customerId } = await seedCustomer(db, { balanceBrl: '0' })
  const at = { db, dataDir: gateway.node.dataDir }
  const secret = await openOperatorSession(at, customerId, 'chefe@Exemplo.com.br')
  admin = { customerId, secret }
})

after(() => gateway.stop())

function giveEmail(customerId: string, email: string): Promise<unknown> {
  const { db } = gateway.database
  return db.updateTable('customers').set({ email }).where('id', '=', customerId).execute()
}

function get(query = '', secret: string | undefined = admin.secret): Promise<Asked> {
  return ask(gateway.node.baseUrl, `${PATH}${query}`, { secret })
}

/** The rows behind the head. No field of these tests holds a line break. */
function rowsOf({ text }: Asked): string[] {
  const lines = text.split('\r\n')
  assert.equal(lines[0], HEAD)
  assert.equal(lines.at(-1), '', 'the last line has its end')
  return lines.slice(1, -1)
}

async function insertActs(createdAt: string, count: number, action: string): Promise<void> {
  await sql`insert into audit_log (id, created_at, actor_kind, action)
    select gen_random_uuid(), ${createdAt}::timestamptz + n * interval '1 microsecond', 'system', ${action}
    from generate_series(0, ${count - 1}::int) n`.execute(gateway.database.db)
}

test('only an admin gets the log, and a refused caller gets no information', async () => {
  const refused = await get('', gateway.secret)
  assert.deepEqual([refused.status, refused.json], [403, { error: 'forbidden' }])
  // A caller without permission does not learn either that a day is invalid.
  assert.equal((await get('?from=x', gateway.secret)).status, 403)
  const anonymous = await ask(gateway.node.baseUrl, PATH)
  assert.deepEqual([anonymous.status, anonymous.text], [401, ''])
  await giveEmail(gateway.customerId, 'x-chefe@exemplo.com.br')
  assert.equal((await get('', gateway.secret)).status, 403)
  const { rows } = await sql`select 1 from audit_log where action = 'audit_log.exported'`.execute(
    gateway.database.db,
  )
  assert.equal(rows.length, 0)
})

test('an act is exported with all its logged fields, and the export is recorded', async () => {
  const made = await ask(gateway.node.baseUrl, '/me/teams', {
    secret: gateway.secret,
    body: { name: '=1+1', monthly_cap_brl: 10.5 },
  })
  assert.equal(made.status, 201, made.text)
  const exported = await get()
  assert.equal(exported.status, 200)
  assert.equal(exported.headers.get('content-type'), 'text/csv; charset=utf-8')
  assert.match(
    exported.headers.get('content-disposition') ?? '',
    /^attachment; filename=".+\.csv"$/,
  )
  const [own, team] = rowsOf(exported)
  const { rows } = await sql<{ id: string; at: string; api_key_id: string }>`
    select id, api_key_id, to_char(created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as at
    from audit_log where action = 'team.created'`.execute(gateway.database.db)
  const [row] = rows
  assert.ok(row)
  const { customerId } = gateway
  assert.equal(
    // What the act set in the row, which the audit compares with it, has times.
    String(team).replace(/""limits"":{.*?},/, ''),
    `${row.id};${row.at};customer;${customerId};${row.api_key_id};127.0.0.1;team.created;${customerId};${made.json.id};"{""monthly_cap_brl"":""10.5""}";`,
  )
  assert.match(
    String(own),
    new RegExp(
      `;customer;${admin.customerId};;127\\.0\\.0\\.1;audit_log\\.exported;;;[^;]+;[^;]+$`,
    ),
  )
})

test('the file begins with a byte-order mark', async () => {
  const answer = await fetch(`${gateway.node.baseUrl}${PATH}`, {
    headers: credentialHeaders(admin.secret),
  })
  const bytes = Buffer.from(await answer.arrayBuffer())
  assert.deepEqual([...bytes.subarray(0, 3)], [0xef, 0xbb, 0xbf])
})

test('the days of a window are inclusive, and days of São Paulo', async () => {
  // São Paulo is three hours behind UTC.
  await insertActs('2025-03-10T02:59:59.999999Z', 1, 'window.before')
  await insertActs('2025-03-10T03:00:00Z', 1, 'window.first')
  await insertActs('2025-03-12T02:59:59.999999Z', 1, 'window.last')
  await insertActs('2025-03-12T03:00:00Z', 1, 'window.after')
  const actionsOf = async (query: string): Promise<string[]> =>
    rowsOf(await get(query)).map((line) => line.split(';')[6] as string)
  assert.deepEqual(await actionsOf('?from=2025-03-10&to=2025-03-11'), [
    'window.last',
    'window.first',
  ])
  assert.deepEqual(await actionsOf('?to=2025-03-09'), ['window.before'])
  assert.equal((await actionsOf('?from=2025-03-12')).at(-1), 'window.after')
  assert.deepEqual(await actionsOf('?from=2024-01-01&to=2024-01-02'), [])
})

test('an export has the newest 10,000 acts, each once, also with equal times', async () => {
  await insertActs('2025-06-01T12:00:00Z', 10_500, 'many.acts')
  await sql`update audit_log set created_at = date_trunc('milliseconds', created_at)
    where action = 'many.acts'`.execute(gateway.database.db)
  const lines = rowsOf(await get('?from=2025-06-01&to=2025-06-01'))
  assert.equal(lines.length, 10_000)
  const { rows } = await sql<{ id: string }>`
    select id from audit_log where action = 'many.acts' order by created_at desc, id desc limit 10000`.execute(
    gateway.database.db,
  )
  assert.deepEqual(
    lines.map((line) => line.slice(0, 36)),
    rows.map(({ id }) => id),
  )
})

test('an invalid window is refused', async () => {
  for (const query of [
    '?from=2025-02-30',
    '?to=yesterday',
    '?from=0000-01-01',
    '?to=2025-1-1',
    '?from=2025-01-02&to=2025-01-01',
    '?from=2025-01-01&from=2025-01-02',
    '?to=%00',
  ]) {
    const answer = await get(query)
    assert.equal(answer.status, 400, `${query}: ${answer.text}`)
    assert.equal(answer.json.error, 'invalid_request')
  }
})

test('the log can be paged and filtered by subject, act and day, and reading it is not recorded', async () => {
  const list = (query: string, secret = admin.secret): Promise<Asked> =>
    ask(gateway.node.baseUrl, `/admin/audit-log${query}`, { secret })
  assert.equal((await list('', gateway.secret)).status, 403)
  const newest = await list('?limit=1')
  await insertActs('2025-08-01T12:00:00.000001Z', 3, 'paged.made')
  await insertActs('2025-08-02T12:00:00Z', 1, 'paged.ended')
  const first = await list('?action=paged.&limit=3')
  assert.equal(first.status, 200, first.text)
  const second = await list(`?action=paged.&limit=3&cursor=${first.json.next_cursor}`)
  const acts = [...first.json.entries, ...second.json.entries]
  assert.deepEqual(
    acts.map(({ action }) => action),
    ['paged.ended', 'paged.made', 'paged.made', 'paged.made'],
  )
  assert.equal(new Set(acts.map(({ id }) => id)).size, 4)
  assert.equal(second.json.next_cursor, null)
  const ofDay = await list('?action=paged.&from=2025-08-02&to=2025-08-02')
  assert.deepEqual(ofDay.json.entries, acts.slice(0, 1))

  const { customerId } = gateway
  await gateway.database.db
    .updateTable('customers')
    .set({ name: 'Ana' })
    .where('id', '=', customerId)
    .execute()
  const own = await list(`?customer_id=${customerId}&action=team.created`)
  const [team] = own.json.entries
  assert.deepEqual(
    [team.actor_kind, team.actor_id, team.actor_name, team.customer_id, team.customer_name],
    ['customer', customerId, 'Ana', customerId, 'Ana'],
  )
  assert.deepEqual([team.ip, team.details.monthly_cap_brl], ['127.0.0.1', '10.5'])
  assert.deepEqual((await list(`?customer_id=${createId()}`)).json.entries, [])
  for (const query of [
    '?action=X',
    '?action=%25',
    '?customer_id=x',
    '?from=2025-02-30',
    '?to=0000-01-01',
    '?from=2025-01-02&to=2025-01-01',
  ])
    assert.equal((await list(query)).json.error, 'invalid_request', query)
  assert.deepEqual((await list('?limit=1')).json, newest.json, 'reading left no trace')
})

test('a customer cannot become an admin by an e-mail of their own choice', async () => {
  const { db } = gateway.database
  // One e-mail is one customer's, however it is written.
  for (const email of ['CHEFE@exemplo.com.br', 'chefe@Exemplo.com.br'])
    assert.deepEqual(await createCustomer(db, { name: 'Intruso', email }), { kind: 'email_taken' })
  // No route lets a customer write an e-mail, but that of somebody who is invited. Switches hold none.
  const operations = operationsOf(await readOpenApi(gateway.node.baseUrl))
  const withEmail = [...operations.values()].filter(({ described }) =>
    Object.values(described.requestBody?.content ?? {}).some(({ schema }) =>
      Object.keys(schema.properties ?? {}).some((field) => /mail(?!.*_enabled$)/i.test(field)),
    ),
  )
  assert.deepEqual(
    withEmail.map(({ name }) => name),
    ['POST /me/teams/{id}/invitations'],
  )
})

test("acts on the command line are recorded as the operator's", async () => {
  const run = async (...args: string[]): Promise<any> => {
    const { stdout } = await runCli([...args, '--json'], {
      DATABASE_URL: gateway.database.databaseUrl,
      DATA_DIR: gateway.node.dataDir,
    })
    return JSON.parse(stdout)
  }
  const rate = await run('fx', 'set', '5.3', '--date', '2025-01-02', '--note', 'teste')
  const { id } = await run('incident', 'open', '--title', 'Lento', '--message', 'Está lento.')
  await run('incident', 'update', id, '--message', 'Ainda.', '--severity', 'critical')
  await run('incident', 'resolve', id)
  await run('incident', 'resolve', id)
  const { rows } = await sql<{ act: unknown[] }>`
    select jsonb_build_array(action, subject_id, details) as act from audit_log
    where actor_kind = 'operator' and actor_id is null and customer_id is null
    order by created_at, id`.execute(gateway.database.db)
  assert.deepEqual(
    rows.map(({ act }) => act),
    [
      [
        'fx_rate.set',
        String(rate.id),
        { rate: '5.3', date: '2025-01-02', source: 'sandbox', note: 'teste' },
      ],
      ['incident.opened', id, { severity: 'major', models: [], vendors: [] }],
      ['incident.updated', id, { fields: ['message', 'severity'] }],
      ['incident.resolved', id, { fields: [] }],
    ],
  )
})

test('an act that the log cannot take does not happen', async () => {
  const { db } = gateway.database
  await sql`alter table audit_log add constraint closed check (action <> 'team.created') not valid`.execute(
    db,
  )
  const name = `Equipe ${createId()}`
  const answer = await ask(gateway.node.baseUrl, '/me/teams', {
    secret: gateway.secret,
    body: { name },
  })
  await sql`alter table audit_log drop constraint closed`.execute(db)
  assert.equal(answer.status, 500)
  const teams = await ask(gateway.node.baseUrl, '/me/teams', { secret: gateway.secret })
  assert.ok(!teams.text.includes(name))
})
