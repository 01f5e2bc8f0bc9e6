// deep: an attack
/** An upstream of the Responses format repeats the request in its events, one level deeper than the client sent it. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { BODY_BOUNDS } from '../../src/platform/lib/bound-json.ts'
import { ask } from '../harness/ask.ts'
import { writeConfigFile, type ConfigFile } from '../harness/config-file.ts'
import { startGateway, type TestGateway } from '../harness/gateway.ts'
import {
  eventOf,
  startScriptedUpstream,
  type Behaviour,
  type ScriptedUpstream,
} from '../harness/scripted-upstream.ts'
import { resolutionsOf } from '../http/resolutions-of.ts'

/** With the three levels around it in these requests, a body has as many as it may. */
const LEVELS = BODY_BOUNDS.depthMax - 3
const USAGE = { input_tokens: 11, output_tokens: 5_000, total_tokens: 5_011 }

let upstream: ScriptedUpstream
let config: ConfigFile
let gateway: TestGateway

before(async () => {
  upstream = await startScriptedUpstream()
  upstream.play('echo', repeatRequest)
  config = await writeConfigFile({
    upstreams: [
      {
        id: 'native',
        kind: 'openai-compatible',
        base_url: upstream.baseUrl,
        speaks_responses: true,
        retries: 0,
      },
    ],
    models: [
      {
        id: 'echo',
        category: 'llm',
        prices: { input: 1, output: 2 },
        max_output_tokens: 10_000,
        routes: [{ upstream: 'native', model: 'echo' }],
      },
    ],
  } as never)
  gateway = await startGateway({ CATRACA_CONFIG: config.path })
})

after(async () => {
  await gateway.stop()
  await upstream.close()
  await config.remove()
})

const repeatRequest: Behaviour = ({ body }, response) => {
  const { tools, text } = body
  const content = [{ type: 'output_text', text: 'Oi', annotations: [] }]
  const item = { id: 'msg_1', type: 'message', role: 'assistant', status: 'completed', content }
  const place = { item_id: 'msg_1', output_index: 0, content_index: 0 }
  const begun = { id: 'resp_1', object: 'response', status: 'in_progress', tools, text, output: [] }
  const ended = { ...begun, status: 'completed', output: [item], usage: USAGE }
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  for (const event of [
    { type: 'response.created', response: begun },
    { type: 'response.output_item.added', output_index: 0, item: { ...item, content: [] } },
    { type: 'response.output_text.delta', ...place, delta: 'Oi' },
    { type: 'response.output_item.done', output_index: 0, item },
    { type: 'response.completed', response: ended },
  ])
    response.write(eventOf(event))
  response.end()
}

function nested(levels: number): string {
  return '{"a":'.repeat(levels - 1) + '{}' + '}'.repeat(levels - 1)
}

describe('a request as deep as a body may be', () => {
  for (const [name, fields] of [
    ['tools', `"tools":[{"type":"function","name":"f","parameters":${nested(LEVELS)}}]`],
    ['text', `"text":{"format":{"type":"json_schema","name":"f","schema":${nested(LEVELS)}}}`],
  ] as const)
    test(`its stream is charged by the reported usage, and no fault of the route: ${name}`, async () => {
      const body = `{"model":"echo","input":"Oi","stream":true,${fields}}`
      const answer = await ask(gateway.node.baseUrl, '/responses', { secret: gateway.secret, body })
      assert.equal(answer.status, 200)
      assert.ok(answer.text.includes('response.completed'), 'the stream broke off')
      const [event] = await resolutionsOf(gateway.database, answer.requestId)
      assert.equal(event?.completion_tokens, USAGE.output_tokens)
      assert.ok(!gateway.node.log.some((line) => line.includes('upstream_failed')))
    })
})
