// deep: thousands of calls
/** A batch that its balance does not pay for: it runs what it pays for. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import { ask } from '../harness/ask.ts'
import { assertAudit } from '../harness/assert-audit.ts'
import { beginBatch, chatLine, readResultFile, untilEnded } from '../harness/batches.ts'
import { effort } from '../harness/effort.ts'
import { startGateway, type TestGateway } from '../harness/gateway.ts'
import { seedCustomer } from '../harness/test-database.ts'

const LINES = effort({ ordinary: 1_000, full: 10_000 })
const PAID = LINES / 10

let gateway: TestGateway

before(async () => {
  gateway = await startGateway()
})
after(() => gateway.stop())

test('a batch of ten times what the balance pays for runs what it pays for, and no line more', async () => {
  const { database, node } = gateway
  const { db } = database
  const { baseUrl } = node
  const measured = await seedCustomer(db, { balanceBrl: '10' })
  const { body } = chatLine('x') as { body: object }
  const { json } = await ask(baseUrl, '/chat/completions', { secret: measured.secret, body })
  const cost = Number(json.cost_billed_brl)
  const { customerId, secret } = await seedCustomer(db, { balanceBrl: (cost * PAID).toFixed(9) })
  const lines = Array.from({ length: LINES }, (_, index) => chatLine(`${index}`))
  const id = await beginBatch(baseUrl, secret, lines)
  const ended = await untilEnded(baseUrl, secret, id, 900_000)
  const { completed, failed } = ended.request_counts
  assert.equal(completed + failed, LINES)
  const { rows } = await sql<{ charges: number; left: bigint; billed: bigint }>`
    select count(e.id)::int4 as charges, min(credited_nano_brl - debited_nano_brl - charged_nano_brl)::int8 as left, coalesce(sum(cost_billed_nano_brl), 0)::int8 as billed
    from accounts a left join usage_events e on e.customer_id = a.customer_id and e.outcome = 'charged'
    where a.customer_id = ${customerId}`.execute(db)
  const { charges, left = 0n } = rows[0] ?? {}
  assert.equal(charges, completed)
  // What a call may cost at most is more than what it costs: what is left pays for no other line.
  assert.ok(left >= 0n, `${left} is left`)
  const alone = await ask(baseUrl, '/chat/completions', { secret, body })
  assert.equal(alone.status, 402, `${left} is left`)
  const output = await readResultFile(baseUrl, secret, ended.output_file_id)
  const errors = await readResultFile(baseUrl, secret, ended.error_file_id)
  assert.deepEqual([output.length, errors.length], [completed, failed])
  assert.ok(errors.every(({ response }) => response?.body.error.code === 'insufficient_balance'))
  assert.ok(completed >= PAID * 0.9 && completed <= PAID, `${completed} of ${PAID}`)
  await assertAudit(database)
})
