// deep: processes that are killed
/** kill -9 in the middle of a batch. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { assertAudit, untilNoHoldIsOpen } from '../harness/assert-audit.ts'
import { beginBatch, chatLine, readResultFile, untilEnded } from '../harness/batches.ts'
import { effort } from '../harness/effort.ts'
import { startGatewayProcess, type GatewayProcess } from '../harness/gateway-process.ts'
import { startTestNode } from '../harness/test-node.ts'

const LINES = 300
const KILLS = effort({ ordinary: 3, full: 8 })

let gateway: GatewayProcess

before(async () => {
  gateway = await startGatewayProcess()
})
after(() => gateway.stop())

test('nodes that are killed in the middle of a batch leave each line charged once, with its answer', async () => {
  const { database, secret, customerId } = gateway
  const { db, databaseUrl } = database
  let { node } = gateway
  const lines = Array.from({ length: LINES }, (_, index) => chatLine(`${index}`))
  const id = await beginBatch(node.baseUrl, secret, lines)
  const finished = async (): Promise<number> => {
    const { rows } = await sql<{ count: bigint }>`
      select count(*) from batch_lines where outcome is not null`.execute(db)
    return Number(rows[0]?.count)
  }
  for (let kill = 1; kill <= KILLS; kill++) {
    while ((await finished()) < (kill * LINES) / (KILLS + 2)) await sleep(5)
    await node.stop('SIGKILL')
    // The claims of a node that died end after a minute: not in a test.
    await sql`update batch_lines set due_at = now() where outcome is null`.execute(db)
    node = await startTestNode({ databaseUrl, dataDir: node.dataDir })
  }
  try {
    const ended = await untilEnded(node.baseUrl, secret, id, 300_000)
    await untilNoHoldIsOpen(database)
    assert.deepEqual(ended.request_counts, { total: LINES, completed: LINES, failed: 0 })
    const { rows } = await sql<{ charges: number; lines: number }>`
      select count(*)::int4 as charges, count(distinct request_id)::int4 as lines
      from usage_events where customer_id = ${customerId} and outcome = 'charged'`.execute(db)
    assert.deepEqual(rows, [{ charges: LINES, lines: LINES }])
    const output = await readResultFile(node.baseUrl, secret, ended.output_file_id)
    assert.deepEqual(
      output.map((line) => line.custom_id).sort(),
      lines.map((_, index) => `${index}`).sort(),
    )
    assert.ok(output.every(({ response }) => response?.body.usage.total_tokens > 0))
    await assertAudit(database)
  } finally {
    await node.stop()
  }
})
