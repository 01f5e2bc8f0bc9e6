// deep: an attack
/** Requests that take long to read, and cost nothing. The work of one customer leaves time for the calls of the others. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { ask, askChat, sound } from '../harness/ask.ts'
import { startGatewayProcess, type GatewayProcess } from '../harness/gateway-process.ts'
import { seedCustomer } from '../harness/test-database.ts'

/** Of another customer, while the requests are read: a node that reads one after another answers a call between two. */
const CALLS = 20

let gateway: GatewayProcess

before(async () => {
  gateway = await startGatewayProcess()
})

after(async () => {
  // Requests still wait for their turns.
  await gateway.node.stop('SIGKILL')
  await gateway.stop()
})

/** A customer without the balance for any of these requests. */
async function openPoor(shield: 'mask' | 'off'): Promise<string> {
  const { db } = gateway.database
  const { customerId, secret } = await seedCustomer(db, { balanceBrl: '0.01' })
  await db
    .updateTable('customers')
    .set({ shield_action: shield })
    .where('id', '=', customerId)
    .execute()
  return secret
}

/** Sends so many requests at once; no more than a third may be read while another customer's calls are answered. */
async function assertOthersServed(
  path: string,
  {
    secret,
    body,
    requests,
    status = 402,
  }: { secret: string; body: string; requests: number; status?: number },
): Promise<void> {
  const { baseUrl } = gateway.node
  let read = 0
  const sent = Array.from({ length: requests }, async () => {
    assert.equal((await ask(baseUrl, path, { secret, body })).status, status)
    read += 1
  })
  // Those that wait are cut off at the end.
  for (const each of sent) each.catch(() => {})
  await Promise.race(sent)
  for (let call = 0; call < CALLS; call++)
    assert.equal((await askChat(baseUrl, gateway.secret, sound())).status, 200)
  assert.ok(read <= requests / 3, `${read} of ${requests} were read during ${CALLS} calls`)
}

test('while the shield has texts of numbers without end to read, other customers are served', async () => {
  const secret = await openPoor('mask')
  const messages = [{ role: 'user', content: '55 24'.repeat(400_000) }]
  const body = JSON.stringify(sound('sandbox-chat', { messages }))
  await assertOthersServed('/chat/completions', { secret, body, requests: 9 })
})

/** A conversation of very many calls, whose reading takes long for its bytes. */
function denseBody(calls: number): string {
  const items = Array.from({ length: calls }, (_, index) => ({
    type: 'function_call',
    // The form of an id that this service gave, which is decrypted.
    call_id: `call_${'A'.repeat(35)}${index}`,
    name: 'f',
    arguments: '{}',
  }))
  const input = [{ role: 'user', content: 'Oi' }, ...items]
  return JSON.stringify({ model: 'sandbox-chat', max_output_tokens: 4_000, input })
}

test('while one customer sends conversations of very many calls, others are served', async () => {
  const secret = await openPoor('off')
  await assertOthersServed('/responses', { secret, body: denseBody(16_000), requests: 30 })
})

test('while one customer sends many conversations of a quarter of a megabyte, others are served', async () => {
  const secret = await openPoor('off')
  await assertOthersServed('/responses', { secret, body: denseBody(2_200), requests: 150 })
})

test('while one customer continues a stored conversation of very many calls, others are served', async () => {
  const { node, database } = gateway
  const { customerId, secret } = await seedCustomer(database.db, { balanceBrl: '1000' })
  await database.db
    .updateTable('customers')
    .set({ stored_responses_days: 1 })
    .where('id', '=', customerId)
    .execute()
  const stored = await ask(node.baseUrl, '/responses', { secret, body: denseBody(16_000) })
  assert.equal(stored.status, 200, stored.text.slice(0, 200))
  const body = JSON.stringify({
    model: 'sandbox-chat',
    input: 'Oi',
    previous_response_id: stored.json.id,
    store: false,
  })
  await assertOthersServed('/responses', { secret, body, requests: 30, status: 200 })
})
