/** Bodies with very many values take more time for their bytes than others. One customer's leave time for the others. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { ask, askChat, sound } from '../harness/ask.ts'
import { startGatewayProcess, type GatewayProcess } from '../harness/gateway-process.ts'
import { seedCustomer } from '../harness/test-database.ts'

/** Each takes a tenth of a second or more, and costs nothing: the balance does not cover it. */
const REQUESTS = 30
const CALLS = 16_000
const WATCHED_MS = 4_000
/** In a node that reads the bodies as fast as their bytes may come, a call takes half a second or more. */
const CALLS_MIN = 30

let gateway: GatewayProcess

before(async () => {
  gateway = await startGatewayProcess()
})

after(async () => {
  // Bodies still wait for their turns.
  await gateway.node.stop('SIGKILL')
  await gateway.stop()
})

test('other customers are served while one sends conversations of very many calls', async () => {
  const poor = await seedCustomer(gateway.database.db, { balanceBrl: '0.01' })
  const { baseUrl } = gateway.node
  // The form of an id that this service gave, which is decrypted.
  const items = Array.from({ length: CALLS }, (_, index) => ({
    type: 'function_call',
    call_id: `call_${'A'.repeat(35)}${index}`,
    name: 'f',
    arguments: '{}',
  }))
  const input = [{ role: 'user', content: 'Oi' }, ...items]
  const body = JSON.stringify({ model: 'sandbox-chat', max_output_tokens: 4_000, input })
  const sent = Array.from({ length: REQUESTS }, () =>
    ask(baseUrl, '/responses', { secret: poor.secret, body }).catch(() => undefined),
  )

  let calls = 0
  const until = performance.now() + WATCHED_MS
  while (performance.now() < until) {
    const { status } = await askChat(baseUrl, gateway.secret, sound())
    assert.equal(status, 200)
    calls += 1
  }
  assert.equal((await Promise.race(sent))?.status, 402)
  assert.ok(calls >= CALLS_MIN, `${calls} calls`)
})
