// deep: databases with each unsafe setting
/** Live mode needs a database that keeps what it said it has, also through a power cut. */
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { checkDurability } from '../../src/app/explain-failure.ts'
import { startEmbedded } from '../../src/platform/db/embedded.ts'
import { createLog } from '../../src/platform/lib/log.ts'
import { LIVE_ENVIRONMENT } from '../harness/live-environment.ts'
import { createTestDatabase } from '../harness/test-database.ts'
import { startTestNode } from '../harness/test-node.ts'

test('a live start refuses a database without fsync or full_page_writes, with workers too', async () => {
  const database = await createTestDatabase()
  const { databaseUrl } = database
  try {
    for (const WORKERS of ['1', '2']) {
      const env = { ...LIVE_ENVIRONMENT, OPENAI_API_KEY: 'sk-test', WORKERS }
      await assert.rejects(
        startTestNode({ databaseUrl, env }),
        /could not start: the database runs with fsync=off and full_page_writes=off: a power cut/,
      )
    }
  } finally {
    await database.drop()
  }
})

test('each setting alone is refused; a durable database passes, with a warning until a standby is synchronous', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'catraca-durable-'))
  try {
    const found = async (settings: Record<string, string>): Promise<string> => {
      const database = await startEmbedded({ dataDir: folder, log: () => {}, settings })
      let lines = ''
      const log = createLog('info', (line) => (lines += line))
      await checkDurability(database.databaseUrl, log)
        .catch((error: unknown) => (lines += String(error)))
        .finally(() => database.stop())
      return lines
    }
    assert.match(await found({ fsync: 'off' }), /^DatabaseNotDurable.* with fsync=off: /)
    assert.match(
      await found({ full_page_writes: 'off' }),
      /^DatabaseNotDurable.* with full_page_writes=off: /,
    )
    const alone = await found({})
    assert.match(alone, /"no_synchronous_standby"/)
    assert.doesNotMatch(alone, /DatabaseNotDurable/)
    assert.equal(await found({ synchronous_standby_names: 'standby' }), '')
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
})

test('a start without its file of price data says so', async () => {
  const database = await createTestDatabase()
  const { databaseUrl } = database
  const node = await startTestNode({ databaseUrl, env: { PRICE_DATA_FILE: '/none/data.json' } })
  try {
    const says = (): boolean =>
      node.log.some((line) => /"price_data_not_read".*\/none\/data\.json/.test(line))
    for (const deadline = Date.now() + 60_000; !says(); await sleep(20))
      assert.ok(Date.now() < deadline, node.log.join('\n'))
  } finally {
    await node.stop()
    await node.remove()
    await database.drop()
  }
})
