// deep: a database that fails
/** A REST request for which the database has no time, or which it cannot reach, may be sent again: 503, not 500. */
import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { after, test } from 'node:test'
import type { Client } from 'pg'
import { ask, type Asked } from '../harness/ask.ts'
import { startGateway } from '../harness/gateway.ts'
import { withClient } from '../harness/test-database.ts'

const gateway = await startGateway()
after(() => gateway.stop())
const { baseUrl } = gateway.node
const { secret } = gateway

const LIST = '/me/public-bills'
const create = { secret, body: { session_id: 'conversa' } }

function assertUnavailable({ status, json, headers }: Asked): void {
  assert.deepEqual([status, json.error], [503, 'service_unavailable'])
  assert.match(json.details, /Tente de novo em alguns segundos/)
  assert.match(String(headers.get('retry-after')), /^[1-9]\d*$/)
}

function whileLocked(act: (client: Client) => Promise<void>): Promise<void> {
  return withClient(gateway.database.databaseUrl, async (client) => {
    await client.query('begin; lock table public_bills in access exclusive mode')
    await act(client)
    await client.query('rollback')
  })
}

test('a statement that waits for too long, to read or to write, is answered 503', async () => {
  await whileLocked(async () => {
    for (const answer of await Promise.all([
      ask(baseUrl, LIST, { secret }),
      ask(baseUrl, LIST, create),
    ]))
      assertUnavailable(answer)
  })
  assert.equal((await ask(baseUrl, LIST, { secret })).status, 200)
  const missing = await ask(baseUrl, LIST, create)
  assert.equal(missing.json.error, 'session_not_found', 'nothing else was changed')
})

test('a statement whose connection is lost is answered 503', async () => {
  await whileLocked(async (client) => {
    let ended = 0
    while (ended === 0) {
      const state = { isAnswered: false }
      const asked = ask(baseUrl, LIST, { secret }).finally(() => (state.isAnswered = true))
      // On a slow machine the statement may time out before it is seen here: then another one is asked for.
      while (ended === 0 && !state.isAnswered) {
        // A transaction sees the activity of its first look for ever.
        await client.query('select pg_stat_clear_snapshot()')
        const { rows } = await client.query(
          `select pg_terminate_backend(pid) from pg_stat_activity
           where datname = current_database() and wait_event_type = 'Lock' and query like '%public_bills%'`,
        )
        ended = rows.length
        await sleep(20)
      }
      assertUnavailable(await asked)
    }
  })
  assert.equal((await ask(baseUrl, LIST, { secret })).status, 200)
})
