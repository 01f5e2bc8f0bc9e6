// deep: an attack
/** The usage that a customer sees of a corrected charge must add up to the charge. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import { audit } from '../../src/money/ledger/audit/audit.ts'
import { listUsageEvents } from '../../src/money/usage/list-usage-events.ts'
import { createTestDatabase, seedCustomer, type TestDatabase } from '../harness/test-database.ts'
import {
  NANO_BRL_PER_TOKEN,
  openTestLedger,
  testModel,
  worth,
} from '../harness/open-test-ledger.ts'

let database: TestDatabase
before(async () => {
  database = await createTestDatabase()
})
after(() => database.drop())

for (const hoursAgo of [0, 2])
  test(`C1 the events of a model add up to its charges when corrected ${hoursAgo} hours later`, async () => {
    const { db, databaseUrl } = database
    const { customerId, key } = await seedCustomer(db, { balanceBrl: worth(1_000) })
    const { ledger, attempt, charge } = await openTestLedger(db, databaseUrl)
    try {
      const hold = attempt(key, 60)
      assert.equal((await ledger.hold(hold)).kind, 'held')
      await sql`update holds set created_at = created_at - make_interval(hours => ${hoursAgo}) where id = ${hold.id}`.execute(
        db,
      )
      assert.equal((await ledger.resolve(charge(hold, 5))).kind, 'committed')
      assert.equal((await ledger.resolve({ ...charge(hold, 60), isFinal: true })).kind, 'corrected')
      assert.equal((await audit(db)).ok, true)
      const sum = (events: readonly { costBilledNanoBrl: bigint }[]): bigint =>
        events.reduce((all, { costBilledNanoBrl }) => all + costBilledNanoBrl, 0n) /
        NANO_BRL_PER_TOKEN
      const all = await listUsageEvents(db, { customerId, limit: 50 })
      assert.equal(sum(all), 60n)
      for (const filter of [{ modelId: testModel.id }, { apiKeyId: key.id }])
        assert.equal(
          sum(await listUsageEvents(db, { customerId, limit: 50, filter })),
          60n,
          JSON.stringify(filter),
        )
    } finally {
      await ledger.close()
    }
  })
