// deep: an attack
/**
 * A hold by the counted prompt covers what is sent. An item that carries reasoning sealed here is left out of the native
 * body, with all of its text, and stays in the translation.
 */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { ask } from '../harness/ask.ts'
import { writeConfigFile, type ConfigFile } from '../harness/config-file.ts'
import { startGateway, type TestGateway } from '../harness/gateway.ts'
import { startScriptedUpstream, type ScriptedUpstream } from '../harness/scripted-upstream.ts'
import { seedCustomer } from '../harness/test-database.ts'
import { resolutionsOf } from '../http/resolutions-of.ts'

/** Built in, with a public tokenizer. */
const MODEL = 'gpt-5.2'
const THINKS = 'pensador'
const JSON_TYPE = { 'content-type': 'application/json' }

let upstream: ScriptedUpstream
let file: ConfigFile
let gateway: TestGateway

before(async () => {
  upstream = await startScriptedUpstream()
  file = await writeConfigFile({
    upstreams: [
      { id: 'casa', kind: 'openai-compatible', base_url: upstream.baseUrl },
      {
        id: 'openai',
        kind: 'openai',
        base_url: upstream.baseUrl,
        api_key_env: 'UPSTREAM_KEY',
        speaks_responses: true,
      },
    ],
    models: [
      {
        id: THINKS,
        category: 'llm',
        prices: { input: '1', output: '1' },
        context_tokens: 8_000,
        max_output_tokens: 100,
        routes: [{ upstream: 'casa', model: THINKS }],
      },
    ],
  })
  gateway = await startGateway({ CATRACA_CONFIG: file.path, UPSTREAM_KEY: 'key' })
})

after(async () => {
  await gateway.stop()
  await upstream.close()
  await file.remove()
})

/** The reasoning of any answer, as its client gets it. */
async function sealedReasoning(): Promise<string> {
  upstream.play(THINKS, (_call, response) => {
    const message = { role: 'assistant', content: 'Oi.', reasoning_content: 'Hm.' }
    const choices = [{ index: 0, message, finish_reason: 'stop' }]
    const usage = { prompt_tokens: 5, completion_tokens: 5 }
    response.writeHead(200, JSON_TYPE).end(JSON.stringify({ choices, usage }))
  })
  const { secret } = gateway
  const { json } = await ask(gateway.node.baseUrl, '/responses', {
    secret,
    body: { model: THINKS, input: 'Oi' },
  })
  return json.output.find(({ type }: { type: string }) => type === 'reasoning').encrypted_content
}

test('a prompt that was counted is held with all that the upstream gets, whatever is only in the translation', async () => {
  // Encrypted reasoning of an upstream, of which it bills every fourth byte as a token.
  const encrypted = `gAAAA${'x'.repeat(45_000)}`
  upstream.play(MODEL, ({ body }, response) => {
    const items = body.input.filter(({ type }: { type: string }) => type === 'reasoning')
    const bytes = items.reduce((sum: number, each: any) => sum + each.encrypted_content.length, 0)
    const content = [{ type: 'output_text', text: 'Oi.', annotations: [] }]
    const output = [{ type: 'message', role: 'assistant', status: 'completed', content }]
    const usage = { input_tokens: Math.ceil(bytes / 4), output_tokens: 2 }
    response
      .writeHead(200, JSON_TYPE)
      .end(JSON.stringify({ object: 'response', status: 'completed', output, usage }))
  })
  const { secret } = await seedCustomer(gateway.database.db, { balanceBrl: '0.03' })
  const { requestId } = await ask(gateway.node.baseUrl, '/responses', {
    secret,
    body: {
      model: MODEL,
      max_output_tokens: 64,
      input: [
        { type: 'reasoning', summary: [], encrypted_content: encrypted },
        { role: 'assistant', content: 'a' },
        { role: 'user', content: ' '.repeat(90_000), encrypted_content: await sealedReasoning() },
        { role: 'user', content: 'Oi' },
      ],
    },
  })
  for (const { outcome, held_nano_brl: held, cost_billed_nano_brl: billed } of await resolutionsOf(
    gateway.database,
    requestId,
  ))
    assert.ok(outcome !== 'charged' || billed <= held, `charged ${billed}, held ${held}`)
})
