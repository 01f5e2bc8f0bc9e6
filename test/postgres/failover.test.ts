// deep: servers of PostgreSQL that fail
/** A primary with a synchronous standby: the primary dies for good, and the standby takes its place. */
import assert from 'node:assert/strict'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { migrate } from '../../src/platform/db/migrate.ts'
import { openDatabase, type OpenDatabase } from '../../src/platform/db/open.ts'
import { auditMoney } from '../../src/money/payments/audit-money.ts'
import {
  startSandboxUpstream,
  type SandboxUpstream,
} from '../../src/sandbox/upstream/start-sandbox-upstream.ts'
import { compareThreeCounts } from '../harness/compare-three-counts.ts'
import { startDatabasePair, type DatabasePair } from '../harness/database-pair.ts'
import { startLoadClients } from '../harness/load-clients.ts'
import { configured, impatientModels, impatientUpstream } from '../harness/media-calls.ts'
import { runCli } from '../harness/run-cli.ts'
import { seedCustomer } from '../harness/test-database.ts'
import { startTestNode, type TestNode } from '../harness/test-node.ts'

let folder: string
let pair: DatabasePair
let sandbox: SandboxUpstream
let database: OpenDatabase

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'catraca-pair-'))
  // The database's account is not root.
  await chmod(folder, 0o755)
  sandbox = await startSandboxUpstream()
  pair = await startDatabasePair(folder)
  await migrate(pair.databaseUrl)
  database = openDatabase(pair.databaseUrl, { onError: () => {} })
})

after(async () => {
  await database.close()
  await pair.close()
  await sandbox.close()
  await rm(folder, { recursive: true, force: true })
})

test('only a standby is no database, and the start says so', async () => {
  const { host, username, password } = new URL(pair.standby.databaseUrl)
  const standbys = `postgres://${username}:${password}@${host},${host}/catraca`
  await assert.rejects(
    startTestNode({ databaseUrl: standbys }),
    /DATABASE_URL cannot be opened: no database takes writes .*it is a standby/,
  )
})

test('the audit and the doctor run on a standby, and a command that writes says why it cannot', async () => {
  await seedCustomer(database.db, { balanceBrl: '10' })
  const standby = openDatabase(pair.standby.databaseUrl, { onError: () => {} })
  for (const deadline = Date.now() + 60_000; ; await sleep(50)) {
    const found = await sql`select 1 from customers`.execute(standby.db).catch(() => undefined)
    if (found?.rows.length === 1) break
    assert.ok(Date.now() < deadline, 'the standby has not replayed the customer')
  }
  await standby.close()
  const environment = { DATABASE_URL: pair.standby.databaseUrl, DATA_DIR: join(folder, 'none') }
  const audited = await runCli(['audit', '--json'], environment)
  assert.equal(audited.code, 0, audited.stderr)
  assert.equal((JSON.parse(audited.stdout) as { customers: number }).customers, 1)
  const doctor = await runCli(['doctor'], environment)
  assert.match(doctor.stdout, /^ok +PostgreSQL \d+/m, doctor.stderr)
  const refused = await runCli(['fx', 'set', '5.2', '--note', 'x'], environment)
  assert.equal(refused.code, 1)
  assert.match(
    refused.stderr,
    /\nthis database is a standby, which takes no writes: set DATABASE_URL to its primary/,
  )
})

test('a new password in the file is used by the next connection, without a restart', async () => {
  const file = join(folder, 'password')
  const url = new URL(pair.standby.databaseUrl)
  await writeFile(file, `${url.password}\n`)
  const { db, close } = openDatabase(pair.databaseUrl, { onError: () => {} })
  const role = 'rotated'
  await sql.raw(`create role ${role} login superuser password 'first'`).execute(db)
  await writeFile(file, 'first\n')
  const node = await startTestNode({
    databaseUrl: pair.databaseUrl.replace(/\/\/[^@]*@/, `//${role}@`),
    env: { DATABASE_PASSWORD_FILE: file },
  })
  await writeFile(file, 'second')
  await sql.raw(`alter role ${role} password 'second'`).execute(db)
  await sql`select pg_terminate_backend(pid) from pg_stat_activity where usename = ${role}`.execute(
    db,
  )
  const { secret } = await seedCustomer(db, { balanceBrl: '10' })
  await untilAnswers(node, secret)
  await node.stop()
  await node.remove()
  await close()
})

test('a fail-over to a synchronous standby loses no charge, and no hold stays open', async () => {
  const node = await startTestNode({
    databaseUrl: pair.databaseUrl,
    env: configured({
      upstreams: [impatientUpstream(sandbox.baseUrl)],
      models: impatientModels(['sandbox-chat'], {
        category: 'llm',
        context_tokens: 8_192,
        markup_multiplier: '2',
        prices: { input: '1', output: '2' },
      }),
    }),
  })
  const { secret, customerId } = await seedCustomer(database.db, { balanceBrl: '1000' })
  const clients = startLoadClients({
    count: 4,
    baseUrls: () => [node.baseUrl],
    secret,
    calls: ['impatient-sandbox-chat'],
  })
  while (clients.wholeSoFar < 20) await sleep(20)
  await pair.primary.kill()
  const before = clients.wholeSoFar
  await pair.promote()
  while (clients.wholeSoFar < before + 20) await sleep(20)
  const received = await clients.stop()
  await untilNoHoldIsOpen()
  const { whole } = await compareThreeCounts(database.db, {
    customerId,
    received,
    upstreamCalls: sandbox.counts.calls,
  })
  assert.ok(whole.length >= 40)
  const report = await auditMoney(database.db)
  assert.deepEqual(
    report.checks.filter((check) => !check.ok),
    [],
  )
  await node.stop()
  await node.remove()
})

async function untilAnswers(node: TestNode, secret: string): Promise<void> {
  for (;;) {
    const answer = await fetch(`${node.baseUrl}/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'sandbox-chat', messages: [{ role: 'user', content: 'oi' }] }),
    })
    await answer.text()
    if (answer.status === 200) return
    await sleep(50)
  }
}

async function untilNoHoldIsOpen(): Promise<void> {
  for (const deadline = Date.now() + 60_000; Date.now() < deadline; await sleep(200)) {
    const { rows } = await sql`select 1 from holds limit 1`.execute(database.db)
    if (rows.length === 0) return
  }
  assert.fail('a hold stays open for a minute')
}
