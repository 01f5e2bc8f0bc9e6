// deep: processes that are killed
/**
 * The database becomes unavailable between the hold and the settlement: the customer gets the answer and is
 * charged.
 */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { startEmbedded, type EmbeddedPostgres } from '../../src/platform/db/embedded.ts'
import { migrate } from '../../src/platform/db/migrate.ts'
import { openDatabase, type OpenDatabase } from '../../src/platform/db/open.ts'
import { auditMoney } from '../../src/money/payments/audit-money.ts'
import { findAccount } from '../../src/money/ledger/entries.ts'
import { decimalBrl, parseBrl } from '../../src/platform/lib/money.ts'
import { seedCustomer } from '../harness/test-database.ts'
import { memoryFolder } from '../harness/memory-folder.ts'
import { startTestNode, type TestNode } from '../harness/test-node.ts'
import { askChat, billedIn, eventsOf, sound } from '../harness/ask.ts'
import { assertRefusal } from '../harness/assert-answer.ts'

let folder: string
let embedded: EmbeddedPostgres
let database: OpenDatabase
let node: TestNode

before(async () => {
  folder = await mkdtemp(join(memoryFolder(), 'catraca-unavailable-'))
  embedded = await startDatabase()
  await migrate(embedded.databaseUrl)
  database = openDatabase(embedded.databaseUrl, { onError: () => {} })
  node = await startTestNode({ databaseUrl: embedded.databaseUrl })
})

after(async () => {
  await node.stop('SIGKILL')
  await node.remove()
  await database.close()
  await embedded.stop()
  await rm(folder, { recursive: true, force: true })
})

/** On the port of the last start, so that clients find it again. */
function startDatabase(): Promise<EmbeddedPostgres> {
  return startEmbedded({ dataDir: join(folder, 'database'), log: () => {} })
}

/** A stream whose hold is committed and whose answer is still being written. */
async function streamThenStopDatabase(
  secret: string,
): Promise<{ requestId: string; text: string }> {
  const requestId = randomUUID()
  const answer = await fetch(`${node.baseUrl}/chat/completions`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${secret}`,
      'content-type': 'application/json',
      'x-svc-request-id': requestId,
    },
    body: JSON.stringify(
      sound('sandbox-slow', { stream: true, stream_options: { include_usage: true } }),
    ),
  })
  assert.equal(answer.status, 200)
  await embedded.stop()
  return { requestId, text: await answer.text() }
}

async function untilSettled(requestId: string): Promise<bigint> {
  for (const deadline = Date.now() + 30_000; Date.now() < deadline; await sleep(100)) {
    const events = await database.db
      .selectFrom('usage_events')
      .select(['cost_billed_nano_brl', 'usage_kind'])
      .where('request_id', '=', requestId)
      .execute()
    assert.ok(events.length <= 1, 'never twice')
    const [event] = events
    if (event) {
      assert.equal(event.usage_kind, 'exact', 'what was reported, not an estimate')
      return event.cost_billed_nano_brl
    }
  }
  throw new Error('the call was not settled')
}

async function assertChargedOnce(
  { requestId, text }: { requestId: string; text: string },
  customerId: string,
): Promise<void> {
  const billed = await untilSettled(requestId)
  assert.equal(billedIn(text), decimalBrl(billed), 'the answer told what is charged')
  const account = await findAccount(database.db, customerId)
  assert.equal(account?.balanceNanoBrl, (parseBrl('10') as bigint) - billed)
  assert.equal(account.heldNanoBrl, 0n)
  assert.deepEqual(
    (await auditMoney(database.db)).checks.filter(({ ok }) => !ok),
    [],
  )
}

const spooled = (): Promise<string[]> => readdir(join(node.dataDir, 'spool'))

test('the answer arrives completely, its settlement waits in the spool, and is posted when the database is back', async () => {
  const { secret, customerId } = await seedCustomer(database.db, { balanceBrl: '10' })
  const streamed = await streamThenStopDatabase(secret)
  assert.equal(eventsOf(streamed.text).at(-1), '[DONE]')
  assert.equal((await spooled()).length, 1)

  const refused = await askChat(node.baseUrl, secret, sound())
  assertRefusal(refused, 503, 'service_unavailable')
  const health = await fetch(`${node.baseUrl}/healthz/db`)
  assert.equal(((await health.json()) as { ok: boolean }).ok, false)

  embedded = await startDatabase()
  await assertChargedOnce(streamed, customerId)
  assert.equal((await askChat(node.baseUrl, secret, sound())).status, 200)
})

test('a node that dies while its settlement waits on the disk posts it once at its next start', async () => {
  const { secret, customerId } = await seedCustomer(database.db, { balanceBrl: '10' })
  const streamed = await streamThenStopDatabase(secret)
  assert.equal((await spooled()).length, 1)
  await node.stop('SIGKILL')
  embedded = await startDatabase()
  node = await startTestNode({
    databaseUrl: embedded.databaseUrl,
    dataDir: node.dataDir,
    port: node.port,
  })
  await assertChargedOnce(streamed, customerId)
  assert.deepEqual(await spooled(), [])
})
