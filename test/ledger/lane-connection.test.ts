import assert from 'node:assert/strict'
import { mock, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createLaneConnection } from '../../src/money/ledger/lane/lane-connection.ts'
import { createTestDatabase } from '../harness/test-database.ts'
import { openCuttableProxy } from '../model/cuttable-proxy.ts'
import { openServerSessions } from '../model/server-sessions.ts'

const MS_MAX = 20_000

test('a clock that is set back does not keep a lane from its database', async () => {
  const database = await createTestDatabase()
  const sessions = openServerSessions(database.databaseUrl)
  const proxy = await openCuttableProxy(database.databaseUrl, sessions)
  const lane = createLaneConnection(proxy.databaseUrl, 1_000)
  const ask = (): Promise<string | null> => lane.run({ name: 'one', text: 'select 1' }, [])
  try {
    proxy.cut({ arrives: false })
    await assert.rejects(ask())
    const back = Date.now() - 3_600_000
    const from = performance.now()
    mock.method(Date, 'now', () => back + (performance.now() - from))
    proxy.heal()
    let answer: string | null | undefined
    while (answer === undefined) {
      assert.ok(
        performance.now() - from < MS_MAX,
        'the lane does not connect to its database again',
      )
      answer = await ask().catch(() => sleep(100, undefined))
    }
    assert.equal(answer, '1')
  } finally {
    mock.restoreAll()
    await lane.close()
    await proxy.close()
    sessions.close()
    await database.drop()
  }
})
