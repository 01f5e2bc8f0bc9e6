/** A database belongs to the mode of its first start: money of the sandbox never pays for real calls. */
import assert from 'node:assert/strict'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, beforeEach, test } from 'node:test'
import { sql } from 'kysely'
import { openData } from '../../src/app/open-parts.ts'
import { findMode, type Mode } from '../../src/platform/db/claim-mode.ts'
import { credit } from '../../src/money/ledger/entries.ts'
import { createLog } from '../../src/platform/lib/log.ts'
import { auditMoney } from '../../src/money/payments/audit-money.ts'
import { LIVE_ENVIRONMENT } from '../harness/live-environment.ts'
import { runCli } from '../harness/run-cli.ts'
import { createTestDatabase, seedCustomer, type TestDatabase } from '../harness/test-database.ts'

const LIVE = { ...LIVE_ENVIRONMENT, OPENAI_API_KEY: 'sk-test' }

let database: TestDatabase
let db: TestDatabase['db']
let environment: Record<string, string>

before(async () => {
  database = await createTestDatabase()
  db = database.db
  environment = { DATABASE_URL: database.databaseUrl, DATA_DIR: join(tmpdir(), 'none') }
})
after(() => database.drop())
beforeEach(() => sql`delete from installation`.execute(db))

async function start(mode: Mode): Promise<void> {
  const data = await openData(
    database.databaseUrl,
    mode,
    createLog('silent', () => {}),
  )
  await data.close()
}

test('a server of the other mode is refused, before and after restarts', async () => {
  for (const [first, second] of [
    ['sandbox', 'live'],
    ['live', 'sandbox'],
  ] as const) {
    await sql`delete from installation`.execute(db)
    await start(first)
    await start(first)
    await assert.rejects(start(second), {
      message: new RegExp(`belongs to ${first} mode .* CATRACA_MODE is ${second}: set`),
    })
    assert.equal(await findMode(db), first)
  }
})

test('of two first starts in different modes at once, one is refused', async () => {
  const outcomes = await Promise.allSettled([start('sandbox'), start('live')])
  assert.deepEqual(outcomes.map(({ status }) => status).sort(), ['fulfilled', 'rejected'])
})

test('a command of the other mode is refused; the doctor names the fault', async () => {
  await start('live')
  const refused = await runCli(['fx', 'set', '5.2', '--note', 'x'], environment)
  assert.equal(refused.code, 2)
  assert.match(refused.stderr, /\nthis database belongs to live mode .*\n$/)
  const doctor = await runCli(['doctor'], environment)
  assert.equal(doctor.code, 1)
  assert.match(doctor.stdout, /^fault +this database belongs to live mode/m)
})

test('the audit and the doctor find sandbox money in a live database, until its account is deleted', async () => {
  const { customerId } = await seedCustomer(db, { balanceBrl: '0' })
  const amountNanoBrl = 50_000_000_000n
  await credit(db, { customerId, amountNanoBrl, reason: 'sandbox', reference: 'demo' })
  const failed = async (): Promise<string[]> =>
    (await auditMoney(db)).checks.filter(({ ok }) => !ok).map(({ name }) => name)
  await start('sandbox')
  assert.deepEqual(await failed(), [])
  await sql`update installation set mode = 'live'`.execute(db)
  assert.deepEqual(await failed(), ['a live database has no sandbox credit'])
  const live = { ...environment, ...LIVE }
  assert.match((await runCli(['doctor'], live)).stdout, new RegExp(`^fault .*${customerId}`, 'm'))
  const ran = await runCli(['customer', 'delete', customerId, '--waive-balance'], live)
  assert.equal(ran.code, 0, ran.stderr)
  assert.deepEqual(await failed(), [])
  assert.doesNotMatch((await runCli(['doctor'], live)).stdout, /money of the sandbox/)
})
