/** The operator's command line: its output, its changes and its exit code. */
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import { createId, sha256 } from '../../src/platform/lib/ids.ts'
import { LIVE_ENVIRONMENT } from '../harness/live-environment.ts'
import { runCliProcess } from '../harness/run-cli-process.ts'
import { runCli, type RanCli, TARGET_LINE } from '../harness/run-cli.ts'
import { createTestDatabase, type TestDatabase } from '../harness/test-database.ts'

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
const SECRET = /sk-svc-[A-Za-z0-9]{38}/g

let database: TestDatabase
let dataDir: string

before(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'catraca-cli-'))
  database = await createTestDatabase()
})
after(async () => {
  await database.drop()
  await rm(dataDir, { recursive: true, force: true })
})

interface On {
  readonly database?: TestDatabase
  readonly env?: Record<string, string>
}

function run(args: readonly string[], on: On = {}): Promise<RanCli> {
  return runCli(args, environment(on))
}

function environment(on: On = {}): Record<string, string> {
  const { databaseUrl } = on.database ?? database
  return { DATABASE_URL: databaseUrl, DATA_DIR: dataDir, ...on.env }
}

async function text(args: readonly string[], on?: On): Promise<string> {
  const { code, stdout, stderr } = await run(args, on)
  assert.deepEqual(
    { code, rest: stderr.replace(TARGET_LINE, '') },
    { code: 0, rest: '' },
    args.join(' '),
  )
  return stdout
}

/** The output of `--json`: one complete line, and nothing else. */
async function json(args: readonly string[], on?: On): Promise<any> {
  const stdout = await text([...args, '--json'], on)
  assert.match(stdout, /^[^\n]+\n$/)
  return JSON.parse(stdout)
}

/** A customer with a unique name, created by the command. */
async function makeCustomer(): Promise<{ id: string; email: string }> {
  const email = `${createId()}@example.com`
  return json(['customer', 'create', '--name', 'Padaria do Zé', '--email', email])
}

/** Every row that a command could write, so that a refused one can be shown to have changed nothing. */
async function everything(): Promise<string> {
  const tables = 'customers accounts ledger_entries api_keys api_key_budgets fx_rates'.split(' ')
  const rows = await Promise.all(
    tables.map((table) =>
      sql<object>`select t::text from ${sql.table(table)} t order by 1`.execute(database.db),
    ),
  )
  return JSON.stringify(rows.map((result) => result.rows))
}

/** A refusal names the fault in one line, without a stack trace, and changes nothing. */
async function assertRefused(args: readonly string[], message: RegExp, on?: On): Promise<void> {
  const ran = await run(args, on)
  const said = JSON.stringify({ ...ran, stderr: ran.stderr.slice(0, 200) })
  const what = `catraca ${args.join(' ')}: ${said}`
  assert.equal(ran.code, 2, what)
  assert.match(ran.stderr.replace(TARGET_LINE, ''), message, what)
  assert.doesNotMatch(ran.stderr, /^\s+at /m, what)
  assert.equal(ran.stdout, '', what)
}

async function assertAllRefused(cases: readonly (readonly [string[], RegExp])[]): Promise<void> {
  const before = await everything()
  const outcomes = await Promise.allSettled(
    cases.map(([args, message]) => assertRefused(args, message)),
  )
  const wrong = outcomes.flatMap((outcome) =>
    outcome.status === 'rejected' ? [(outcome.reason as Error).message.split('\n')[0]] : [],
  )
  assert.deepEqual(wrong, [])
  assert.equal(await everything(), before, 'a refused command changes nothing')
}

test('a customer is created once per e-mail, with an empty account, and is found by id and by e-mail', async () => {
  const email = 'ze@example.com'
  const made = await json(['customer', 'create', '--name', 'Padaria do Zé', '--email', email])
  assert.match(made.id, UUID)
  assert.deepEqual([made.name, made.email], ['Padaria do Zé', email])
  await assertAllRefused([
    [['customer', 'create', '--name', 'Outro', '--email', email], /e-mail already exists/],
    [['customer', 'create'], /--name is needed/],
    [['customer', 'show'], /id or e-mail of a customer/],
    [['customer', 'show', 'nobody@example.com'], /no customer nobody@example\.com/],
  ])
  const account = { balance_brl: 0, credited_brl: 0, debited_brl: 0, charged_brl: 0, held_brl: 0 }
  for (const name of [made.id, email])
    assert.deepEqual(await json(['customer', 'show', name]), { ...made, ...account, api_keys: 0 })
  const shown = await text(['customer', 'show', email])
  assert.match(shown, new RegExp(`^Padaria do Zé {2}${email}$`, 'm'))
  assert.match(shown, new RegExp(`^id +${made.id}$`, 'm'))
  assert.match(shown, /^balance +0 BRL/m)

  const created = /^created (\S+) {2}Sem e-mail$/.exec(
    (await text(['customer', 'create', '--name', 'Sem e-mail'])).trim(),
  )?.[1]
  assert.match(created ?? '', UUID)
  const list = await json(['customer', 'list'])
  assert.deepEqual(
    list.find(({ id }: { id: string }) => id === made.id),
    { ...made, ...account },
  )
  assert.match(await text(['customer', 'list']), new RegExp(`^${created} +Sem e-mail +0 +0$`, 'm'))
})

test('a credit is exact to the last digit, and the same reference is credited once', async () => {
  const { email } = await makeCustomer()
  const credit = ['customer', 'credit', email, '--amount-brl', '123456789.123456789']
  const once = [...credit, '--reference', createId(), '--note', 'Pix']
  const first = await text([...once, '--json'])
  assert.match(first, /"outcome":"posted","balance_brl":123456789\.123456789,/)
  assert.match(
    await text([...once, '--json']),
    /"outcome":"exists","balance_brl":123456789\.123456789,/,
  )
  assert.match(await text(once), /^nothing credited: .*; balance 123456789\.123456789 BRL$/m)
  assert.match(
    await text([...credit, '--reason', 'top_up']),
    /^credited 123456789\.123456789 BRL; balance 246913578\.246913578 BRL$/m,
  )
  assert.match(
    await text(['customer', 'show', email]),
    /^balance +246913578\.246913578 BRL = 246913578\.246913578 credited - 0 debited - 0 charged$/m,
  )
})

test('an invalid credit, or one of an unknown customer, is refused and changes nothing', async () => {
  const { email } = await makeCustomer()
  const credit = (...rest: string[]): string[] => ['customer', 'credit', email, ...rest]
  await assertAllRefused([
    [credit(), /--amount-brl is needed/],
    ...['0', '1e3', '5,00', '1000000000.01', '0.0000000001'].map(
      (amount) => [credit('--amount-brl', amount), /--amount-brl: must be an amount/] as const,
    ),
    [credit('--amount-brl=-5'), /--amount-brl: must be an amount/],
    [credit('--amount-brl', '5', '--reason', 'Top Up'), /--reason/],
    [['customer', 'credit', 'nobody@example.com', '--amount-brl', '5'], /no customer nobody/],
  ])
})

test('the secret of a key is printed once, when the key is created, and is stored nowhere', async () => {
  const { id, email } = await makeCustomer()
  const made = await json(['key', 'create', email, '--name', 'Servidor'])
  assert.match(made.secret, new RegExp(`^${SECRET.source}$`))
  const said = await text(['key', 'create', id, '--name', 'Testes'])
  const secrets = [made.secret, ...(said.match(SECRET) ?? [])] as string[]
  assert.equal(secrets.length, 2, 'it is in the text once')
  assert.match(said, /only time/)

  for (const args of [
    ['key', 'list'],
    ['key', 'list', email],
    ['customer', 'show', email],
  ]) {
    for (const shown of [await text(args), await text([...args, '--json'])])
      assert.equal(shown.match(SECRET), null, `no secret in ${args.join(' ')}`)
  }
  const stored = await everything()
  assert.ok(stored.includes(made.id))
  assert.doesNotMatch(stored, SECRET)
  const rows = await database.db
    .selectFrom('api_keys')
    .select('secret_hash')
    .where('customer_id', '=', id)
    .orderBy('created_at')
    .execute()
  assert.deepEqual(
    rows.map((row) => row.secret_hash.toString('hex')),
    secrets.map((secret) => sha256(secret).toString('hex')),
  )
})

test('a key has the limits that its options name, and the defaults otherwise', async () => {
  const { id, email } = await makeCustomer()
  const plain = await json(['key', 'create', email, '--name', 'Simples', '--models', '*'])
  assert.deepEqual(
    [plain.customer_id, plain.name, plain.status, plain.requests_per_minute],
    [id, 'Simples', 'suspended', 120],
  )
  assert.deepEqual(
    [plain.model_ids, plain.ip_allowlist, plain.tokens_per_minute, plain.expires_at, plain.budget],
    [null, null, null, null, null],
  )
  assert.equal(plain.scope, 'account')
  const options = {
    name: 'Completa',
    models: 'gpt-4o-mini, sandbox-chat',
    'ip-allowlist': '10.0.0.0/8,2001:db8::/32,192.0.2.7',
    'requests-per-minute': '7',
    'tokens-per-minute': '5000',
    'budget-usd': '2.50',
    'budget-period': 'day',
    'expires-at': '2100-01-31T00:00:00-03:00',
  }
  const flags = Object.entries(options).map(([name, value]) => `--${name}=${value}`)
  const full = await json(['key', 'create', email, ...flags])
  const { secret: _, ...listed } = full
  assert.deepEqual(listed, {
    id: full.id,
    customer_id: id,
    name: 'Completa',
    last_four: full.secret.slice(-4),
    // There is no balance to spend yet.
    status: 'suspended',
    scope: 'calls',
    model_ids: ['gpt-4o-mini', 'sandbox-chat'],
    ip_allowlist: ['10.0.0.0/8', '2001:db8::/32', '192.0.2.7'],
    requests_per_minute: 7,
    tokens_per_minute: 5000,
    budget: { limit_usd: 2.5, period: 'day', spent_usd: 0 },
    last_used_at: null,
    expires_at: '2100-01-31T03:00:00.000Z',
    created_at: full.created_at,
  })
  const budgets = await database.db.selectFrom('api_key_budgets').selectAll().execute()
  assert.deepEqual(
    budgets.map((b) => [b.api_key_id, b.period, b.limit_pico_usd]),
    [[full.id, 'day', 2_500_000_000_000n]],
  )
  const list = await json(['key', 'list', email])
  assert.deepEqual(list.map((key: { name: string }) => key.name).sort(), ['Completa', 'Simples'])
  assert.deepEqual(
    list.find((key: { id: string }) => key.id === full.id),
    listed,
  )
  const table = await text(['key', 'list', email])
  const cells = [full.id, 'Completa', `sk-svc-…${full.last_four}`, 'suspended', 'calls', '7']
  assert.match(table, new RegExp(`^${cells.join(' +')} +gpt-4o-mini,sandbox-chat +10\\.0`, 'm'))
})

test('a key with an invalid option is refused and not created', async () => {
  const { email } = await makeCustomer()
  const create = (...rest: string[]): string[] => [
    'key',
    'create',
    email,
    '--name',
    'Nova',
    ...rest,
  ]
  await assertAllRefused([
    [['key', 'create', email], /--name is needed/],
    [['key', 'create', email, '--name', 'ab'], /--name: must be 3-50/],
    [['key', 'create', 'nobody', '--name', 'Nova'], /no customer nobody/],
    [create('--models', 'gpt-4o-mini,gpt-nada'), /--models: .*gpt-nada/],
    [create('--ip-allowlist', '10.0.0.0/8,10.0.0.0/33'), /10\.0\.0\.0\/33/],
    [create('--requests-per-minute', '0'), /--requests-per-minute/],
    [create('--requests-per-minute', '3000000000'), /--requests-per-minute/],
    [create('--tokens-per-minute', 'muitos'), /--tokens-per-minute/],
    [create('--budget-usd', '1000001'), /--budget-usd/],
    [create('--budget-usd', '10', '--budget-period', 'week'), /--budget-period/],
    [create('--budget-period', 'day'), /--budget-usd/],
    [create('--expires-at', 'amanhã'), /--expires-at/],
    [create('--allow', '10.0.0.0/8'), /--allow/],
  ])
})

test('a revoked key cannot be restored and is shown as revoked', async () => {
  const { email } = await makeCustomer()
  const [one, two] = await Promise.all(
    ['Uma chave', 'Outra chave'].map((name) => json(['key', 'create', email, '--name', name])),
  )
  await text(['customer', 'credit', email, '--amount-brl', '5'])
  assert.deepEqual(await json(['key', 'revoke', one.id]), { outcome: 'revoked' })
  assert.deepEqual(await json(['key', 'revoke', one.id]), { outcome: 'already_inactive' })
  assert.equal(await text(['key', 'revoke', one.id]), 'it was already revoked\n')
  const statuses = async (): Promise<string[]> =>
    (await json(['key', 'list', email])).map((key: any) => `${key.id} ${key.status}`).sort()
  assert.deepEqual(await statuses(), [`${one.id} revoked`, `${two.id} active`].sort())
  assert.match(await text(['customer', 'show', email]), /^keys +1 active, 1 revoked$/m)
  await assertAllRefused([
    [['key', 'revoke'], /id of a key/],
    [['key', 'revoke', createId()], /no key/],
    [['key', 'revoke', 'not-an-id'], /no key not-an-id/],
    [['key', 'list', 'nobody@example.com'], /no customer nobody/],
  ])
  assert.equal(await text(['key', 'revoke', two.id]), 'revoked\n')

  const acts = await database.db
    .selectFrom('audit_log')
    .select(['action', 'subject_id', 'actor_kind', 'customer_id'])
    .where('subject_id', '=', one.id)
    .orderBy('id')
    .execute()
  const act = { subject_id: one.id, actor_kind: 'operator', customer_id: one.customer_id }
  assert.deepEqual(acts, [
    { action: 'api_key.created', ...act },
    { action: 'api_key.revoked', ...act },
  ])
})

test('the models are listed with prices and routes, all or by category', async () => {
  const all = await json(['model', 'list'])
  const mini = all.find((model: { id: string }) => model.id === 'gpt-4o-mini')
  assert.deepEqual(
    [mini.category, mini.input_usd, mini.output_usd, mini.routes],
    ['llm', '0.15', '0.6', ['sandbox:gpt-4o-mini']],
  )
  const embeddings = await json(['model', 'list', '--category', 'embedding'])
  assert.ok(embeddings.length > 0 && embeddings.length < all.length)
  assert.ok(embeddings.every((model: { category: string }) => model.category === 'embedding'))
  const table = await text(['model', 'list'])
  assert.equal(table.trimEnd().split('\n').length, all.length + 1)
  assert.match(table, /^gpt-4o-mini +llm +0\.15 +0\.6 +\S+ +sandbox:gpt-4o-mini$/m)
  await assertAllRefused([[['model', 'list', '--category', 'lmm'], /--category/]])
})

test('a rate by hand says whether it is in force, and can be taken back', async () => {
  const fresh = await createTestDatabase()
  try {
    const on = { database: fresh }
    const none = await run(['fx', 'show'], on)
    assert.deepEqual([none.code, none.stdout], [1, 'no rate is stored\n'])
    const first = ['fx', 'set', '5.2238', '--note', 'teste', '--date', '2026-02-20']
    const { is_in_force, in_force, ...set } = await json(first, on)
    assert.deepEqual([set.rate, set.date, set.source], [5.2238, '2026-02-20', 'sandbox'])
    assert.deepEqual([is_in_force, in_force], [true, set])
    assert.deepEqual(await json(['fx', 'show'], on), set)
    const shown = `1 USD = 5.2238 BRL  (sandbox, 2026-02-20, id ${set.id})\n`
    assert.equal(await text(['fx', 'show'], on), shown)
    const older = await text(['fx', 'set', '5.1', '--note', 'x', '--date', '2026-02-19'], on)
    assert.match(older, /^stored, but not in force: 1 USD = 5\.1 BRL/)
    assert.equal(older.split('\n')[1] + '\n', `in force: ${shown}`)
    assert.deepEqual(await json(['fx', 'show'], on), set, 'an older date changes nothing')
    const far = ['fx', 'set', '52.238', '--note', 'x']
    await assertRefused(far, /more than 20 % .* 5\.2238 BRL .* --confirm/, on)
    const future = ['fx', 'set', '5.2', '--note', 'x', '--date', '2130-01-01']
    await assertRefused(future, /--date: .* after today/, on)
    const unknown = ['fx', 'withdraw', String(set.id + 100)]
    await assertRefused(unknown, /no rate that was set by hand/, on)
    const slip = await json(['fx', 'set', '52.238', '--note', 'x', '--confirm'], on)
    assert.equal((await json(['fx', 'show'], on)).rate, 52.238)
    const back = await text(['fx', 'withdraw', String(slip.id), '--note', 'engano'], on)
    assert.match(back, /^withdrawn: 1 USD = 52\.238 .*\nin force: 1 USD = 5\.2238 BRL/)
    assert.equal((await json(['fx', 'show'], on)).rate, 5.2238)
    const newer = await text(['fx', 'set', '5.3', '--note', 'x'], on)
    assert.match(newer, /^stored, in force: 1 USD = 5\.3 BRL/)
    assert.equal((await json(['fx', 'show'], on)).rate, 5.3)
    // A sandbox rate is never used in live mode.
    const live = { database: fresh, env: { ...LIVE_ENVIRONMENT, OPENAI_API_KEY: 'sk-test' } }
    assert.equal((await run(['fx', 'show'], live)).code, 1)
    await assertRefused(['fx', 'set', '54', '--note', 'x'], /not a usual rate/, live)
    const only = await json(['fx', 'set', '5.4', '--note', 'à mão'], live)
    assert.equal(only.source, 'manual')
    const taken = ['fx', 'withdraw', String(only.id), '--note', 'x']
    await assertRefused(taken, /the only rate/, live)
    assert.equal((await json(['fx', 'show'], live)).rate, 5.4)
    assert.equal((await json(['fx', 'show'], on)).rate, 5.3)
    await assertRefused(['fx', 'set', '5.5'], /--note is needed/, live)
  } finally {
    await fresh.drop()
  }
})

test('an invalid rate is refused and not stored', async () => {
  const set = (...rest: string[]): string[] => ['fx', 'set', ...rest, '--note', 'x']
  await assertAllRefused([
    [set(), /the rate must be/],
    ...['5,22', '0', '100', '5.22381'].map((rate) => [set(rate), /the rate must be/] as const),
    ...['20/11/2026', '2026-13-01', '2026-02-31'].map(
      (date) => [set('5.2', '--date', date), /--date/] as const,
    ),
  ])
})

test('an audit of a sound ledger succeeds, and names the check that a changed balance fails', async () => {
  const fresh = await createTestDatabase()
  try {
    const on = { database: fresh }
    await json(['customer', 'create', '--name', 'Auditado', '--email', 'a@example.com'], on)
    await json(['customer', 'credit', 'a@example.com', '--amount-brl', '50'], on)
    const clean = await json(['audit'], on)
    assert.deepEqual([clean.ok, clean.customers, clean.charges], [true, 1, 0])
    assert.ok(clean.checks.length >= 10)
    assert.ok(clean.checks.every((check: { ok: boolean }) => check.ok))
    const said = await text(['audit'], on)
    assert.doesNotMatch(said, /FAILED/)
    assert.match(said, /^0 charges, 0 releases, 0 open holds, 1 customers, 0 debts$/m)

    for (const [column, name] of Object.entries({
      credited_nano_brl: 'account credits equal the sum of credit entries',
      charged_nano_brl: 'account charges equal the sum of usage events',
      held_nano_brl: 'held amounts equal the sum of open holds',
    })) {
      const change = (by: number): Promise<unknown> =>
        sql`update accounts set ${sql.ref(column)} = ${sql.ref(column)} + ${by}`.execute(fresh.db)
      await change(1)
      const [plain, asJson] = await Promise.all([run(['audit'], on), run(['audit', '--json'], on)])
      assert.deepEqual([plain.code, asJson.code], [1, 1])
      assert.match(plain.stdout, new RegExp(`^FAILED +${name}$`, 'm'))
      const report = JSON.parse(asJson.stdout)
      assert.equal(report.ok, false)
      assert.deepEqual(
        report.checks.flatMap((check: any) => (check.ok ? [] : [check.name])),
        [name],
      )
      await change(-1)
    }
    assert.equal((await run(['audit'], on)).code, 0)
  } finally {
    await fresh.drop()
  }
})

test('the doctor finds a missing rate, sandbox mode and missing upstreams', async () => {
  const fresh = await createTestDatabase()
  try {
    const on = { database: fresh }
    const levels = (report: any): string[] => report.findings.map((f: { level: string }) => f.level)
    const ill = await run(['doctor', '--json'], on)
    assert.equal(ill.code, 1)
    const report = JSON.parse(ill.stdout)
    assert.equal(report.ok, false)
    assert.ok(levels(report).includes('fault'))
    await text(['fx', 'set', '5.2', '--note', 'x'], on)
    const better = JSON.parse((await run(['doctor', '--json'], on)).stdout)
    const faults = better.findings.filter((f: { level: string }) => f.level === 'fault')
    assert.deepEqual(
      faults.map(({ text }: { text: string }) => text),
      [
        'the database runs with fsync off: a power cut loses charges',
        'the database runs with full_page_writes off: a power cut can damage its files',
      ],
      'the faults left are those of the database of the tests',
    )
    const said = (await run(['doctor'], on)).stdout
    assert.match(said, /^ok +PostgreSQL \d+/m)
    assert.match(said, /^ok +1 USD = 5\.2 BRL/m)
    assert.match(said, /^warn +sandbox mode/m)
    const live = { ...LIVE_ENVIRONMENT, OPENAI_API_KEY: 'sk-test' }
    const ready = await run(['doctor'], { database: fresh, env: live })
    assert.equal(ready.code, 1, 'the rate of the sandbox is none of live mode')
    assert.match(ready.stdout, /^fault +no exchange rate/m)
    assert.match(ready.stdout, /^warn +\d+ models? ha(?:s|ve) no upstream with a key/m)
    assert.doesNotMatch(ready.stdout + ready.stderr, /sk-test/)
  } finally {
    await fresh.drop()
  }
})

test('help is printed on request', async () => {
  for (const args of [[], ['--help'], ['key', 'create', '-h']]) {
    const help = await text(args)
    for (const name of ['customer create', 'key revoke', 'fx set', 'audit', 'doctor'])
      assert.match(help, new RegExp(`^  ${name}`, 'm'))
  }
})

test('an unknown command is named, with the commands that come close, and not buried under the help', async () => {
  await assertAllRefused([
    [['customer'], /^unknown command: customer\nthere are: customer create, /],
    [['customer', 'creat', '--name', 'x'], /^unknown command: customer creat\nthere are: /],
    [['secrets', 'x'], /^unknown command: secrets x\nthere is: secrets rotate\n/],
    [['nonsense'], /^unknown command: nonsense\ncommands begin with: customer, key, /],
    [['constructor'], /^unknown command: constructor\n/],
  ])
})

test('an unknown option or argument is refused, and so is an empty name', async () => {
  await assertAllRefused([
    [['customer', 'create', '--name', 'x', '--balance', '5'], /--balance/],
    [['customer', 'create', '--name'], /--name/],
    [['audit', '--json=yes'], /--json/],
    [['customer', 'create', '--name', ''], /--name/],
    // A name without its quotes would become half a name.
    [['customer', 'create', '--name', 'Padaria', 'do', 'Zé'], /do/],
    // A typo of the operator: the intended limit would be missing.
    [['customer', 'create', '--name', 'x', '--budget-usd', '5'], /--budget-usd/],
  ])
})

test('faults of the configuration and an unreachable database are reported in one line', async () => {
  await assertRefused(['customer', 'list'], /PORT: .*"abc"/, { env: { PORT: 'abc' } })
  assert.match((await run(['customer', 'list'])).stderr, TARGET_LINE)
  const down = await run(['customer', 'list'], {
    env: { DATABASE_URL: 'postgres://catraca:hush@127.0.0.1:1/catraca' },
  })
  assert.equal(down.code, 1)
  assert.match(down.stderr, /ECONNREFUSED/)
  assert.doesNotMatch(down.stderr, /hush/)
})

test('as a process it prints the same, exits by itself, and has the same exit code', async () => {
  const { id } = await makeCustomer()
  const unreachable = { DATABASE_URL: 'postgres://catraca:hush@127.0.0.1:1/catraca' }
  const cases: (readonly [number, string[], Record<string, string>?])[] = [
    [0, ['--help']],
    [0, ['customer', 'show', id, '--json']],
    [0, ['model', 'list']],
    [2, ['customer', 'show', 'nobody@example.com']],
    [2, ['customer', 'list', '--nada']],
    [1, ['customer', 'list'], unreachable],
  ]
  for (const [code, args, env = {}] of cases) {
    const [inside, outside] = await Promise.all([
      run(args, { env }),
      runCliProcess(args, environment({ env })),
    ])
    assert.equal(outside.code, code, outside.stderr)
    // A stack trace depends on the place of the call.
    const printed = ({ stdout, stderr }: RanCli) => [stdout, ...stderr.split('\n').slice(0, 2)]
    assert.deepEqual(printed(outside), printed(inside))
  }
})
