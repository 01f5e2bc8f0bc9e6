import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { sql } from 'kysely'
import { limitInvitations } from '../../src/customers/team-invitations.ts'
import { credit } from '../../src/money/ledger/entries.ts'
import { createId, sha256 } from '../../src/platform/lib/ids.ts'
import { NANO_PER_BRL } from '../../src/platform/lib/money.ts'
import { createTestDatabase, seedCustomer } from '../harness/test-database.ts'

const database = await createTestDatabase()
const { db } = database
after(() => database.drop())

const invite = (invitedBy: string, email = `${createId()}@example.com`) =>
  db.transaction().execute((trx) => limitInvitations(trx, { teamId: createId(), invitedBy, email }))

test('free accounts together use up only the invitations of free accounts', async () => {
  const { customerId: free } = await seedCustomer(db, { balanceBrl: '0' })
  const { customerId: paying } = await seedCustomer(db, { balanceBrl: '0' })
  await credit(db, {
    customerId: paying,
    amountNanoBrl: 20n * NANO_PER_BRL,
    reason: 'top_up',
    reference: createId(),
  })
  assert.equal(await invite(free), undefined)
  // As if 5,000 accounts had each sent one.
  const { numAffectedRows } = await sql`
    update sign_in_attempts set tries = 5000
    where key_hash = ${sha256('invitation')}`.execute(db)
  assert.equal(numAffectedRows, 1n)
  const another = (await seedCustomer(db, { balanceBrl: '0' })).customerId
  assert.ok(Number(await invite(another)) > 0)
  assert.equal(await invite(paying), undefined)
})
