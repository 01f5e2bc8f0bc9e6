/** `x-svc-max-cost-brl`: the cap of one call, which the client sets with the call itself. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { findAccount } from '../../src/money/ledger/entries.ts'
import { decimalBrl } from '../../src/platform/lib/money.ts'
import { ask, askChat, sound, type Asked } from '../harness/ask.ts'
import { startGateway, type TestGateway } from '../harness/gateway.ts'

let gateway: TestGateway

before(async () => {
  gateway = await startGateway()
})
after(() => gateway.stop())

function chat(maxCostBrl: string | undefined, more: object = {}): Promise<Asked> {
  const headers = maxCostBrl === undefined ? {} : { 'x-svc-max-cost-brl': maxCostBrl }
  return askChat(gateway.node.baseUrl, gateway.secret, sound('sandbox-chat', more), headers)
}

async function heldBy({ requestId }: Asked): Promise<bigint> {
  const { held_nano_brl } = await gateway.database.db
    .selectFrom('usage_events')
    .select('held_nano_brl')
    .where('request_id', '=', requestId)
    .executeTakeFirstOrThrow()
  return held_nano_brl
}

test('a call that may cost more than its own header is refused before anything is held, with the guard and how to lift it', async () => {
  const held = await heldBy(await chat(undefined, { max_tokens: 1_000 }))
  const before = await findAccount(gateway.database.db, gateway.customerId)
  const refused = await chat('0.000000001', { max_tokens: 1_000 })
  assert.equal(refused.status, 402, refused.text)
  assert.equal(refused.json.error.code, 'max_cost_exceeded')
  const { message } = refused.json.error
  assert.match(message, /pode custar até R\$ .*x-svc-max-cost-brl: R\$ .*Nada foi cobrado\./)
  assert.deepEqual(await findAccount(gateway.database.db, gateway.customerId), before)
  assert.equal((await chat(decimalBrl(held), { max_tokens: 1_000 })).status, 200)
})

for (const more of [{}, { max_tokens: 1_000 }])
  test(`the output limit is lowered to the header, and no hold is above it: ${JSON.stringify(more)}`, async () => {
    const capNanoBrl = (await heldBy(await chat(undefined, more))) / 2n
    const answered = await chat(decimalBrl(capNanoBrl), more)
    assert.equal(answered.status, 200, answered.text)
    assert.ok((await heldBy(answered)) <= capNanoBrl)
  })

test('a refused call counts against the rate limit', async () => {
  const first = await chat('0.000000001')
  const second = await chat('0.000000001')
  const left = ({ headers }: Asked) => Number(headers.get('x-ratelimit-remaining'))
  const isSameMinute =
    first.headers.get('x-ratelimit-reset') === second.headers.get('x-ratelimit-reset')
  if (isSameMinute) assert.equal(left(second), left(first) - 1)
})

test('the header holds for every kind of call', async () => {
  for (const [path, body] of [
    ['/embeddings', { model: 'sandbox-embedding', input: 'Olá' }],
    ['/images/generations', { model: 'sandbox-image', prompt: 'Uma catraca' }],
    [
      '/messages',
      { model: 'sandbox-chat', max_tokens: 9, messages: [{ role: 'user', content: 'Oi' }] },
    ],
    ['/responses', { model: 'sandbox-chat', max_output_tokens: 99, input: 'Oi' }],
  ] as const) {
    const answer = await ask(gateway.node.baseUrl, path, {
      secret: gateway.secret,
      body,
      headers: { 'x-svc-max-cost-brl': '0.000000001' },
    })
    assert.equal(answer.status, 402, `${path}: ${answer.text}`)
    assert.match(answer.text, /max_cost_exceeded/)
  }
})

for (const text of ['0', '-1', '0,50', '1e3', 'abc', '', '1.0000000001'])
  test(`the header is an amount above zero with a decimal point, not "${text}"`, async () => {
    const answer = await chat(text)
    assert.equal(answer.status, 400, answer.text)
    assert.equal(answer.json.error.code, 'invalid_request')
    assert.match(answer.json.error.message, /x-svc-max-cost-brl/)
  })
