/** The shield reads long texts in one piece. One customer's texts leave time for the calls of the others. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { ask, askChat, sound } from '../harness/ask.ts'
import { startGatewayProcess, type GatewayProcess } from '../harness/gateway-process.ts'
import { seedCustomer } from '../harness/test-database.ts'

/** Each takes half a second or more, and costs nothing: the balance does not cover it. */
const REQUESTS = 10
const TEXT = '55 25'.repeat(400_000)
const WATCHED_MS = 6_000
/** In a node that reads them one after another, no call is answered meanwhile. */
const CALLS_MIN = 20

let gateway: GatewayProcess

before(async () => {
  gateway = await startGatewayProcess()
})

after(async () => {
  // The texts still wait for their turns.
  await gateway.node.stop('SIGKILL')
  await gateway.stop()
})

test('other customers are served while the shield has texts of numbers without end to read', async () => {
  const { db } = gateway.database
  const poor = await seedCustomer(db, { balanceBrl: '0.05' })
  await db
    .updateTable('customers')
    .set({ shield_action: 'mask' })
    .where('id', '=', poor.customerId)
    .execute()
  const messages = [{ role: 'user', content: TEXT }]
  const body = JSON.stringify(sound('sandbox-chat', { messages }))
  const { baseUrl } = gateway.node
  const reading = Array.from({ length: REQUESTS }, () =>
    ask(baseUrl, '/chat/completions', { secret: poor.secret, body }).catch(() => undefined),
  )
  let calls = 0
  const until = performance.now() + WATCHED_MS
  while (performance.now() < until) {
    const { status } = await askChat(baseUrl, gateway.secret, sound())
    assert.equal(status, 200)
    calls += 1
  }
  assert.equal((await Promise.race(reading))?.status, 402)
  assert.ok(calls >= CALLS_MIN, `${calls} calls`)
})
