// deep: processes that are killed
/** kill -9 between the charge of an answer and its storing. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { ask } from '../harness/ask.ts'
import { assertAudit, untilNoHoldIsOpen } from '../harness/assert-audit.ts'
import { startGatewayProcess, type GatewayProcess } from '../harness/gateway-process.ts'
import { withClient } from '../harness/test-database.ts'
import { startTestNode } from '../harness/test-node.ts'

let gateway: GatewayProcess

before(async () => {
  gateway = await startGatewayProcess()
})

after(() => gateway.stop())

async function count(table: 'stored_responses' | 'usage_events'): Promise<number> {
  const { rows } = await sql<{ count: bigint }>`
    select count(*) from ${sql.table(table)} where customer_id = ${gateway.customerId}`.execute(
    gateway.database.db,
  )
  return Number(rows[0]?.count)
}

test('a node that dies between a charge and its storing leaves one charge, and the response whole or not at all', async () => {
  const { database, secret, customerId, node } = gateway
  const { db, databaseUrl } = database
  await sql`update customers set stored_responses_days = 1 where id = ${customerId}`.execute(db)
  const body = { model: 'sandbox-chat', input: 'Olá' }
  await withClient(databaseUrl, async (client) => {
    await client.query('begin')
    await client.query('lock table stored_responses in access exclusive mode')
    const asked = ask(node.baseUrl, '/responses', { secret, body }).catch(() => undefined)
    while ((await count('usage_events')) === 0) await sleep(5)
    await node.stop('SIGKILL')
    assert.equal(await asked, undefined, 'the end of the answer waits for its storing')
    await client.query('rollback')
  })
  const again = await startTestNode({ databaseUrl, dataDir: node.dataDir })
  try {
    await untilNoHoldIsOpen(database)
    assert.equal(await count('usage_events'), 1)
    await assertAudit(database)
    // Whatever became of it, the next one is stored and continued.
    const { json } = await ask(again.baseUrl, '/responses', { secret, body })
    assert.ok((await count('stored_responses')) <= 2)
    const more = { ...body, previous_response_id: json.id }
    assert.equal((await ask(again.baseUrl, '/responses', { secret, body: more })).status, 200)
  } finally {
    await again.stop()
  }
})
