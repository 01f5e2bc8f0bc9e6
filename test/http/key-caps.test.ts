/** The caps of a key over HTTP: set, shown, refused with the name of the guard, and lifted. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { findAccount } from '../../src/money/ledger/entries.ts'
import { ask, askChat, sound, type Asked } from '../harness/ask.ts'
import { assertAudit } from '../harness/assert-audit.ts'
import { avoidMinuteEnd } from '../harness/avoid-minute-end.ts'
import { startGateway, type TestGateway } from '../harness/gateway.ts'

const INPUT = { name: 'agente', model_ids: ['sandbox-chat', 'sandbox-slow'] }
const CAPS = { minute_cap_brl: 1.5, day_cap_brl: 20, task_cap_brl: 3.25, calls_at_once: 2 }

let gateway: TestGateway

before(async () => {
  gateway = await startGateway()
})
after(() => gateway.stop())

function call(method: string, path: string, body?: unknown): Promise<Asked> {
  return ask(gateway.node.baseUrl, path, { method, secret: gateway.secret, body })
}

async function createKey(more: object): Promise<any> {
  const answer = await call('POST', '/api-keys', { ...INPUT, ...more })
  assert.equal(answer.status, 201, answer.text)
  return answer.json
}

const capsOf = ({ minute_cap_brl, day_cap_brl, task_cap_brl, calls_at_once }: any) => ({
  minute_cap_brl,
  day_cap_brl,
  task_cap_brl,
  calls_at_once,
})

test('a key has the caps that were asked for, in the answer, the list and after a change', async () => {
  const made = await createKey(CAPS)
  assert.deepEqual(capsOf(made), CAPS)
  assert.equal(made.minute_cap_used_brl, 0)
  assert.equal(made.day_cap_used_brl, 0)
  assert.equal(made.scope, 'calls')
  const { json } = await call('GET', '/api-keys')
  assert.deepEqual(capsOf(json.api_keys.find(({ id }: any) => id === made.id)), CAPS)
  const path = `/api-keys/${made.id}`
  const changed = await call('PATCH', path, { minute_cap_brl: null, day_cap_brl: 7 })
  assert.deepEqual(capsOf(changed.json), { ...CAPS, minute_cap_brl: null, day_cap_brl: 7 })
  assert.equal(changed.json.minute_cap_used_brl, null)
  for (const fault of [
    { minute_cap_brl: 1.005 },
    { day_cap_brl: -1 },
    { task_cap_brl: '3' },
    { calls_at_once: 0 },
    { calls_at_once: 1.5 },
  ]) {
    const answer = await call('PATCH', path, fault)
    assert.equal(answer.status, 400, answer.text)
    assert.match(answer.json.details, new RegExp(Object.keys(fault)[0] as string))
  }
})

for (const [field, guard, named] of [
  [
    'minute_cap_brl',
    'minute',
    /limite por minuto desta chave.*R\$ 0,00, dos quais R\$ 0,00.*recomeça em (\d+ s|1 min)\./,
  ],
  ['day_cap_brl', 'day', /limite por dia desta chave.*R\$ 0,00, dos quais R\$ 0,00.*recomeça em/],
  ['task_cap_brl', 'task', /limite por tarefa \(x-svc-session-id\).*não recomeça/],
] as const)
  test(`a call above the cap of a ${guard} is refused with the guard, its limit, its use and its end, and nothing is charged`, async () => {
    await avoidMinuteEnd()
    const { id, key } = await createKey({ [field]: 0 })
    const chat = () =>
      askChat(gateway.node.baseUrl, key, sound(), { 'x-svc-session-id': `tarefa-${guard}` })
    const before = await findAccount(gateway.database.db, gateway.customerId)
    const refused = await chat()
    assert.equal(refused.status, 402)
    assert.equal(refused.json.error.code, `key_${guard}_cap_exceeded`)
    assert.match(refused.json.error.message, named)
    assert.match(refused.json.error.message, /aumente o limite.*Nada foi cobrado\./)
    assert.deepEqual(await findAccount(gateway.database.db, gateway.customerId), before)
    // Lifted as the text says.
    assert.equal((await call('PATCH', `/api-keys/${id}`, { [field]: 50 })).status, 200)
    assert.equal((await chat()).status, 200)
    if (field !== 'task_cap_brl')
      assert.ok((await call('GET', `/api-keys/${id}`)).json[`${guard}_cap_used_brl`] > 0)
    await assertAudit(gateway.database)
  })

test('a key has no more calls at once than its limit, and each call that ends makes room', async () => {
  const { key } = await createKey({ calls_at_once: 1 })
  const slow = askChat(gateway.node.baseUrl, key, sound('sandbox-slow'))
  while ((await findAccount(gateway.database.db, gateway.customerId))?.heldNanoBrl === 0n)
    await sleep(5)
  const refused = await askChat(gateway.node.baseUrl, key, sound())
  assert.equal(refused.status, 429)
  assert.equal(refused.json.error.code, 'key_concurrency_exceeded')
  assert.match(refused.json.error.message, /1 requisição ao mesmo tempo/)
  assert.equal((await slow).status, 200)
  assert.equal((await askChat(gateway.node.baseUrl, key, sound())).status, 200)
})
