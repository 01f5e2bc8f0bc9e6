// deep: accounts with very many keys
/** An account may have had ten thousand keys, each with long lists: no page about the account reads all of them. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { after, test } from 'node:test'
import { sql } from 'kysely'
import { COPIES_AN_HOUR } from '../../src/http/personal-data/personal-data-routes.ts'
import { EXPORTS_MAX } from '../../src/http/usage/usage-export-routes.ts'
import { ask } from '../harness/ask.ts'
import { startFreezingProxy } from '../harness/freezing-proxy.ts'
import { operationsOf, readOpenApi } from '../harness/operations.ts'
import { createTestDatabase, seedCustomer } from '../harness/test-database.ts'
import { startLocalNode } from '../harness/local-node.ts'

const KEYS = 5_000
const UNREVOKED = 100
/** All lists of the keys have twenty times as much. */
const BYTES_MAX = 1024 * 1024
/** Downloads, which are sent in parts. */
const DOWNLOADS = new Set(['/me/export', '/usage/export.csv', '/usage/export.json'])

const database = await createTestDatabase()
const proxy = await startFreezingProxy(database.databaseUrl)
const node = await startLocalNode({ databaseUrl: proxy.databaseUrl })
after(async () => {
  await node.stop()
  await node.remove()
  await proxy.close()
  await database.drop()
})
const { baseUrl } = node

/** The customer's lists have more than the buffers of two sockets hold. */
async function seedKeys(): Promise<{ customerId: string; secret: string }> {
  const { customerId, secret } = await seedCustomer(database.db, { balanceBrl: '10' })
  await sql`
    insert into api_keys (id, customer_id, name, secret_hash, last_four, requests_per_minute, revoked_at, scope, ip_allowlist)
    select gen_random_uuid(), ${customerId}, 'uma de muitas', sha256((${customerId}::text || n)::bytea), 'aaaa', 1,
      case when n > ${UNREVOKED}::int4 then now() end, 'calls',
      (select array_agg('2001:db8:1234:5678:9abc:def0:' || to_hex(a) || ':1') from generate_series(1, 100) a)
    from generate_series(1, ${KEYS}::int4) n`.execute(database.db)
  return { customerId, secret }
}

test('no page of an account reads the lists of all its keys', async () => {
  const { secret } = await seedKeys()
  const pages = [...operationsOf(await readOpenApi(baseUrl)).values()].filter(
    ({ method, path, described }) =>
      method === 'GET' && described.security && !path.includes('{') && !DOWNLOADS.has(path),
  )
  assert.ok(pages.length > 20)
  for (const { path } of pages) {
    const before = proxy.bytesFromDatabase()
    const { status } = await ask(baseUrl, path, { secret })
    const bytes = proxy.bytesFromDatabase() - before
    assert.ok(bytes < BYTES_MAX, `${path} (${status}) read ${bytes} bytes`)
  }
  const { json } = await ask(baseUrl, '/me/dashboard-stats', { secret })
  assert.deepEqual(json.keys, { active: UNREVOKED + 1, revoked: KEYS - UNREVOKED })
})

test('an account takes two copies of its data at once, and some in an hour; one that is not read keeps its place', async () => {
  const { customerId, secret } = await seedKeys()
  const take = () => ask(baseUrl, '/me/export', { secret })
  const begin = async (): Promise<IncomingMessage> => {
    const headers = { authorization: `Bearer ${secret}` }
    const asked = get(`${baseUrl}/me/export`, { headers, agent: false })
    const [response] = (await once(asked, 'response')) as [IncomingMessage]
    // On a loaded machine a statement may reach its time-out.
    return response.statusCode === 503 ? begin() : response
  }
  const unread = await Promise.all(Array.from({ length: EXPORTS_MAX }, begin))
  assert.deepEqual(
    unread.map(({ statusCode }) => statusCode),
    [200, 200],
  )
  const third = await take()
  assert.deepEqual([third.status, third.json.error], [429, 'too_many_exports'])
  for (const response of unread) response.on('error', () => {}).destroy()
  while ((await take()).status !== 200);
  await sql`
    update sign_in_attempts set tries = ${COPIES_AN_HOUR.max}
    where key_hash = sha256(${`copy of ${customerId}`}::bytea)`.execute(database.db)
  const refused = await take()
  assert.deepEqual([refused.status, refused.json.error], [429, 'too_many_exports'])
  assert.ok(Number(refused.headers.get('retry-after')) > 0)
})
