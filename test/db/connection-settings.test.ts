/** Our settings hold on every connection, whatever the operator's address says. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { readDatabaseAddress } from '../../src/platform/db/database-address.ts'
import { DatabaseClient } from '../../src/platform/db/database-client.ts'
import { connectionConfig } from '../../src/platform/db/open.ts'
import { createEmptyDatabase } from '../harness/test-database.ts'

const database = await createEmptyDatabase()
after(() => database.drop())

function withParameters(parameters: Readonly<Record<string, string>>): string {
  const url = new URL(database.databaseUrl)
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value)
  return url.href
}

/** What a statement sees, on its own connection. */
async function settingsBy(url: string): Promise<Record<string, string>> {
  const client = new DatabaseClient(connectionConfig(url, { statement_timeout: '7000' }))
  await client.connect()
  try {
    const names = ['geqo', 'synchronous_commit', 'timezone', 'lock_timeout', 'statement_timeout']
    const { rows } = await client.query<{ name: string; setting: string }>(
      'select name, setting from pg_settings where lower(name) = any ($1)',
      [names],
    )
    return Object.fromEntries(rows.map(({ name, setting }) => [name.toLowerCase(), setting]))
  } finally {
    await client.end()
  }
}

const OURS = {
  synchronous_commit: 'on',
  timezone: 'UTC',
  lock_timeout: '3000',
  statement_timeout: '7000',
}

test('options of the address are kept, and none of them replaces a setting of ours', async () => {
  const options = '-c geqo=off -c synchronous_commit=off -c timezone=America/Sao_Paulo'
  const { isPooled } = readDatabaseAddress(database.databaseUrl)
  const found = await settingsBy(withParameters({ options }))
  assert.deepEqual(found, { ...OURS, geqo: isPooled ? found.geqo : 'off' })
})

test('limits in the address do not replace those of the connection', async () => {
  const limits = { statement_timeout: '0', lock_timeout: '1', query_timeout: '1' }
  assert.deepEqual(await settingsBy(withParameters(limits)), { ...OURS, geqo: 'on' })
})

test('a transaction whose settings fail does not stay open on its connection', async () => {
  const config = connectionConfig(withParameters({ pgbouncer: 'true' }), { jit: 'nonsense' })
  const client = new DatabaseClient(config)
  await client.connect()
  for (const text of ['begin', 'begin read only;', 'select 1']) {
    await assert.rejects(client.query(text), { code: '22023' })
    assert.equal(client.getTransactionStatus(), 'I', text)
  }
  await client.end()
})
