// deep: a connection that is cut
/** A LISTEN whose other end is gone without a word tells nothing: the node learns of a new rate all the same. */
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import { createApp, type App } from '../../src/app/create-app.ts'
import { loadConfig } from '../../src/app/config/config.ts'
import { listen } from '../../src/platform/db/listen.ts'
import { findCurrentFxRate, storeFxRate } from '../../src/money/fx/fx-rates.ts'
import { createLog } from '../../src/platform/lib/log.ts'
import { createTestDatabase, seedCustomer, type TestDatabase } from '../harness/test-database.ts'
import { startFreezingProxy, type FreezingProxy } from '../harness/freezing-proxy.ts'
import { ask, askChat, sound } from '../harness/ask.ts'
import { assertAudit } from '../harness/assert-audit.ts'
import { until } from '../harness/payer.ts'

let database: TestDatabase
let proxy: FreezingProxy
let folder: string
let app: App | undefined

before(async () => {
  database = await createTestDatabase()
  proxy = await startFreezingProxy(database.databaseUrl)
  folder = await mkdtemp(join(tmpdir(), 'catraca-half-open-'))
})
after(async () => {
  await app?.close()
  await proxy.close()
  await database.drop()
  await rm(folder, { recursive: true, force: true })
})

test('a node whose LISTEN is half open bills by a new rate once it has read again', async () => {
  const { db } = database
  const config = loadConfig(
    { DATABASE_URL: proxy.databaseUrl, DATA_DIR: folder, PORT: '0', RATE_LIMIT_PER_IP: '1000000' },
    folder,
  )
  const log = createLog('silent', () => {})
  app = await createApp(config, proxy.databaseUrl, log, { reloadEveryMs: 200 })
  const baseUrl = `${await app.listen()}/v1`
  const { secret } = await seedCustomer(db, { balanceBrl: '100' })
  const billedBy = async (): Promise<number> => {
    assert.equal((await askChat(baseUrl, secret, sound())).status, 200)
    const { json } = await ask(baseUrl, '/usage/events?limit=1', { secret })
    return json.usage_events[0].fx_rate
  }
  assert.equal(await billedBy(), 5.2)
  assert.equal(proxy.freeze('listen "fx_rates"'), 1)
  const { rateDate } = (await findCurrentFxRate(db, 'sandbox')) ?? assert.fail()
  await storeFxRate(db, { rateE4: 61_000n, rateDate, bulletinAt: null, source: 'sandbox' })
  await until(billedBy, (rate) => rate === 6.1)
  await assertAudit(database)
})

test('a LISTEN that answers nothing is given up, and a new one has the gap read and hears again', async () => {
  let gaps = 0
  const heard: string[] = []
  const listener = listen(
    proxy.databaseUrl,
    { half_open: (payload) => heard.push(payload) },
    () => void (gaps += 1),
    { askEveryMs: 100, answerMsMax: 500 },
  )
  const notify = (payload: string): Promise<unknown> =>
    sql`select pg_notify('half_open', ${payload})`.execute(database.db)
  try {
    await until(
      async () => gaps,
      (count) => count === 1,
    )
    assert.equal(proxy.freeze('listen "half_open"'), 1)
    await notify('into the void')
    await until(
      async () => gaps,
      (count) => count === 2,
    )
    await notify('heard')
    await until(
      async () => heard.length,
      (count) => count === 1,
    )
    assert.deepEqual(heard, ['heard'])
  } finally {
    await listener.close()
  }
})
