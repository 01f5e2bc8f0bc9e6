/** The claims of lines, by which a line is one node's at a time. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import {
  claimLines,
  finishLine,
  keepResult,
  renewClaims,
  type ClaimedLine,
} from '../../src/customers/batches/batch-lines.ts'
import { createBatch } from '../../src/customers/batches/batches.ts'
import { createId } from '../../src/platform/lib/ids.ts'
import { createTestDatabase, seedCustomer, type TestDatabase } from '../harness/test-database.ts'

let database: TestDatabase
const RESULT = { sealed: Buffer.from('x'), bytes: 1 }

before(async () => {
  database = await createTestDatabase()
})
after(() => database.drop())

async function seedBatch(lines: number, customer?: { customerId: string; keyId: string }) {
  const { db } = database
  const seeded = customer ?? (await seedCustomer(db, { balanceBrl: '1' }))
  const { customerId } = seeded
  const keyId = 'key' in seeded ? seeded.key.id : seeded.keyId
  const made = await createBatch(
    db,
    { sealingKey: Buffer.alloc(32) },
    { kind: 'customer', customerId },
    {
      customerId,
      keyId,
      endpoint: '/v1/messages',
      inputFileId: null,
      metadata: null,
      async *lines() {
        yield Array.from({ length: lines }, (_, index) => `{"custom_id":"${index}"}`)
      },
    },
  )
  if (typeof made === 'string') throw new Error(made)
  return { id: made.id, customerId, keyId }
}

const claim = (limit: number, customerMax = limit): Promise<ClaimedLine[]> =>
  claimLines(database.db, limit, customerMax, new Map())

/** As when the node that had claimed them fell silent. */
const endClaims = () =>
  sql`update batch_lines set due_at = now() where outcome is null`.execute(database.db)

const end = (lines: readonly ClaimedLine[]) =>
  Promise.all(lines.map((line) => finishLine(database.db, line, 'errored', RESULT)))

test('a result of a claim that another node took over is not stored, and so not charged', async () => {
  const { db } = database
  await seedBatch(1)
  const [first] = await claim(1)
  assert.ok(first)
  assert.deepEqual(await claim(1), [], 'it is claimed')
  await endClaims()
  const [second] = await claim(1)
  assert.ok(second)
  const kept = (line: ClaimedLine) => keepResult(db, line, { ...RESULT, holdId: createId() })
  assert.deepEqual([await kept(first), await kept(second)], [false, true])
  await endClaims()
  // What is left of the first one changes nothing.
  await renewClaims(db, [first])
  await finishLine(db, first, 'errored', RESULT)
  const [third] = await claim(1)
  assert.equal(third?.tries, 3)
  await finishLine(db, third, 'succeeded')
  await finishLine(db, third, 'succeeded')
  assert.equal(await kept(third), false)
  const { rows } = await sql`
    select succeeded, errored, ended_at is not null as ended from batches where id = ${third.batchId}`.execute(
    db,
  )
  assert.deepEqual(rows, [{ succeeded: 1, errored: 0, ended: true }])
})

test('each customer has some of the lines at once, and claims of many nodes share the lines', async () => {
  const one = await seedBatch(50)
  await seedBatch(50, one)
  const other = await seedBatch(50)
  const claimed = await claim(20, 8)
  const of = (customerId: string) => claimed.filter((line) => line.customerId === customerId).length
  assert.deepEqual([of(one.customerId), of(other.customerId)], [8, 8])
  const others = (await Promise.all([claim(40, 40), claim(40, 40), claim(40, 40)])).flat()
  const all = [...claimed, ...others].map(({ id }) => id)
  assert.equal(new Set(all).size, all.length)
  await end([...claimed, ...others])
})

test('lines of a batch that waits are not claimed, unless it was canceled', async () => {
  const { id } = await seedBatch(1)
  await sql`update batches set due_at = now() + interval '1 hour' where id = ${id}`.execute(
    database.db,
  )
  const claimedOf = async () => (await claim(200)).filter(({ batchId }) => batchId === id)
  assert.deepEqual(await claimedOf(), [])
  await sql`update batches set canceled_at = now() where id = ${id}`.execute(database.db)
  assert.deepEqual(
    (await claimedOf()).map(({ over }) => over),
    ['canceled'],
  )
})
