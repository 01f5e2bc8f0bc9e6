// deep: every table with data of a person
/** A customer's right to a copy of their data, and to be forgotten: what the law asks to keep stays, and nothing else. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { OPERATOR } from '../../src/platform/audit-log/audited.ts'
import { createApiKey } from '../../src/customers/api-keys.ts'
import { createCustomer, findCustomer, isCustomerDeleted } from '../../src/customers/customers.ts'
import { ensureDemo } from '../../src/app/greet.ts'
import { sealUsage } from '../../src/money/ledger/audit/audit-seals.ts'
import { findAccount } from '../../src/money/ledger/entries.ts'
import { createId, sha256 } from '../../src/platform/lib/ids.ts'
import { deleteAccount } from '../../src/identity/personal-data/delete-account.ts'
import {
  eraseDeletedAccounts,
  eraseRemains,
} from '../../src/identity/personal-data/erase-remains.ts'
import { exportAccount } from '../../src/identity/personal-data/export-account.ts'
import { INVENTORY } from '../../src/identity/personal-data/inventory.ts'
import { createResponseStore } from '../../src/customers/stored-responses/response-store.ts'
import { storeImage } from '../../src/gateway/generated-images.ts'
import { ensurePayer } from '../../src/money/payments/payers.ts'
import type { PayerDetails, Processor } from '../../src/money/payments/processor.ts'
import { seedPayer, until } from '../harness/payer.ts'
import { runCli, type RanCli } from '../harness/run-cli.ts'
import { seedCustomer } from '../harness/test-database.ts'
import { seedPerson, TAX_ID, type SeededPerson } from '../harness/seed-person.ts'
import { seedUsage } from '../harness/seed-usage.ts'
import { startLocalNode } from '../harness/local-node.ts'
import { ask, askChat, sound, type Asked } from '../harness/ask.ts'
import { assertAudit, untilNoHoldIsOpen } from '../harness/assert-audit.ts'
import { startGateway } from '../harness/gateway.ts'
import { openSession } from '../harness/open-session.ts'
import { untilSessionsWait } from '../harness/waiting-sessions.ts'

const gateway = await startGateway()
after(() => gateway.stop())
const { db, databaseUrl } = gateway.database
const { baseUrl } = gateway.node

/** Who has an open payment at the processor, and then no account; the job that tells the processor runs at intervals. */
const unpaid = await deletePayer()

async function deletePayer(): Promise<string> {
  const { customerId, secret } = await seedPayer(db)
  const { status, text } = await ask(baseUrl, '/topups', {
    secret,
    body: { amount: 20, method: 'pix' },
  })
  assert.equal(status, 201, text)
  const { kind } = await deleteAccount(db, OPERATOR, { customerId, waiveBalance: true })
  assert.equal(kind, 'deleted')
  return customerId
}

function deleteMe(secret: string, body: unknown): Promise<Asked> {
  return ask(baseUrl, '/me', { method: 'DELETE', secret, body })
}

/** Whose rows the column names; addresses by the address. */
function valueIn(column: string, person: SeededPerson): string {
  return column.endsWith('.email') ? person.email : person.customerId
}

async function countRows(column: string, person: SeededPerson): Promise<number> {
  const [table = '', name = ''] = column.split('.')
  const { rows } = await sql<{ count: bigint }>`
    select count(*) from ${sql.table(table)}
    where ${sql.ref(name)}::text = ${valueIn(column, person)}`.execute(db)
  return Number(rows[0]?.count)
}

/** Tables of the whole database in which the text is. */
async function findText(text: string): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select relname as name from pg_class
    where relnamespace = 'public'::regnamespace and relkind = 'r'`.execute(db)
  const found: string[] = []
  for (const { name } of rows) {
    const { rows: hits } = await sql`
      select 1 from ${sql.table(name)} t where strpos(t::text, ${text}) > 0 limit 1`.execute(db)
    if (hits.length > 0) found.push(name)
  }
  return found
}

function actsOn(customerId: string, action: string) {
  return db
    .selectFrom('audit_log')
    .selectAll()
    .where('customer_id', '=', customerId)
    .where('action', '=', action)
    .execute()
}

test('every column with personal data has a rule for the export and for the deletion', async () => {
  const { rows } = await sql<{ name: string }>`
    select c.relname || '.' || a.attname as name
    from pg_class c
    join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
      and (
        a.attname ~ '^(customer|owner|user|member|actor|referrer|person|account)_id$|_by$|email|phone'
        or exists (
          select 1 from pg_constraint f
          where f.contype = 'f' and f.conrelid = c.oid and a.attnum = any (f.conkey)
            and f.confrelid in ('customers'::regclass, 'accounts'::regclass)))`.execute(db)
  const known = Object.keys(INVENTORY).filter((column) => column !== 'customers.id')
  // Of a row that is known by another column.
  const within = [
    'customers.incident_email_enabled',
    'customers.low_balance_email_enabled',
    'profiles.phone',
    'sign_in_accounts.user_id',
    'sign_in_backup_codes.user_id',
    'sign_in_passkeys.user_id',
    'sign_in_second_factors.user_id',
    'sign_in_sessions.user_id',
  ]
  assert.deepEqual([...known, ...within].sort(), rows.map(({ name }) => name).sort())
  for (const [column, holding] of Object.entries(INVENTORY))
    assert.ok((holding.exportedIn === undefined) !== (holding.notExported === undefined), column)
})

/** Nobody has a call that runs, a debt or a corrected charge here, and none operates. */
const UNSEEDED = new Set([
  'holds.customer_id',
  'account_debts.customer_id',
  'charge_corrections.customer_id',
  'sign_in_second_factors.reset_requested_by',
  // Made by the deletion.
  'payer_removals.customer_id',
])

test("the export has the customer's rows of each table, no secrets, and no rows of others", async () => {
  const person = await seedPerson(db)
  const other = await seedPerson(db)
  await sealUsage(db, { share: 1, marginSeconds: 0 })
  const answer = await ask(baseUrl, '/me/export', { secret: person.secret })
  assert.equal(answer.status, 200, answer.text.slice(0, 300))
  const { json } = answer
  assert.equal(json.export_version, 1)
  assert.equal(new Date(json.generated_at).toISOString(), json.generated_at)
  for (const [column, { exportedIn }] of Object.entries(INVENTORY)) {
    if (!UNSEEDED.has(column))
      assert.ok((await countRows(column, person)) > 0, `${column} is seeded`)
    if (exportedIn === undefined) continue
    assert.ok(
      Object.values(json[exportedIn]).some((value) => value !== null),
      `${column}: ${exportedIn} has something`,
    )
    if (Array.isArray(json[exportedIn]))
      assert.equal(json.totals[exportedIn], json[exportedIn].length, exportedIn)
  }
  for (const word of person.words) assert.ok(answer.text.includes(word), word)
  assert.equal(json.profile.cpf_cnpj, TAX_ID)
  assert.equal(json.account.email, person.email)
  assert.deepEqual(
    json.prompt_versions.map((version: { body: string }) => version.body).sort(),
    [1, 2].map((version) => `Texto ${version} de ${person.words[0]}`),
  )
  assert.equal(json.sessions[0].session_id, person.sessionId)
  assert.equal(json.sessions[0].requests, 2)
  assert.equal(
    json.usage_by_month.reduce(
      (sum: number, month: { requests: number }) => sum + month.requests,
      0,
    ),
    2,
  )
  assert.deepEqual(json.referrals.map((referral: { part: string }) => referral.part).sort(), [
    'referred',
    'referrer',
  ])
  const [act] = await actsOn(person.customerId, 'profile.changed')
  assert.deepEqual(
    json.activities.filter(({ action }: { action: string }) => action === 'profile.changed'),
    [
      {
        id: act?.id,
        created_at: act?.created_at.toISOString(),
        action: 'profile.changed',
        actor_kind: 'customer',
        api_key_id: null,
        session_id: null,
        ip: '127.0.0.1',
        subject_id: person.customerId,
        details: null,
      },
    ],
  )
  const images = await db
    .selectFrom('generated_images')
    .select('id')
    .where('customer_id', '=', person.customerId)
    .execute()
  assert.ok(images.length > 0)
  for (const { id } of images) assert.ok(!answer.text.includes(id), 'the address of a picture')
  const session = await openSession({ db, dataDir: gateway.node.dataDir }, person.customerId)
  const security = await ask(new URL(baseUrl).origin, '/auth/security', { secret: session })
  const [{ provider, createdAt }] = security.json.linkedAccounts
  assert.deepEqual(json.sign_in_providers, [{ provider, created_at: createdAt }])
  assert.match(json.note, /usage\/export\.json/)
  assert.doesNotMatch(answer.text, /hash|sk-svc-/)
  assert.ok(!answer.text.includes(other.words[0] as string))
  assert.ok(!answer.text.includes(person.teamOwnerId))
  assert.equal((await actsOn(person.customerId, 'account.exported')).length, 1)
  assert.equal((await ask(baseUrl, '/me/export')).status, 401)
})

test('a balance in the export is exact', async () => {
  const { secret } = await seedCustomer(db, { balanceBrl: '123456789.123456789' })
  const { text } = await ask(baseUrl, '/me/export', { secret })
  assert.match(text, /"balance_brl":123456789\.123456789,/)
  assert.match(text, /"amount_brl":123456789\.123456789,/)
})

test('a truncated export names each truncated list and its full length', async () => {
  const person = await seedPerson(db)
  await seedUsage(db, {
    customerId: person.customerId,
    apiKeyId: person.keyId,
    events: Array.from({ length: 5 }, (_, place) => ({
      at: new Date(Date.now() - (place + 1) * 60_000),
      modelId: 'sandbox-chat',
      promptTokens: 1,
      completionTokens: 1,
      sessionId: `s${place}`,
    })),
  })
  const document = (await exportAccount(db, OPERATOR, {
    customerId: person.customerId,
    bounds: { entriesMax: 3, promptTextBytesMax: 30 },
  })) as any
  assert.deepEqual(
    document.sessions.map((session: { session_id: string }) => session.session_id),
    [person.sessionId, 's0', 's1'],
  )
  assert.equal(document.totals.sessions, 6)
  assert.equal(document.prompt_versions.length, 1, 'one text of 30 bytes')
  assert.equal(document.totals.prompt_versions, 2)
  assert.match(document.note, /sessions, .*prompt_versions|prompt_versions, .*sessions/)
})

test("a deletion requires the account's e-mail and, with a remaining balance, its waiver", async () => {
  const person = await seedPerson(db)
  for (const [body, details] of [
    [{}, /confirm/],
    [{ confirm: '' }, /confirm/],
    [{ confirm: person.name }, /e-mail/],
    [{ confirm: person.email, waive_balance: 'yes' }, /waive_balance/],
    [{ confirm: person.email, more: 1 }, /more/],
  ] as const) {
    const answer = await deleteMe(person.secret, body)
    assert.equal(answer.status, 400, answer.text)
    assert.equal(answer.json.error, 'invalid_request')
    assert.match(answer.json.details, details)
  }
  const answer = await deleteMe(person.secret, { confirm: person.email })
  assert.equal(answer.status, 409)
  assert.equal(answer.json.error, 'balance_remaining')
  assert.match(answer.json.details, /reembolso.*waive_balance/)
  assert.equal((await ask(baseUrl, '/me/profile', { secret: person.secret })).status, 200)
  assert.equal((await findCustomer(db, person.customerId))?.email, person.email)
  assert.equal((await actsOn(person.customerId, 'account.deleted')).length, 0)
})

test('after a deletion every key is refused on all nodes, no personal data is left, and the audit passes', async () => {
  const person = await seedPerson(db)
  const bystander = await seedPerson(db)
  await sealUsage(db, { share: 1, marginSeconds: 0 })
  const second = await startLocalNode({ databaseUrl })
  try {
    for (const url of [baseUrl, second.baseUrl])
      assert.equal((await ask(url, '/me/profile', { secret: person.secret })).status, 200)
    const left = (await findAccount(db, person.customerId))?.balanceNanoBrl
    // Its key has a list of addresses: one with a limit waives no balance.
    const session = await openSession({ db, dataDir: gateway.node.dataDir }, person.customerId)
    const answer = await deleteMe(session, { confirm: person.email, waive_balance: true })
    assert.equal(answer.status, 200, answer.text)
    assert.equal(Math.round(answer.json.waived_brl * 1e9), Number(left))
    // Told by the database, a moment later there.
    for (const deadline = Date.now() + 30_000; Date.now() < deadline; await sleep(20))
      if ((await ask(second.baseUrl, '/me/profile', { secret: person.secret })).status === 401)
        break
    for (const url of [baseUrl, second.baseUrl]) {
      const { status, text } = await ask(url, '/me/profile', { secret: person.secret })
      assert.deepEqual({ status, text }, { status: 401, text: '' })
      for (const secret of [person.secret, person.teamSecret])
        assert.equal((await askChat(url, secret, sound())).status, 401)
    }
    assert.ok(!second.log.join('\n').includes(TAX_ID))
  } finally {
    await second.stop()
    await second.remove()
  }
  // The other person of the test has the same CPF and addresses.
  const [marker = ''] = person.words
  assert.deepEqual(await findText(marker), [])
  for (const [column, { deletion }] of Object.entries(INVENTORY)) {
    if (UNSEEDED.has(column)) continue
    const isErased = deletion === 'erased'
    assert.equal((await countRows(column, person)) === 0, isErased, column)
    assert.ok((await countRows(column, bystander)) > 0, `${column} of somebody else`)
  }
  assert.equal((await findAccount(db, person.customerId))?.balanceNanoBrl, 0n)
  const [entry] = await db
    .selectFrom('ledger_entries')
    .selectAll()
    .where('customer_id', '=', person.customerId)
    .where('reason', '=', 'account_closed')
    .execute()
  assert.equal(entry?.kind, 'debit')
  const [act] = await actsOn(person.customerId, 'account.deleted')
  assert.equal(act?.actor_id, person.customerId)
  assert.equal(act?.ip, '127.0.0.1')
  for (const word of [marker, TAX_ID]) assert.ok(!gateway.node.log.join('\n').includes(word))
  await assertAudit(gateway.database)

  const again = await createCustomer(db, { name: person.name, email: person.email })
  assert.ok(!('kind' in again) && again.id !== person.customerId)
})

test('an account without an e-mail is confirmed by its name, and without a balance needs no waiver', async () => {
  const { secret } = await seedCustomer(db, { balanceBrl: '0' })
  assert.equal((await deleteMe(secret, { confirm: 'teste' })).status, 400)
  const answer = await deleteMe(secret, { confirm: 'Teste' })
  assert.equal(answer.status, 200, answer.text)
  assert.equal(answer.json.waived_brl, 0)
})

test('an account with a running call cannot be deleted until the call has ended', async () => {
  const { secret, customerId } = await seedCustomer(db, { balanceBrl: '50' })
  const running = askChat(baseUrl, secret, sound('sandbox-slow'))
  while ((await findAccount(db, customerId))?.heldNanoBrl === 0n) await sleep(5)
  const refused = await deleteMe(secret, { confirm: 'Teste', waive_balance: true })
  assert.equal(refused.status, 409)
  assert.equal(refused.json.error, 'calls_running')
  assert.equal((await running).status, 200)
  await untilNoHoldIsOpen(gateway.database)
  const answer = await deleteMe(secret, { confirm: 'Teste', waive_balance: true })
  assert.equal(answer.status, 200, answer.text)
  await assertAudit(gateway.database)
})

test('with concurrent calls and deletions, one deletion succeeds, every call is charged or refused, and the balance is zero', async () => {
  const { secret, customerId } = await seedCustomer(db, { balanceBrl: '50' })
  const calls = Array.from({ length: 40 }, async (_, place) => {
    await sleep(place * 3)
    return askChat(baseUrl, secret, sound())
  })
  const deletions = Array.from({ length: 4 }, async () => {
    for (;;) {
      const { status } = await deleteMe(secret, { confirm: 'Teste', waive_balance: true })
      if (status !== 409) return status
    }
  })
  const statuses = (await Promise.all(calls)).map(({ status }) => status)
  assert.deepEqual((await Promise.all(deletions)).map(String).sort(), ['200', '401', '401', '401'])
  assert.deepEqual(
    statuses.filter((status) => ![200, 401, 402].includes(status)),
    [],
  )
  await untilNoHoldIsOpen(gateway.database)
  assert.equal((await findAccount(db, customerId))?.balanceNanoBrl, 0n)
  await assertAudit(gateway.database)
})

test('data written during the deletion of an account is deleted with it, and nothing can be written afterwards', async () => {
  const { customerId } = await seedCustomer(db, { balanceBrl: '0' })
  const input = { customerId, name: 'tardia', requestsPerMinute: 10 }
  let deletion: Promise<{ kind: string }> | undefined
  const { key } = await db.transaction().execute(async (trx) => {
    const made = await createApiKey(trx, input)
    deletion = deleteAccount(db, OPERATOR, { customerId, waiveBalance: false })
    await untilSessionsWait(db)
    return made
  })
  assert.equal((await deletion)?.kind, 'deleted')
  const row = await db
    .selectFrom('api_keys')
    .select('revoked_at')
    .where('id', '=', key.id)
    .executeTakeFirstOrThrow()
  assert.ok(row.revoked_at)
  await assert.rejects(createApiKey(db, input), isCustomerDeleted)
  assert.equal(
    (await deleteAccount(db, OPERATOR, { customerId, waiveBalance: false })).kind,
    'already_deleted',
  )
})

/** Where something else than the trigger keeps rows of deleted customers out. */
const WITHOUT_TRIGGER: Readonly<Record<string, string>> = {
  public_bills: 'their act locks the customer',
  stored_responses: 'only of an account that stores them, and a deletion ends that',
  stored_response_sums: 'as the responses',
  generated_images: 'only of an account that is there',
  batch_lines: 'only in the transaction that makes their batch',
  file_parts: 'only in the transaction that makes their file',
  task_spends: 'only with a hold, which takes a key that was not revoked',
  usage_sessions: 'only with a charge, and a deletion waits for holds',
  archived_sessions: 'only of events with ids of sessions, which are erased',
  archived_session_keys: 'as the sessions',
}

test('each table whose rows go with an account refuses rows that come after it', async () => {
  const { rows } = await sql<{ name: string }>`
    select distinct relname as name from pg_trigger t join pg_class c on c.oid = t.tgrelid
    where tgname = 'refuse_deleted_customer'`.execute(db)
  const guarded = rows.map(({ name }) => name)
  const erased = Object.entries(INVENTORY)
    .filter(([column, { deletion }]) => deletion === 'erased' && !column.endsWith('email'))
    .map(([column]) => column.split('.')[0] as string)
  const open = erased.filter((table) => !guarded.includes(table))
  assert.deepEqual([...new Set(open)].sort(), Object.keys(WITHOUT_TRIGGER).sort())
})

test('what a call or the payment processor brings after the deletion of its account is not kept', async () => {
  const { customerId, key } = await seedCustomer(db, { balanceBrl: '0' })
  await sql`update customers set stored_responses_days = 7 where id = ${customerId}`.execute(db)
  const image = { mediaType: 'image/png', bytes: Buffer.from('a picture') }
  await storeImage(db, customerId, image)
  assert.equal(
    (await deleteAccount(db, OPERATOR, { customerId, waiveBalance: false })).kind,
    'deleted',
  )
  await eraseRemains(db, customerId)

  await assert.rejects(storeImage(db, customerId, image))
  const responses = createResponseStore({ db, sealingKey: randomBytes(32) })
  const texts = { input: '[]', output: '[]', head: '{}' }
  const response = { id: createId(), customerId, keyId: key.id, previousId: null, isFailed: false }
  assert.equal(await responses.put({ ...response, ...texts }), false)
  const processor = {
    id: 'late',
    ensureCustomer: async () => ({ kind: 'customer' as const, customer: { id: 'theirs' } }),
  } as unknown as Processor
  const payer = { ourId: customerId } as PayerDetails
  await assert.rejects(ensurePayer(db, processor, payer), isCustomerDeleted)
  for (const table of ['generated_images', 'stored_responses', 'processor_customers'])
    assert.equal(
      (await sql`select from ${sql.table(table)} where customer_id = ${customerId}`.execute(db))
        .rows.length,
      0,
      table,
    )
  const removals = await db
    .selectFrom('payer_removals')
    .select('processor')
    .where('customer_id', '=', customerId)
    .execute()
  assert.deepEqual(
    removals,
    [{ processor: 'late' }],
    'the processor deletes what it has just created',
  )
})

test('session ids are erased in batches, and the audit passes between any two', async () => {
  const { customerId, key } = await seedCustomer(db, { balanceBrl: '1000' })
  const events = Array.from({ length: 2_600 }, (_, place) => ({
    at: new Date(Date.now() - place * 1_000),
    modelId: 'sandbox-chat',
    promptTokens: 10,
    completionTokens: 5,
    // One session is longer than a batch, and some calls of it were released.
    sessionId: place % 4 === 0 ? `curta ${place % 40}` : 'longa',
    outcome: place % 7 === 0 ? ('released' as const) : ('charged' as const),
  }))
  await seedUsage(db, { customerId, apiKeyId: key.id, events })
  await deleteAccount(db, OPERATOR, { customerId, waiveBalance: true })
  let batches = 0
  while (!(await eraseRemains(db, customerId, 0))) {
    batches += 1
    await assertAudit(gateway.database)
  }
  // There are three; the job of the running server may take some of them.
  assert.ok(batches >= 1)
  const { rows } = await sql`
    select 1 from usage_events where customer_id = ${customerId} and session_id is not null
    union all select 1 from usage_sessions where customer_id = ${customerId}`.execute(db)
  assert.deepEqual(rows, [])
  await assertAudit(gateway.database)
})

test('concurrent erasures of one account erase each row once', async () => {
  const { customerId, key } = await seedCustomer(db, { balanceBrl: '1000' })
  const events = Array.from({ length: 3_000 }, (_, place) => ({
    at: new Date(Date.now() - place * 1_000),
    modelId: 'sandbox-chat',
    promptTokens: 10,
    completionTokens: 5,
    sessionId: 'longa',
  }))
  await seedUsage(db, { customerId, apiKeyId: key.id, events })
  await deleteAccount(db, OPERATOR, { customerId, waiveBalance: true })
  await Promise.all([
    eraseRemains(db, customerId),
    eraseRemains(db, customerId),
    eraseDeletedAccounts(db),
  ])
  await assertAudit(gateway.database)
})

test('the job completes an erasure that a request left unfinished', async () => {
  const person = await seedPerson(db)
  await deleteAccount(db, OPERATOR, { customerId: person.customerId, waiveBalance: true })
  assert.notDeepEqual(await findText(person.words[0] as string), [])
  assert.equal(await eraseDeletedAccounts(db), 1)
  assert.deepEqual(await findText(person.words[0] as string), [])
  assert.equal(await eraseDeletedAccounts(db), 0)
})

test('the operator exports and deletes an account by commands, which can be repeated', async () => {
  const person = await seedPerson(db)
  const copy = await catraca('customer', 'export', person.email)
  assert.equal(JSON.parse(copy.stdout).account.id, person.customerId)
  const refused = await catraca('customer', 'delete', person.email)
  assert.deepEqual([refused.code, refused.stdout], [2, ''])
  assert.match(refused.stderr, /waive-balance/)
  const done = await catraca('customer', 'delete', person.email, '--waive-balance')
  assert.equal(done.code, 0, done.stderr)
  assert.deepEqual(await findText(person.words[0] as string), [])
  const again = await catraca('customer', 'delete', person.customerId)
  assert.match(again.stdout, /already deleted/)
  const late = await catraca('customer', 'credit', person.customerId, '--amount-brl', '5')
  assert.match(late.stderr, /is deleted/)
  const acts = await actsOn(person.customerId, 'account.deleted')
  assert.deepEqual(
    acts.map(({ actor_kind, actor_id }) => [actor_kind, actor_id]),
    [['operator', null]],
  )
  await assertAudit(gateway.database)
})

test('after a deletion of the demo account, the next start creates another with its balance', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'catraca-demo-'))
  try {
    const first = await ensureDemo(db, dataDir)
    await sql`update api_keys set scope = 'manage' where secret_hash = ${sha256(first)}`.execute(db)
    const confirm = 'demo@example.com'
    const { id } = await db
      .selectFrom('customers')
      .select('id')
      .where('email', '=', confirm)
      .executeTakeFirstOrThrow()
    const session = await openSession({ db, dataDir: gateway.node.dataDir }, id)
    const answer = await deleteMe(session, { confirm, waive_balance: true })
    assert.equal(answer.status, 200, answer.text)
    const next = await ensureDemo(db, dataDir)
    assert.notEqual(next, first)
    const usage = await ask(baseUrl, '/usage', { secret: next })
    assert.equal(usage.json.balance.balance_brl, 50)
    assert.equal(await ensureDemo(db, dataDir), next)
  } finally {
    await rm(dataDir, { recursive: true, force: true })
  }
})

test('a late write for a deleted account is refused like an invalid key', async () => {
  const { secret, customerId } = await seedCustomer(db, { balanceBrl: '0' })
  assert.equal((await ask(baseUrl, '/me/preferences', { secret })).status, 200)
  // By hand, so that the node still knows the key.
  await sql`update customers set deleted_at = now() where id = ${customerId}`.execute(db)
  for (const [path, body] of [
    ['/me/preferences', { weekly_digest_enabled: false }],
    ['/me/profile', { cpf_cnpj: TAX_ID }],
  ] as const) {
    const { status, text } = await ask(baseUrl, path, { method: 'PUT', secret, body })
    assert.deepEqual({ status, text }, { status: 401, text: '' }, path)
  }
  assert.equal((await ask(baseUrl, '/me/export', { secret })).status, 401)
  assert.equal((await ask(baseUrl, '/me/referrals', { secret })).status, 401)
})

function catraca(...args: string[]): Promise<RanCli> {
  return runCli(args, { DATABASE_URL: databaseUrl, DATA_DIR: join(tmpdir(), createId()) })
}

test('the job deletes at the processor who deleted the account', async () => {
  const waiting = () =>
    db
      .selectFrom('payer_removals')
      .select('customer_id')
      .where('customer_id', '=', unpaid)
      .execute()
  await until(waiting, (rows) => rows.length === 0)
})
