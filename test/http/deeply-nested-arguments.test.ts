// deep: an attack
/** A model writes arguments of tools as deep as its customer asks for: the answer is charged, and its upstream is sound. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { ask, type Asked } from '../harness/ask.ts'
import { writeConfigFile, type ConfigFile } from '../harness/config-file.ts'
import { startGateway, type TestGateway } from '../harness/gateway.ts'
import { startScriptedUpstream, type ScriptedUpstream } from '../harness/scripted-upstream.ts'
import { seedCustomer } from '../harness/test-database.ts'
import { resolutionsOf } from './resolutions-of.ts'

const TRANSLATED = 'traduzido'
const NATIVE = 'nativo'
const JSON_TYPE = { 'content-type': 'application/json' }

let upstream: ScriptedUpstream
let file: ConfigFile
let gateway: TestGateway

before(async () => {
  upstream = await startScriptedUpstream()
  const model = (id: string, to: string) => ({
    id,
    category: 'llm' as const,
    prices: { input: '1', output: '10' },
    context_tokens: 100_000,
    max_output_tokens: 16_000,
    routes: [{ upstream: to, model: id }],
  })
  file = await writeConfigFile({
    upstreams: [
      { id: 'casa', kind: 'openai-compatible', base_url: upstream.baseUrl },
      {
        id: 'claude',
        kind: 'anthropic',
        base_url: upstream.baseUrl,
        api_key_env: 'UPSTREAM_KEY',
      },
    ],
    models: [model(TRANSLATED, 'casa'), model(NATIVE, 'claude')],
  })
  gateway = await startGateway({ CATRACA_CONFIG: file.path, UPSTREAM_KEY: 'key' })
  upstream.play(TRANSLATED, (_call, response) => {
    // 16 kB: some thousand tokens. `JSON.stringify` overflows the stack.
    const called = { name: 'f', arguments: `{"a":${nested(8_000)}}` }
    const tool_calls = [{ id: 'call_1', type: 'function', function: called }]
    const message = { role: 'assistant', content: null, tool_calls }
    const choices = [{ index: 0, message, finish_reason: 'tool_calls' }]
    const usage = { prompt_tokens: 11, completion_tokens: 9_000 }
    response.writeHead(200, JSON_TYPE).end(JSON.stringify({ choices, usage }))
  })
  upstream.play(NATIVE, (_call, response) => {
    // More levels than `parseAnswer` takes.
    const content = `[{"type":"tool_use","id":"toolu_1","name":"f","input":{"a":${nested(300)}}}]`
    const usage = '{"input_tokens":11,"output_tokens":9000}'
    response
      .writeHead(200, JSON_TYPE)
      .end(
        `{"type":"message","role":"assistant","content":${content},"stop_reason":"tool_use","usage":${usage}}`,
      )
  })
})

after(async () => {
  await gateway.stop()
  await upstream.close()
  await file.remove()
})

function nested(levels: number): string {
  return '['.repeat(levels) + ']'.repeat(levels)
}

function askMessage(model: string, secret = gateway.secret): Promise<Asked> {
  return ask(gateway.node.baseUrl, '/messages', {
    secret,
    body: {
      model,
      max_tokens: 16_000,
      messages: [{ role: 'user', content: 'Chame f com mil listas.' }],
      tools: [{ name: 'f', input_schema: { type: 'object' } }],
    },
  })
}

for (const model of [TRANSLATED, NATIVE]) {
  test(`${model}: an answer with deep arguments, which its upstream bills, is charged`, async () => {
    const { requestId, status } = await askMessage(model)
    const events = await resolutionsOf(gateway.database, requestId)
    const tokens = events.reduce((sum, each) => sum + each.completion_tokens, 0)
    const ends = events.map(({ outcome, reason }) => `${outcome} ${reason}`).join()
    assert.equal(tokens, 9_000, `${status}: ${ends}`)
  })
}

test('answers with deep arguments do not close the model to other customers', async () => {
  for (let calls = 0; calls < 5; calls++) await askMessage(NATIVE)
  const asked = upstream.callsOf(NATIVE).length
  const { secret } = await seedCustomer(gateway.database.db, { balanceBrl: '10' })
  await askMessage(NATIVE, secret)
  assert.equal(upstream.callsOf(NATIVE).length, asked + 1, 'the call of another customer was sent')
})
