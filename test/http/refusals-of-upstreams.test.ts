// deep: an attack
/** A request that its upstream refuses within an answer of status 200, or by a filter, is the customer's fault. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { ask, type Asked } from '../harness/ask.ts'
import { writeConfigFile, type ConfigFile } from '../harness/config-file.ts'
import { startGateway, type TestGateway } from '../harness/gateway.ts'
import {
  eventOf,
  startScriptedUpstream,
  type Behaviour,
  type ScriptedUpstream,
} from '../harness/scripted-upstream.ts'
import { seedCustomer } from '../harness/test-database.ts'

/** Of the default breaker, which opens for all customers. */
const FAILURES = 5

const stream =
  (...events: object[]): Behaviour =>
  (_call, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.end(events.map(eventOf).join(''))
  }

/** Codes of the field `error` in the published format; each is the request's fault. */
const CODES = ['invalid_prompt', 'image_parse_error', 'failed_to_download_image']

const REFUSALS: readonly (readonly [id: string, path: string, behaviour: Behaviour])[] = [
  ...CODES.map((code) => {
    const response = { object: 'response', status: 'failed', error: { code, message: 'No.' } }
    const started = { type: 'response.created', response: { ...response, status: 'in_progress' } }
    return [
      `responses-${code.replaceAll('_', '-')}`,
      '/responses',
      stream(started, { type: 'response.failed', response }),
    ] as const
  }),
  [
    'chat-de-um-400',
    '/chat/completions',
    stream({ error: { code: 400, type: 'invalid_request_error', message: 'No.' } }),
  ],
  [
    // As aggregators refuse what their moderation flagged.
    'moderacao-de-um-403',
    '/chat/completions',
    (_call, response) =>
      void response
        .writeHead(403, { 'content-type': 'application/json' })
        .end('{"error":{"code":403,"message":"Flagged.","metadata":{"flagged_input":"a"}}}'),
  ],
]

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
    models: REFUSALS.map(([id]) => ({
      id,
      category: 'llm',
      prices: { input: '1', output: '1' },
      context_tokens: 8_000,
      max_output_tokens: 1_000,
      routes: [{ upstream: 'casa', model: id }],
    })),
  })
  gateway = await startGateway({ CATRACA_CONFIG: file.path })
  for (const [id, , behaviour] of REFUSALS) upstream.play(id, behaviour)
})

after(async () => {
  await gateway.stop()
  await upstream.close()
  await file.remove()
})

for (const [id, path, behaviour] of REFUSALS) {
  describe(id, () => {
    const askModel = (secret = gateway.secret): Promise<Asked> =>
      ask(gateway.node.baseUrl, path, {
        secret,
        body: {
          model: id,
          stream: true,
          ...(path === '/responses'
            ? { input: 'Oi' }
            : { messages: [{ role: 'user', content: 'Oi' }] }),
        },
      })

    test('is not sent again', async () => {
      await askModel()
      assert.equal(upstream.callsOf(id).length, 1)
    })

    test('is answered as the fault of the request, without the words of the upstream', async () => {
      const { status, text, json } = await askModel()
      assert.equal(status, 400)
      assert.match(json.error.message, /^O modelo (?:não aceitou|recusou)/)
      assert.doesNotMatch(text, /casa|No\.|Flagged/)
    })

    test('does not close the model to other customers', async () => {
      upstream.play(id, behaviour)
      for (let calls = 0; calls < FAILURES; calls++) await askModel()
      const asked = upstream.callsOf(id).length
      const { secret } = await seedCustomer(gateway.database.db, { balanceBrl: '10' })
      await askModel(secret)
      assert.ok(upstream.callsOf(id).length > asked, 'the call of another customer was sent')
    })
  })
}
