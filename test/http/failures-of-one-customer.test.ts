// deep: an attack
/** A request on which an upstream fails each time closes its route to its own customer, and to nobody else. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { askChat, sound } from '../harness/ask.ts'
import { writeConfigFile, type ConfigFile } from '../harness/config-file.ts'
import { startGateway, type TestGateway } from '../harness/gateway.ts'
import {
  good,
  startScriptedUpstream,
  status,
  type Behaviour,
  type ScriptedUpstream,
} from '../harness/scripted-upstream.ts'
import { seedCustomer } from '../harness/test-database.ts'

const BOGUS = 'bogus'

let upstream: ScriptedUpstream
let config: ConfigFile
let gateway: TestGateway
let other: string

/** As an upstream whose tokenizer, template or schema compiler fails for what some requests have. */
function failFor(behaviour: Behaviour): Behaviour {
  return (call, response) => (call.text.includes(BOGUS) ? behaviour : good)(call, response)
}

before(async () => {
  upstream = await startScriptedUpstream()
  config = await writeConfigFile({
    upstreams: [{ id: 'only', kind: 'openai-compatible', base_url: upstream.baseUrl, retries: 0 }],
    models: ['errors', 'blocked', 'burst', 'down'].map((id) => ({
      id,
      category: 'llm',
      prices: { input: 1, output: 2 },
      routes: [{ upstream: 'only', model: id }],
    })),
  } as never)
  gateway = await startGateway({ CATRACA_CONFIG: config.path })
  other = (await seedCustomer(gateway.database.db, { balanceBrl: '100' })).secret
})

after(async () => {
  await gateway.stop()
  await upstream.close()
  await config.remove()
})

async function statusOf(secret: string, model: string, text = 'Oi'): Promise<number> {
  const messages = [{ role: 'user', content: text }]
  const { status: code } = await askChat(gateway.node.baseUrl, secret, sound(model, { messages }))
  return code
}

for (const [model, code] of [
  ['errors', 500],
  // The firewall of a provider blocks prompts that look like attacks.
  ['blocked', 403],
] as const)
  test(`calls that fail with ${code} one after another`, async () => {
    upstream.play(model, failFor(status(code)))
    for (let call = 0; call < 8; call += 1) await statusOf(gateway.secret, model, BOGUS)
    assert.equal(await statusOf(other, model), 200)
    // Which shows that the route works.
    assert.equal(await statusOf(gateway.secret, model), 200)
  })

test('calls that fail at once', async () => {
  upstream.play('burst', failFor(status(500)))
  const bogus = Array.from({ length: 25 }, () => statusOf(gateway.secret, 'burst', BOGUS))
  await Promise.all(bogus)
  assert.equal(await statusOf(other, 'burst'), 200)
})

test('an upstream that is down is noticed by the second customer', async () => {
  upstream.play('down', status(500))
  for (let call = 0; call < 8; call += 1) await statusOf(gateway.secret, 'down')
  assert.equal(await statusOf(other, 'down'), 502)
  assert.equal(await statusOf(other, 'down'), 503)
  assert.equal(await statusOf(gateway.secret, 'down'), 503)
})
