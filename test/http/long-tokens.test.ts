// deep: an attack
/** Tokens may have 128 bytes: an answer of such tokens is within its limit, and no fault of its upstream. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { askChat, sound } from '../harness/ask.ts'
import { writeConfigFile, type ConfigFile } from '../harness/config-file.ts'
import { startGateway, type TestGateway } from '../harness/gateway.ts'
import {
  eventOf,
  startScriptedUpstream,
  type ScriptedUpstream,
} from '../harness/scripted-upstream.ts'
import { seedCustomer } from '../harness/test-database.ts'

const MODEL = 'linhas'
/** One token of o200k_base. */
const TOKEN = '='.repeat(64)
const TOKENS_MAX = 64

let upstream: ScriptedUpstream
let file: ConfigFile
let gateway: TestGateway

before(async () => {
  upstream = await startScriptedUpstream()
  file = await writeConfigFile({
    upstreams: [{ id: 'casa', kind: 'openai-compatible', base_url: upstream.baseUrl }],
    models: [
      {
        id: MODEL,
        category: 'llm',
        prices: { input: '1', output: '1' },
        context_tokens: 8_000,
        max_output_tokens: 1_000,
        routes: [{ upstream: 'casa', model: MODEL }],
      },
    ],
  })
  gateway = await startGateway({ CATRACA_CONFIG: file.path })
  upstream.play(MODEL, ({ body }, response) => {
    const usage = { prompt_tokens: 11, completion_tokens: body.max_tokens }
    if (body.stream !== true) {
      const message = { role: 'assistant', content: 'Oi.' }
      const choices = [{ index: 0, message, finish_reason: 'stop' }]
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ choices, usage }))
      return
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    const send = (delta: object, reason: string | null): void =>
      void response.write(eventOf({ choices: [{ index: 0, delta, finish_reason: reason }] }))
    for (let tokens = 0; tokens < body.max_tokens; tokens++) send({ content: TOKEN }, null)
    send({}, 'length')
    response.end(`${eventOf({ choices: [], usage })}data: [DONE]\n\n`)
  })
})

after(async () => {
  await gateway.stop()
  await upstream.close()
  await file.remove()
})

const askLines = () =>
  askChat(
    gateway.node.baseUrl,
    gateway.secret,
    sound(MODEL, { stream: true, max_tokens: TOKENS_MAX }),
  )

test('a stream of long tokens within its limit arrives whole', async () => {
  const { text } = await askLines()
  assert.equal(text.split(TOKEN).length - 1, TOKENS_MAX, text.slice(-300))
})

test('streams of long tokens do not close the model to other customers', async () => {
  for (let calls = 0; calls < 5; calls++) await askLines()
  const { secret } = await seedCustomer(gateway.database.db, { balanceBrl: '10' })
  const { status } = await askChat(gateway.node.baseUrl, secret, sound(MODEL))
  assert.equal(status, 200)
})
