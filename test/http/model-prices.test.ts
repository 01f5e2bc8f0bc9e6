/** The price of a model in reais: public before the call, and charged after it. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { request } from 'undici'
import { ask, askChat, sound } from '../harness/ask.ts'
import { startGateway } from '../harness/gateway.ts'

const gateway = await startGateway()
after(() => gateway.stop())
const { baseUrl } = gateway.node

test('a million tokens cost the shown price to the last digit, at the current rate and markup', async () => {
  const { status, json, text } = await ask(baseUrl, '/model-prices')
  assert.equal(status, 200, text)
  assert.deepEqual(
    [json.fx_rate.rate, json.fx_rate.source, json.fx_rate.is_sandbox],
    [5.2, 'sandbox', true],
  )
  const listed = (await ask(baseUrl, '/models')).json.models.map(({ id }: any) => id)
  assert.deepEqual(
    json.prices.map(({ model_id }: any) => model_id),
    listed,
  )
  const price = json.prices.find(({ model_id }: any) => model_id === 'sandbox-chat')
  // 1 USD for input, 2 USD for output, half a USD for cached input; times 5.2, times 1.25.
  assert.deepEqual(
    [price.tiers[0].input_brl, price.tiers[0].output_brl, price.tiers[0].cached_input_brl],
    [6.5, 13, 3.25],
  )
  await askChat(baseUrl, gateway.secret, sound())
  const [charge] = (await ask(baseUrl, '/usage/events?limit=1', { secret: gateway.secret })).json
    .usage_events
  const nano =
    BigInt(charge.prompt_tokens) * 6_500n +
    BigInt(charge.completion_tokens) * 13_000n -
    BigInt(charge.cached_tokens) * 3_250n
  assert.equal(Math.round(charge.cost_billed_brl * 1e9), Number(nano))
})

test('the list is compressed for clients that accept it, each encoding with a separate tag', async () => {
  const get = async (headers: Record<string, string>) => {
    const {
      statusCode,
      headers: given,
      body,
    } = await request(`${baseUrl}/model-prices`, { headers })
    return { statusCode, given, bytes: Buffer.from(await body.arrayBuffer()) }
  }
  const plain = await get({})
  const compressed = await get({ 'accept-encoding': 'br, gzip;q=0.8' })
  assert.equal(plain.given['content-encoding'], undefined)
  assert.equal(compressed.given['content-encoding'], 'gzip')
  assert.deepEqual(gunzipSync(compressed.bytes), plain.bytes)
  assert.ok(compressed.bytes.length * 4 < plain.bytes.length)
  assert.notEqual(compressed.given.etag, plain.given.etag)
  for (const { given } of [plain, compressed]) {
    assert.equal(given.vary, 'accept-encoding')
    const again = await get({ 'accept-encoding': 'gzip', 'if-none-match': String(given.etag) })
    assert.equal(again.statusCode, 304)
  }
  for (const refused of ['gzip;q=0', 'br', 'xgzip', 'gzip;q=0.0, identity'])
    assert.equal((await get({ 'accept-encoding': refused })).given['content-encoding'], undefined)
})
