// deep: an attack
/** Keys that change while a hold waits for its account; corrections of deleted accounts. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { audit } from '../../src/money/ledger/audit/audit.ts'
import { findAccount } from '../../src/money/ledger/entries.ts'
import { release } from '../../src/money/ledger/resolution.ts'
import { revokeApiKey } from '../../src/customers/api-keys.ts'
import { deleteAccount } from '../../src/identity/personal-data/delete-account.ts'
import {
  createTestDatabase,
  seedCustomer,
  withClient,
  type TestDatabase,
} from '../harness/test-database.ts'
import { NANO_BRL_PER_TOKEN, openTestLedger, worth } from '../harness/open-test-ledger.ts'
import { untilSessionsWait } from '../harness/waiting-sessions.ts'

let database: TestDatabase
before(async () => {
  database = await createTestDatabase()
})
after(() => database.drop())

test('F1 a revoked key cannot take a hold', async () => {
  const { db, databaseUrl } = database
  const { customerId, key } = await seedCustomer(db, { balanceBrl: worth(100) })
  const { ledger, attempt } = await openTestLedger(db, databaseUrl)
  try {
    // Opens the connections of the lanes.
    const warm = attempt(key, 1)
    await ledger.hold(warm)
    await ledger.resolve(release(warm, 'test'))
    const verdict = await withClient(databaseUrl, async (client) => {
      await client.query('begin')
      await client.query('select 1 from accounts where customer_id = $1 for update', [customerId])
      const holding = ledger.hold(attempt(key, 10))
      await untilSessionsWait(db)
      assert.equal(await revokeApiKey(db, key.id, customerId), 'revoked')
      await client.query('commit')
      return holding
    })
    assert.equal(
      verdict.kind,
      'stale_key',
      'held by a key whose revocation had been answered before',
    )
  } finally {
    await ledger.close()
  }
})

test('F3 money that a correction returns to a deleted account is debited by an entry that names the hold', async () => {
  const { db, databaseUrl } = database
  const { customerId, key } = await seedCustomer(db, { balanceBrl: worth(100) })
  const { ledger, attempt, charge } = await openTestLedger(db, databaseUrl)
  try {
    const hold = attempt(key, 60)
    assert.equal((await ledger.hold(hold)).kind, 'held')
    assert.equal((await ledger.resolve(charge(hold, 60))).kind, 'committed')
    const deleted = await deleteAccount(
      db,
      { kind: 'customer', customerId, ip: '127.0.0.1' } as never,
      {
        customerId,
        waiveBalance: true,
      },
    )
    assert.equal(deleted.kind, 'deleted')
    const truth = { ...release(hold, 'lease_lapsed'), isFinal: true }
    assert.equal((await ledger.resolve(truth)).kind, 'corrected')
    assert.equal((await audit(db)).ok, true)
    const balance = (await findAccount(db, customerId))?.balanceNanoBrl ?? 0n
    assert.equal(balance, 0n, 'a deleted account has money that nobody can reach')
    const entry = await db
      .selectFrom('ledger_entries')
      .select(['kind', 'reason', 'amount_nano_brl'])
      .where('reference', '=', hold.id)
      .executeTakeFirst()
    assert.deepEqual(entry, {
      kind: 'debit',
      reason: 'account_closed',
      amount_nano_brl: 60n * NANO_BRL_PER_TOKEN,
    })
  } finally {
    await ledger.close()
  }
})
