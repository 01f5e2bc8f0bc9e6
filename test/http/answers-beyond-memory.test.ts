// deep: an attack
/** A customer whose own answers do not fit into the memory: the upstream has worked, and bills it. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { askChat, sound } from '../harness/ask.ts'
import { assertRefusal } from '../harness/assert-answer.ts'
import { writeConfigFile, type ConfigFile } from '../harness/config-file.ts'
import { startGateway, type TestGateway } from '../harness/gateway.ts'
import { startScriptedUpstream, good, type ScriptedUpstream } from '../harness/scripted-upstream.ts'
import { SMALL_OUTPUT_TOKENS, UNPAID_WORK } from '../../src/gateway/calls/call-upstream.ts'

const BODY_BYTES_MAX = 256 * 1024

let upstream: ScriptedUpstream
let config: ConfigFile
let gateway: TestGateway

before(async () => {
  upstream = await startScriptedUpstream()
  config = await writeConfigFile({
    upstreams: [{ id: 'own', kind: 'openai-compatible', base_url: upstream.baseUrl, retries: 0 }],
    models: [
      {
        id: 'probable',
        category: 'llm',
        prices: { input: 1, output: 2 },
        routes: [{ upstream: 'own', model: 'probable' }],
        max_output_tokens: 60_000,
      },
    ],
  } as never)
  gateway = await startGateway({
    CATRACA_CONFIG: config.path,
    BODY_BYTES_MAX: String(BODY_BYTES_MAX),
    BODIES_BYTES_MAX: String(4 * BODY_BYTES_MAX),
  })
})

after(async () => {
  await gateway.stop()
  await upstream.close()
  await config.remove()
})

test('log probabilities do not make small answers of free work without an end', async () => {
  upstream.play('probable', (_call, response) => {
    const message = { role: 'assistant', content: 'a' }
    const logprobs = { content: ['x'.repeat(4 * BODY_BYTES_MAX)] }
    const choices = [{ index: 0, finish_reason: 'stop', message, logprobs }]
    const usage = { prompt_tokens: 20, completion_tokens: 1_000, total_tokens: 1_020 }
    response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(JSON.stringify({ choices, usage }))
  })
  const small = (more: object) =>
    askChat(
      gateway.node.baseUrl,
      gateway.secret,
      sound('probable', { max_tokens: SMALL_OUTPUT_TOKENS, ...more }),
    )
  const probable = { logprobs: true, top_logprobs: 20 }
  for (let asked = 0; asked < UNPAID_WORK.max; asked++)
    assertRefusal(await small(probable), 429, 'rate_limit_exceeded')
  const sent = upstream.callsOf('probable').length
  assert.equal(sent, UNPAID_WORK.max)
  const refused = await small(probable)
  assertRefusal(refused, 429, 'rate_limit_exceeded')
  assert.match(refused.json.error.message, /"stream": true/)
  assert.equal(upstream.callsOf('probable').length, sent, 'no upstream worked for it')
  upstream.play('probable', good)
  assert.equal((await small({})).status, 200)
})
