// deep: an attack
/** vLLM sends the reasoning of each delta in two fields, for older clients. It is one text of the model. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { askChat } from '../harness/ask.ts'
import { writeConfigFile, type ConfigFile } from '../harness/config-file.ts'
import { startGateway, type TestGateway } from '../harness/gateway.ts'
import {
  eventOf,
  startScriptedUpstream,
  type Behaviour,
  type ScriptedUpstream,
} from '../harness/scripted-upstream.ts'
import { resolutionsOf } from './resolutions-of.ts'

const LIMIT = 1_000
const THOUGHTS = 700
const USAGE = { prompt_tokens: 9, completion_tokens: THOUGHTS + 1, total_tokens: THOUGHTS + 10 }

let upstream: ScriptedUpstream
let config: ConfigFile
let gateway: TestGateway

before(async () => {
  upstream = await startScriptedUpstream()
  config = await writeConfigFile({
    upstreams: [{ id: 'vllm', kind: 'openai-compatible', base_url: upstream.baseUrl, retries: 0 }],
    models: ['thinking', 'silent', 'plain'].map((id) => ({
      id,
      category: 'llm',
      prices: { input: 1, output: 2 },
      max_output_tokens: 10_000,
      routes: [{ upstream: 'vllm', model: id }],
    })),
  } as never)
  gateway = await startGateway({ CATRACA_CONFIG: config.path })
})

after(async () => {
  await gateway.stop()
  await upstream.close()
  await config.remove()
})

function think(usage: object | undefined): Behaviour {
  return ({ body }, response) => {
    const thought = (times: number): object => {
      const reasoning = ' word'.repeat(times)
      return { reasoning, reasoning_content: reasoning }
    }
    if (body.stream !== true) {
      const message = { role: 'assistant', content: 'Oi', ...thought(THOUGHTS) }
      const choices = [{ index: 0, message, finish_reason: 'stop' }]
      return void response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(JSON.stringify({ choices }))
    }
    const chunk = (delta: object, reason: string | null = null): string =>
      eventOf({ choices: [{ index: 0, delta, finish_reason: reason }] })
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    for (let count = 0; count < THOUGHTS; count += 1) response.write(chunk(thought(1)))
    response.write(chunk({ content: 'Oi' }) + chunk({}, 'stop'))
    if (usage) response.write(eventOf({ choices: [], usage }))
    response.end('data: [DONE]\n\n')
  }
}

async function askFor(model: string, more: object) {
  const messages = [{ role: 'user', content: 'Pense bastante.' }]
  const body = { model, messages, max_tokens: LIMIT, ...more }
  const answer = await askChat(gateway.node.baseUrl, gateway.secret, body)
  const [event] = await resolutionsOf(gateway.database, answer.requestId)
  return { answer, event }
}

test('a stream within its limit ends, although its reasoning comes twice', async () => {
  upstream.play('thinking', think(USAGE))
  const { answer, event } = await askFor('thinking', { stream: true })
  assert.ok(answer.text.includes('[DONE]'), 'the stream broke off')
  assert.equal(event?.completion_tokens, USAGE.completion_tokens)
  assert.ok(!gateway.node.log.some((line) => line.includes('upstream_failed')))
})

for (const [model, stream] of [
  ['silent', true],
  ['plain', false],
] as const)
  test(`reasoning that comes twice is estimated once: ${stream ? 'streamed' : 'whole'}`, async () => {
    upstream.play(model, think(undefined))
    const { event } = await askFor(model, { stream })
    const tokens = event?.completion_tokens ?? 0
    assert.ok(tokens >= THOUGHTS && tokens < 1.4 * THOUGHTS, `${tokens} tokens`)
  })
