/** A database names its cell once, and the keys that are made in it say so (docs/cells.md). */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import { OPERATOR } from '../../src/platform/audit-log/audited.ts'
import { createApiKey } from '../../src/customers/api-keys.ts'
import { findCell, nameCell } from '../../src/customers/cell.ts'
import { createKeySecret, isKeySecret } from '../../src/customers/key-secret.ts'
import { claimMode } from '../../src/platform/db/claim-mode.ts'
import { createTestDatabase, seedCustomer, type TestDatabase } from '../harness/test-database.ts'

let database: TestDatabase
before(async () => {
  database = await createTestDatabase()
  await sql`delete from installation`.execute(database.db)
})
after(() => database.drop())

test('a database has one name for ever, and its keys begin with it', async () => {
  const { db } = database
  const { customerId } = await seedCustomer(db, { balanceBrl: '0' })
  const makeKey = async (): Promise<string> =>
    (await createApiKey(db, { customerId, name: 'chave', requestsPerMinute: 10 })).secret

  assert.deepEqual(await nameCell(db, OPERATOR, 'b'), { kind: 'not_installed' })
  await claimMode(db, 'sandbox')
  const unnamed = await makeKey()
  for (const name of ['', 'B', 'b_', 'b-1', 'ã', 'abcdefghi', 'b\n', "b'"])
    assert.deepEqual(await nameCell(db, OPERATOR, name), { kind: 'invalid' }, name)
  const racing = await Promise.all(['b1', 'c2', 'b1'].map((name) => nameCell(db, OPERATOR, name)))
  const named = await findCell(db)
  assert.deepEqual(
    racing.map(({ kind }) => kind),
    named === 'b1'
      ? ['named', 'has_other_name', 'named']
      : ['has_other_name', 'named', 'has_other_name'],
  )
  assert.match(unnamed, /^sk-svc-[0-9A-Za-z]{38}$/)
  assert.match(await makeKey(), new RegExp(`^sk-svc-${named}_[0-9A-Za-z]{38}$`))
})

test('the checksum of a key covers the name of its cell', () => {
  const secret = createKeySecret('b1')
  assert.equal(isKeySecret(secret), true)
  assert.equal(isKeySecret(secret.replace('b1_', 'b2_')), false)
  assert.equal(isKeySecret(secret.replace('b1_', '')), false)
})
