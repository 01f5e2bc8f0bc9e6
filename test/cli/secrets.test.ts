/** The key that seals secrets is replaced while servers run, and nothing is lost. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { sql } from 'kysely'
import { SYSTEM } from '../../src/platform/audit-log/audited.ts'
import { loadConfig } from '../../src/app/config/config.ts'
import { rotateSecrets } from '../../src/app/rotate-secrets.ts'
import { createApiKey } from '../../src/customers/api-keys.ts'
import { countSealed, SEALED_COLUMNS } from '../../src/platform/db/reseal.ts'
import { createId } from '../../src/platform/lib/ids.ts'
import { seal, unseal } from '../../src/platform/lib/seal.ts'
import {
  createResponseStore,
  type ResponseStore,
} from '../../src/customers/stored-responses/response-store.ts'
import { rotateSigningSecret } from '../../src/deliveries/webhooks/webhook-endpoints.ts'
import { runCli, type RanCli } from '../harness/run-cli.ts'
import { createTestDatabase, seedCustomer } from '../harness/test-database.ts'

const database = await createTestDatabase()
after(() => database.drop())
const { db, databaseUrl } = database
const [previous, current, lost] = [randomBytes(32), randomBytes(32), randomBytes(32)]
const { customerId } = await seedCustomer(db, { balanceBrl: '0' })

const BOTH = {
  SECRETS_KEY: current.toString('base64'),
  SECRETS_KEY_PREVIOUS: previous.toString('base64'),
}

function catraca(args: string[], env: Record<string, string> = BOTH): Promise<RanCli> {
  return runCli(args, { DATABASE_URL: databaseUrl, DATA_DIR: join(tmpdir(), createId()), ...env })
}

async function addSecrets(key: Buffer, count: number): Promise<Map<string, string>> {
  const secrets = new Map(
    Array.from({ length: count }, () => [createId(), `segredo ${createId()}`]),
  )
  const rows = [...secrets].map(([id, secret]) => ({
    id,
    customer_id: customerId,
    url: 'https://hooks.example.com/x',
    description: null,
    event_types: null,
    secret_sealed: seal(key, id, Buffer.from(secret)),
  }))
  await db.insertInto('webhook_endpoints').values(rows).execute()
  return secrets
}

async function assertOpensWith(key: Buffer, secrets: Map<string, string>): Promise<void> {
  for (const [id, secret] of secrets) {
    const { secret_sealed } = await db
      .selectFrom('webhook_endpoints')
      .select('secret_sealed')
      .where('id', '=', id)
      .executeTakeFirstOrThrow()
    assert.equal(unseal(key, id, secret_sealed as Buffer).toString(), secret)
  }
}

async function empty(): Promise<void> {
  await sql`delete from webhook_endpoints`.execute(db)
}

/** What no key opens any more is as if it were not there. */
const CACHE = 'cached_answers.sealed'

test('every sealed column of the database is in the list of columns to be resealed', async () => {
  const { rows } = await sql<{ table: string; column: string }>`
    select c.relname as table, a.attname as column from pg_class c
    join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
      and a.atttypid = 'bytea'::regtype and a.attname ~ 'seal' order by 1, 2`.execute(db)
  const listed = SEALED_COLUMNS.map(({ table, column }) => `${table}.${column}`)
  assert.deepEqual(
    listed.toSorted(),
    rows
      .map(({ table, column }) => `${table}.${column}`)
      .filter((each) => each !== CACHE)
      .toSorted(),
  )
})

test('a secret of the previous key opens until it is resealed, and a secret of neither key does not open', () => {
  const id = createId()
  const sealed = seal(previous, id, Buffer.from('segredo'))
  assert.equal(unseal(current, id, sealed, previous).toString(), 'segredo')
  assert.throws(() => unseal(current, id, sealed), { reason: 'other_key' })
  assert.throws(() => unseal(current, id, sealed, lost), { reason: 'other_key' })
  const cut = Buffer.from(sealed)
  cut[cut.length - 1] = (cut.at(-1) as number) ^ 1
  assert.throws(() => unseal(current, id, cut, previous), { reason: 'damaged' })
})

test('the command reseals everything, can be repeated, and doctor reports the rest', async () => {
  const old = await addSecrets(previous, 3)
  const young = await addSecrets(current, 2)
  const before = await catraca(['doctor'])
  assert.match(
    before.stdout,
    /warn +3 secrets are sealed with SECRETS_KEY_PREVIOUS: run `secrets rotate`/,
  )
  const ran = await catraca(['secrets', 'rotate', '--json'])
  assert.deepEqual(JSON.parse(ran.stdout), {
    resealed: 3,
    damaged: [],
    sealed: { current: 5, previous: 0, unknown: 0 },
  })
  assert.equal(ran.code, 0)
  await assertOpensWith(current, new Map([...old, ...young]))
  assert.deepEqual(await rotateSecrets(db, SYSTEM, { current, previous }), {
    resealed: 0,
    damaged: [],
  })
  const after = await catraca(['doctor'])
  assert.match(after.stdout, /ok +nothing is sealed with SECRETS_KEY_PREVIOUS/)
  const acts = await db
    .selectFrom('audit_log')
    .select(['actor_kind', 'details'])
    .where('action', '=', 'secrets.rotated')
    .execute()
  assert.deepEqual(acts, [{ actor_kind: 'operator', details: { resealed: 3 } }])
  for (const { stdout, stderr } of [before, ran, after])
    for (const key of Object.values(BOTH)) assert.ok(!`${stdout}${stderr}`.includes(key))
  await empty()
})

test('stored responses are resealed, in batches of their own, and stay readable', async () => {
  await sql`update customers set stored_responses_days = 30 where id = ${customerId}`.execute(db)
  const stores = [previous, current].map((sealingKey) =>
    createResponseStore({ db, sealingKey }),
  ) as [ResponseStore, ResponseStore]
  const { key } = await createApiKey(db, { customerId, name: 'guarda', requestsPerMinute: 1 })
  const ids = Array.from({ length: 25 }, () => createId())
  const texts = { input: '[1]', output: '[2]', head: '{"a":3}' }
  const fields = { customerId, keyId: key.id, previousId: null, isFailed: false, ...texts }
  for (const id of ids) assert.ok(await stores[0].put({ id, ...fields }))
  const reader = { customerId, keyId: null, seesAccount: true }
  assert.equal((await stores[1].read(reader, ids, 'all')).size, 0)
  assert.deepEqual(await rotateSecrets(db, SYSTEM, { current, previous }), {
    resealed: 2 * ids.length,
    damaged: [],
  })
  const read = await stores[1].read(reader, ids, 'all')
  assert.deepEqual(
    [...read.values()],
    Array.from(ids, () => texts),
  )
  await sql`delete from stored_responses`.execute(db)
})

test('secrets that cannot be opened are reported, and the others are still resealed', async () => {
  const old = await addSecrets(previous, 1)
  await addSecrets(lost, 2)
  const [damagedId = ''] = (await addSecrets(previous, 1)).keys()
  await sql`update webhook_endpoints set secret_sealed = set_byte(secret_sealed, 30, (get_byte(secret_sealed, 30) + 1) % 256)
    where id = ${damagedId}`.execute(db)
  const ran = await catraca(['secrets', 'rotate', '--json'])
  assert.equal(ran.code, 1)
  assert.deepEqual(JSON.parse(ran.stdout), {
    resealed: 1,
    damaged: [`webhook_endpoints ${damagedId}`],
    sealed: { current: 1, previous: 1, unknown: 2 },
  })
  await assertOpensWith(current, old)
  const doctor = await catraca(['doctor', '--json'])
  assert.equal(doctor.code, 1)
  assert.match(doctor.stdout, /2 secrets are sealed with a key that is neither/)
  await empty()
})

test('while secrets change and runs overlap, every row keeps its newest secret', async () => {
  const secrets = await addSecrets(previous, 450)
  const ids = [...secrets.keys()]
  const exchanged = ids.filter((_, place) => place % 9 === 0)
  const [first, second] = await Promise.all([
    rotateSecrets(db, SYSTEM, { current, previous }),
    rotateSecrets(db, SYSTEM, { current, previous }),
    ...exchanged.map((id) =>
      db.transaction().execute(async (trx) => {
        const made = await rotateSigningSecret(trx, SYSTEM, current, { customerId, id })
        secrets.set(
          id,
          Buffer.from(made?.signingSecret.slice(6) ?? '', 'base64').toString('latin1'),
        )
      }),
    ),
  ])
  assert.ok(first.resealed + second.resealed <= 450)
  assert.deepEqual(await countSealed(db, { current, previous }), {
    current: 450,
    previous: 0,
    unknown: 0,
  })
  const rows = await db.selectFrom('webhook_endpoints').select(['id', 'secret_sealed']).execute()
  for (const { id, secret_sealed } of rows) {
    const form = exchanged.includes(id) ? 'latin1' : 'utf8'
    assert.equal(unseal(current, id, secret_sealed as Buffer).toString(form), secrets.get(id))
  }
  await empty()
})

test('both keys are required, and they must differ', async () => {
  const { code, stderr } = await catraca(['secrets', 'rotate'], { SECRETS_KEY: BOTH.SECRETS_KEY })
  assert.equal(code, 2)
  assert.match(stderr, /SECRETS_KEY and SECRETS_KEY_PREVIOUS are needed/)
  for (const [env, message] of [
    [{ SECRETS_KEY_PREVIOUS: BOTH.SECRETS_KEY_PREVIOUS }, /SECRETS_KEY, which is not set/],
    [{ ...BOTH, SECRETS_KEY_PREVIOUS: BOTH.SECRETS_KEY }, /must be another key/],
    [{ ...BOTH, SECRETS_KEY_PREVIOUS: 'curta' }, /SECRETS_KEY_PREVIOUS: must be 32 bytes/],
    [{ AUTH_WEBHOOK_SECRET: 'whsec_curta' }, /AUTH_WEBHOOK_SECRET: must be whsec_ and 24 to 64/],
  ] as const)
    assert.throws(
      () => loadConfig(env, tmpdir()),
      ({ message: text }: Error) => message.test(text) && !text.includes('curta'),
    )
})
