// deep: processes that are killed
/**
 * A hold is committed without waiting for the disk, so a crash of the database right after the commit can lose it. A call
 * whose hold was lost is neither charged nor answered; a call whose hold survived is charged once.
 */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { startEmbedded, type EmbeddedPostgres } from '../../src/platform/db/embedded.ts'
import { migrate } from '../../src/platform/db/migrate.ts'
import { openDatabase, type OpenDatabase } from '../../src/platform/db/open.ts'
import { findAccount } from '../../src/money/ledger/entries.ts'
import { parseBrl } from '../../src/platform/lib/money.ts'
import { auditMoney } from '../../src/money/payments/audit-money.ts'
import { ensureMonths } from '../../src/app/workers/ensure-months.ts'
import { seedCustomer } from '../harness/test-database.ts'
import { startTestNode, type TestNode } from '../harness/test-node.ts'
import { askChat, billedIn, sound, type Asked } from '../harness/ask.ts'
import { assertRefusal } from '../harness/assert-answer.ts'
import { openTestLedger, runningCall, type TestLedger } from '../harness/open-test-ledger.ts'

let folder: string
let embedded: EmbeddedPostgres
let database: OpenDatabase
let one: TestLedger
let node: TestNode

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'catraca-forgotten-'))
  embedded = await startDatabase()
  await migrate(embedded.databaseUrl)
  database = openDatabase(embedded.databaseUrl, { onError: () => {} })
  await ensureMonths(database.db)
  // The WAL writer pauses, so that a crash always loses a commit that did not wait for the disk.
  await sql`alter system set wal_writer_delay = '10s'`.execute(database.db)
  await sql`select pg_reload_conf()`.execute(database.db)
  one = await openTestLedger(database.db, embedded.databaseUrl)
})

after(async () => {
  await node?.stop('SIGKILL')
  await node?.remove()
  await one.ledger.close()
  await database.close()
  await embedded.stop()
  await rm(folder, { recursive: true, force: true })
})

function startDatabase(): Promise<EmbeddedPostgres> {
  return startEmbedded({ dataDir: join(folder, 'database'), log: () => {} })
}

/**
 * Crashes the database as an internal fault does: every connection ends, and everything that was only in memory is
 * lost.
 */
async function crashDatabase(): Promise<void> {
  const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(database.db)
  process.kill((rows[0] as { pid: number }).pid, 'SIGKILL')
  for (const deadline = Date.now() + 30_000; ; await sleep(50)) {
    const isUp = await sql`select 1`.execute(database.db).then(
      () => true,
      () => false,
    )
    if (isUp) return
    assert.ok(Date.now() < deadline, 'the database did not come back')
  }
}

async function assertSound(): Promise<void> {
  assert.deepEqual(
    (await auditMoney(database.db)).checks.filter(({ ok }) => !ok),
    [],
  )
}

const doubtful = { ...runningCall, isHoldDurable: false }

test('a hold that was lost in a crash is missing: nothing is charged, and its money is free again', async () => {
  const { key, customerId } = await seedCustomer(database.db, { balanceBrl: '10' })
  const kept = one.attempt(key, 100)
  const forgotten = one.attempt(key, 200)
  assert.equal((await one.ledger.hold(kept)).kind, 'held')
  const checkpoint = { id: kept.id, customerId, outputTokensSeen: 0 }
  assert.deepEqual(await one.ledger.checkpoint([checkpoint]), [checkpoint])
  assert.equal((await one.ledger.hold(forgotten)).kind, 'held')
  await crashDatabase()
  const resolved = await Promise.all([
    one.ledger.resolve(one.charge(kept, 40)),
    one.ledger.resolve(one.charge(forgotten, 50), doubtful),
  ])
  assert.deepEqual(
    resolved.map(({ kind }) => kind),
    ['committed', 'missing'],
  )
  // Again, in a batch of its own.
  assert.equal((await one.ledger.resolve(one.charge(forgotten, 50), doubtful)).kind, 'missing')
  assert.deepEqual(
    await one.ledger.resolve(one.charge(kept, 40)),
    { kind: 'committed', isRepeated: true },
    'its event is there',
  )
  const account = await findAccount(database.db, customerId)
  assert.equal(account?.heldNanoBrl, 0n)
  assert.equal(
    account.balanceNanoBrl,
    (parseBrl('10') as bigint) - one.charge(kept, 40).billedNanoBrl,
  )
  await assertSound()
})

test('a hold that a checkpoint has found survives a crash', async () => {
  const { key } = await seedCustomer(database.db, { balanceBrl: '10' })
  const attempt = one.attempt(key, 100)
  assert.equal((await one.ledger.hold(attempt)).kind, 'held')
  const checkpoints = [{ id: attempt.id, customerId: attempt.customerId, outputTokensSeen: 0 }]
  assert.deepEqual(await one.ledger.checkpoint(checkpoints), checkpoints)
  await crashDatabase()
  assert.equal((await one.ledger.resolve(one.charge(attempt, 40), doubtful)).kind, 'committed')
  await assertSound()
})

test('a checkpoint does not confirm a hold that was lost', async () => {
  const { key } = await seedCustomer(database.db, { balanceBrl: '10' })
  const attempt = one.attempt(key, 100)
  assert.equal((await one.ledger.hold(attempt)).kind, 'held')
  await crashDatabase()
  const checkpoint = { id: attempt.id, customerId: attempt.customerId, outputTokensSeen: 0 }
  assert.deepEqual(await one.ledger.checkpoint([checkpoint]), [])
})

test('a charge whose hold is in doubt waits for the database, and gets the outcome of the hold', async () => {
  const { key } = await seedCustomer(database.db, { balanceBrl: '10' })
  const attempt = one.attempt(key, 100)
  assert.equal((await one.ledger.hold(attempt)).kind, 'held')
  // In order: no hold is lost.
  await embedded.stop()
  const resolving = one.ledger.resolve(one.charge(attempt, 40), doubtful)
  await sleep(600)
  assert.equal(one.ledger.spoolLength, 0, 'it is not left to the spool')
  embedded = await startDatabase()
  assert.equal((await resolving).kind, 'committed')
  await assertSound()
})

/** Calls a model, and runs `meanwhile` once the hold is taken and the request has reached the upstream. */
async function callWhile(
  secret: string,
  meanwhile: (holdId: string) => Promise<void>,
  more: object = {},
): Promise<Asked> {
  const requestId = randomUUID()
  const asked = askChat(
    node.baseUrl,
    secret,
    { ...sound('sandbox-slow'), ...more },
    {
      'x-svc-request-id': requestId,
    },
  )
  for (const deadline = Date.now() + 30_000; ; await sleep(2)) {
    const holds = await database.db
      .selectFrom('holds')
      .select('id')
      .where('request_id', '=', requestId)
      .execute()
    const [hold] = holds
    if (hold) {
      await meanwhile(hold.id)
      return asked
    }
    assert.ok(Date.now() < deadline, 'no money was held')
  }
}

test('a plain call whose hold was lost gets 503 and pays nothing', async () => {
  node = await startTestNode({ databaseUrl: embedded.databaseUrl })
  const { secret, customerId } = await seedCustomer(database.db, { balanceBrl: '10' })
  const answer = await callWhile(secret, async (holdId) => {
    // A crash leaves neither the row of the hold nor its amount in the account.
    await database.db.transaction().execute(async (trx) => {
      const { amount_nano_brl } = await trx
        .deleteFrom('holds')
        .where('id', '=', holdId)
        .returning('amount_nano_brl')
        .executeTakeFirstOrThrow()
      await trx
        .updateTable('accounts')
        .set((column) => ({ held_nano_brl: column('held_nano_brl', '-', amount_nano_brl) }))
        .where('customer_id', '=', customerId)
        .execute()
    })
  })
  assertRefusal(
    { ...answer, requestId: answer.headers.get('x-request-id') as string },
    503,
    'service_unavailable',
  )
  const account = await findAccount(database.db, customerId)
  assert.equal(account?.balanceNanoBrl, parseBrl('10'))
  assert.equal(account?.heldNanoBrl, 0n)
  await assertSound()
})

for (const stream of [false, true])
  test(`a ${stream ? 'stream' : 'plain call'} during which the database crashes is both answered and charged, or neither`, async () => {
    const { secret, customerId } = await seedCustomer(database.db, { balanceBrl: '10' })
    const answer = await callWhile(
      secret,
      crashDatabase,
      stream ? { stream, stream_options: { include_usage: true } } : {},
    )
    // The charge of a stream that was delivered meanwhile waits in the spool.
    const deadline = Date.now() + 30_000
    let account = await findAccount(database.db, customerId)
    for (; account?.heldNanoBrl !== 0n; account = await findAccount(database.db, customerId)) {
      assert.ok(Date.now() < deadline, 'the hold is open')
      await sleep(100)
    }
    const billed = (parseBrl('10') as bigint) - account.balanceNanoBrl
    const shown = billedIn(answer.text)
    if (shown === undefined) assert.equal(billed, 0n, answer.text)
    else assert.equal(parseBrl(shown), billed)
    if (stream) assert.equal(answer.text.includes('"content"'), shown !== undefined, answer.text)
    else assert.equal(answer.status, shown === undefined ? 503 : 200)
    await assertSound()
  })
