/** What a model costs in reais: shown to anybody before the call, charged after it. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { ask, askChat, sound, startGateway } from './gateway-under-test.ts'

const gateway = await startGateway()
after(() => gateway.stop())
const { baseUrl } = gateway.node

test('a million tokens cost what is shown, to the last digit, by the rate and the markup in force', async () => {
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
  // 1 USD in, 2 USD out, half a USD from the cache; times 5.2, times 1.25.
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
