// deep: an attack
/** A stored item counts as often as a request refers to it: a small body must not become one of any size. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createApiKey } from '../../src/customers/api-keys.ts'
import { ask, type Asked } from '../harness/ask.ts'
import { assertRefusal } from '../harness/assert-answer.ts'
import { writeConfigFile, type ConfigFile } from '../harness/config-file.ts'
import { startGateway, type TestGateway } from '../harness/gateway.ts'
import { startScriptedUpstream, type ScriptedUpstream } from '../harness/scripted-upstream.ts'

const MODEL = 'guardado'
const MIB = 1024 * 1024
/** The default of the bytes of a body. */
const BODY_BYTES_MAX = 20 * MIB
/** What a model writes within 16,000 tokens of white space. */
const OUTPUT_BYTES = MIB
const REFERENCES = 60
const REFERENCES_THAT_FIT = 15

let upstream: ScriptedUpstream
let file: ConfigFile
let gateway: TestGateway
let itemId: string

before(async () => {
  upstream = await startScriptedUpstream()
  file = await writeConfigFile({
    upstreams: [{ id: 'casa', kind: 'openai-compatible', base_url: upstream.baseUrl }],
    models: [
      {
        id: MODEL,
        category: 'llm',
        prices: { input: '1', output: '1' },
        context_tokens: 200_000,
        max_output_tokens: 16_000,
        routes: [{ upstream: 'casa', model: MODEL }],
      },
    ],
  })
  gateway = await startGateway({ CATRACA_CONFIG: file.path })
  let answers = 0
  upstream.play(MODEL, (_call, response) => {
    const content = answers === 0 ? ' '.repeat(OUTPUT_BYTES) : 'Oi.'
    answers += 1
    const choices = [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }]
    const usage = { prompt_tokens: 5, completion_tokens: 8_000 }
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ choices, usage }))
  })
  const { status } = await ask(gateway.node.baseUrl, '/me/preferences', {
    secret: gateway.secret,
    method: 'PUT',
    body: { stored_responses_days: 1 },
  })
  assert.equal(status, 200)
  itemId = (await respond([{ role: 'user', content: 'Oi' }])).json.output[0].id
})

after(async () => {
  await gateway.stop()
  await upstream.close()
  await file.remove()
})

function respond(input: object[], more: object = {}, secret = gateway.secret): Promise<Asked> {
  return ask(gateway.node.baseUrl, '/responses', {
    secret,
    body: { model: MODEL, input, ...more },
  })
}

const QUESTION = { role: 'user', content: 'Oi' }

function references(times: number): object[] {
  return Array.from({ length: times }, () => ({ type: 'item_reference', id: itemId }))
}

function itemsOf(responseId: string): Promise<Asked> {
  return ask(gateway.node.baseUrl, `/responses/${responseId}/input_items?limit=100`, {
    secret: gateway.secret,
  })
}

function assertTooLarge(answer: Asked): void {
  assertRefusal(answer, 413, 'invalid_request')
  assert.match(answer.json.error.message, /passa do limite de 20 MB/)
}

test('a request that refers to one stored item many times is as large as all of them', async () => {
  const before = upstream.callsOf(MODEL).length
  assertTooLarge(await respond([...references(REFERENCES), QUESTION]))
  assert.equal(upstream.callsOf(MODEL).length, before)
})

test('one stored item may be repeated as often as the limit of a body allows', async () => {
  const { status, json } = await respond([...references(REFERENCES_THAT_FIT), QUESTION])
  assert.equal(status, 200)
  const sent = Buffer.byteLength(upstream.callsOf(MODEL).at(-1)?.text ?? '')
  assert.ok(sent > REFERENCES_THAT_FIT * MIB && sent <= BODY_BYTES_MAX, `${sent} bytes were sent`)
  const list = await itemsOf(json.id)
  assert.equal(list.status, 200)
  assert.ok(Buffer.byteLength(list.text) <= BODY_BYTES_MAX)
  // A request that continues it gets these items, too.
  const again = await respond([...references(REFERENCES_THAT_FIT), QUESTION], {
    previous_response_id: json.id,
  })
  assertTooLarge(again)
})

test('the items of a response that refers to one stored item many times are as large as all of them', async () => {
  // A key for calls does not see the item, so its request is small; the account, which sees both, gets them resolved.
  const { secret } = await createApiKey(gateway.database.db, {
    customerId: gateway.customerId,
    name: 'outra',
    requestsPerMinute: 1_000,
    scope: 'calls',
  })
  const { status, json } = await respond([QUESTION, ...references(REFERENCES)], {}, secret)
  assert.equal(status, 200)
  assertTooLarge(await itemsOf(json.id))
})
