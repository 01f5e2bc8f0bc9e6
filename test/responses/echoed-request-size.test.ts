// deep: an attack
/** The events of a Responses stream repeat the request, so its size says nothing about the upstream. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { ask } from '../harness/ask.ts'
import { writeConfigFile, type ConfigFile } from '../harness/config-file.ts'
import { startGateway, type TestGateway } from '../harness/gateway.ts'
import {
  eventOf,
  startScriptedUpstream,
  type ScriptedUpstream,
} from '../harness/scripted-upstream.ts'
import { resolutionsOf } from '../http/resolutions-of.ts'

const MODEL = 'repete'
/** Runs of white space are tokens of up to 128 bytes: this fits into a context of 200,000. */
const INSTRUCTIONS = ' '.repeat(17 * 1024 * 1024)
const USAGE = { input_tokens: 140_000, output_tokens: 1, total_tokens: 140_001 }

let upstream: ScriptedUpstream
let file: ConfigFile
let gateway: TestGateway

before(async () => {
  upstream = await startScriptedUpstream()
  file = await writeConfigFile({
    upstreams: [
      {
        id: 'casa',
        kind: 'openai-compatible',
        base_url: upstream.baseUrl,
        speaks_responses: true,
      },
    ],
    models: [
      {
        id: MODEL,
        category: 'llm',
        prices: { input: '1', output: '1' },
        context_tokens: 200_000,
        max_output_tokens: 1_000,
        routes: [{ upstream: 'casa', model: MODEL }],
      },
    ],
  })
  gateway = await startGateway({ CATRACA_CONFIG: file.path })
  upstream.play(MODEL, ({ body: { instructions } }, response) => {
    const content = [{ type: 'output_text', text: 'Oi.', annotations: [] }]
    const item = { id: 'msg_1', type: 'message', role: 'assistant', status: 'completed', content }
    const started = { object: 'response', status: 'in_progress', instructions, output: [] }
    const ended = { ...started, status: 'completed', output: [item], usage: USAGE }
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(eventOf({ type: 'response.created', response: started }))
    response.write(eventOf({ type: 'response.output_item.done', output_index: 0, item }))
    response.end(eventOf({ type: 'response.completed', response: ended }))
  })
})

after(async () => {
  await gateway.stop()
  await upstream.close()
  await file.remove()
})

test('a stream whose events repeat a large request is charged, as its upstream bills it', async () => {
  const { requestId, text } = await ask(gateway.node.baseUrl, '/responses', {
    secret: gateway.secret,
    body: { model: MODEL, stream: true, instructions: INSTRUCTIONS, input: 'Oi' },
  })
  const events = await resolutionsOf(gateway.database, requestId)
  const ends = events.map(({ outcome, reason }) => `${outcome} ${reason}`).join()
  const shown = text.slice(0, 200)
  assert.equal(events.at(-1)?.prompt_tokens, USAGE.input_tokens, `${ends}: ${shown}`)
})
