/** A list of calls says where it ends because older months are in files, and only to accounts that are older. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { sql } from 'kysely'
import { ask } from '../harness/ask.ts'
import { startGateway } from '../harness/gateway.ts'
import { seedCustomer } from '../harness/test-database.ts'

const gateway = await startGateway()
after(() => gateway.stop())

const LISTS = ['/usage/events', '/usage/calls']

test('a list names the end of the archived months to an account that may have calls in them', async () => {
  const { db } = gateway.database
  const { baseUrl } = gateway.node
  const old = await seedCustomer(db, { balanceBrl: '0' })
  const young = await seedCustomer(db, { balanceBrl: '0' })
  const endOf = async (secret: string): Promise<unknown[]> =>
    Promise.all(
      LISTS.map(async (path) => (await ask(baseUrl, path, { secret })).json.archived_before),
    )

  await sql`update customers set created_at = '2024-02-10T00:00:00Z' where id = ${old.customerId}`.execute(
    db,
  )
  assert.deepEqual(await endOf(old.secret), [null, null], 'no month is archived')
  await sql`
    insert into archived_months (month, run, leased_until, archived_at)
    values ('2024-03-01', gen_random_uuid(), now(), now())`.execute(db)
  const end = '2024-04-01T00:00:00.000Z'
  assert.deepEqual(await endOf(old.secret), [end, end])
  assert.deepEqual(await endOf(young.secret), [null, null])
})
