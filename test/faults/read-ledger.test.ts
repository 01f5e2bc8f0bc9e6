// deep: rounds of faults over several nodes
/** What the judge of the fault rounds reads of a ledger. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Attempt } from '../../src/money/ledger/attempt.ts'
import { release, type Resolution } from '../../src/money/ledger/resolution.ts'
import { assertAudit } from '../harness/assert-audit.ts'
import {
  NANO_BRL_PER_TOKEN,
  openTestLedger,
  worth,
  type TestLedger,
} from '../harness/open-test-ledger.ts'
import { createTestDatabase, seedCustomer, type TestDatabase } from '../harness/test-database.ts'
import { readAccounts } from './read-ledger.ts'

let database: TestDatabase
let one: TestLedger

before(async () => {
  database = await createTestDatabase()
  one = await openTestLedger(database.db, database.databaseUrl)
})

after(async () => {
  await one.ledger.close()
  await database.drop()
})

test('the debt that corrections explain is not lessened by a correction that gave back', async () => {
  const { customerId, key } = await seedCustomer(database.db, { balanceBrl: worth(100) })
  const hold = async (tokens: number): Promise<Attempt> => {
    const attempt = one.attempt(key, tokens)
    assert.equal((await one.ledger.hold(attempt)).kind, 'held')
    return attempt
  }
  const resolve = async (resolution: Resolution): Promise<string> =>
    (await one.ledger.resolve(resolution)).kind

  const estimated = await hold(50)
  const lost = await hold(50)
  await resolve(one.charge(estimated, 50))
  await resolve(release(lost, 'node_lost'))
  await resolve(one.charge(await hold(50), 50))
  // The estimate is corrected from 50 to 20, and the customer spends what it gives back.
  assert.equal(await resolve({ ...one.charge(estimated, 20), isFinal: true }), 'corrected')
  await resolve(one.charge(await hold(30), 30))
  // The answer of the lost node was delivered: its late charge is a debt of 50, though the corrections add up to 20.
  assert.equal(await resolve({ ...one.charge(lost, 50), isFinal: true }), 'corrected')

  const account = (await readAccounts(database.db)).find((each) => each.customerId === customerId)
  assert.ok(account)
  const debt = account.chargedNanoBrl - account.creditedNanoBrl
  assert.equal(debt, 50n * NANO_BRL_PER_TOKEN)
  assert.equal(account.correctedNanoBrl, debt)
  await assertAudit(database)
})
