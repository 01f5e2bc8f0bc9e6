// deep: every format of an upstream
/**
 * The compliance cases of Open Responses (openresponses/openresponses, src/platform/lib/compliance-tests.ts), written anew, over an
 * upstream of each format. Left out: its optional cases, for tools that a provider runs.
 */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import {
  startSandboxUpstream,
  type SandboxUpstream,
} from '../../src/sandbox/upstream/start-sandbox-upstream.ts'
import { ask, askChat, sound } from '../harness/ask.ts'
import { startGateway, type TestGateway } from '../harness/gateway.ts'
import { configured } from '../harness/media-calls.ts'
import {
  assertResponse,
  assertStreamIsWhole,
  responseEvents,
} from '../responses/assert-response.ts'
import {
  assertOpen,
  assertOpenEvents,
  openItemList,
  openResponse,
} from '../responses/open-responses.ts'

let gateway: TestGateway
let sandbox: SandboxUpstream

const UPSTREAMS = {
  chat: { kind: 'openai-compatible' },
  responses: { kind: 'openai-compatible', speaks_responses: true },
  messages: { kind: 'anthropic', api_key_env: 'OPEN_RESPONSES_KEY' },
}
const PNG =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=='
const PDF = `data:application/pdf;base64,${Buffer.from('%PDF-1.1\n%%EOF').toString('base64')}`

before(async () => {
  sandbox = await startSandboxUpstream()
  // Its tokenizer is loaded by the first chat.
  await askChat(new URL(sandbox.baseUrl).origin, undefined, sound('sandbox-chat', {}))
  const entries = Object.entries(UPSTREAMS)
  const config = {
    upstreams: entries.map(([id, upstream]) => ({ id, base_url: sandbox.baseUrl, ...upstream })),
    models: entries.map(([id]) => ({
      id,
      category: 'llm',
      prices: { input: 1, output: 2 },
      markup_multiplier: '1.5',
      routes: [{ upstream: id, model: 'sandbox-chat' }],
      context_tokens: 128_000,
      max_output_tokens: 32_000,
      supports_tools: true,
      image_tokens_max: 2_000,
    })),
  }
  gateway = await startGateway({ ...configured(config), OPEN_RESPONSES_KEY: 'a-key' })
  const { secret } = gateway
  const stored = { secret, method: 'PUT', body: { stored_responses_days: 1 } }
  assert.equal((await ask(gateway.node.baseUrl, '/me/preferences', stored)).status, 200)
})

after(async () => {
  await gateway.stop()
  await sandbox.close()
})

async function respond(body: object): Promise<any> {
  const { secret, node } = gateway
  const answer = await ask(node.baseUrl, '/responses', { secret, body })
  assert.equal(answer.status, 200, answer.text)
  let response = answer.json
  if ((body as { stream?: boolean }).stream) {
    const events = responseEvents(answer.text)
    assertOpenEvents(events)
    response = assertStreamIsWhole(events)
  }
  assertResponse(response)
  assertOpen(openResponse, response)
  assert.ok(response.output.length > 0)
  return response
}

const said = (role: string, content: unknown) => ({ type: 'message', role, content })
const TOOLS = [
  {
    type: 'function',
    name: 'get_weather',
    description: 'The weather at a place',
    parameters: {
      type: 'object',
      properties: { location: { type: 'string' } },
      required: ['location'],
    },
  },
]
const QUESTION = [said('user', 'How is the weather in Recife?')]

const CASES: Readonly<Record<string, object>> = {
  'a text': { input: [said('user', 'Say hello in three words.')] },
  'a system prompt': { input: [said('system', 'Be a pirate.'), said('user', 'Say hello.')] },
  'several turns': {
    input: [
      said('user', 'My name is Alice.'),
      said('assistant', 'Hello, Alice!'),
      said('user', 'What is my name?'),
    ],
  },
  'an image': {
    input: [
      said('user', [
        { type: 'input_text', text: 'What is in the picture?' },
        { type: 'input_image', image_url: PNG },
      ]),
    ],
  },
  'a file': {
    input: [
      said('user', [
        { type: 'input_text', text: 'What is its title?' },
        { type: 'input_file', filename: 'a.pdf', file_data: PDF },
      ]),
    ],
  },
  'a tool without a description': { input: 'Olá', tools: [{ type: 'function', name: 'look' }] },
}

for (const model of Object.keys(UPSTREAMS)) {
  for (const [name, body] of Object.entries(CASES))
    test(`${name}, over ${model}, plain and streamed`, async () => {
      for (const stream of [false, true]) {
        const { status, output } = await respond({ model, stream, ...body })
        assert.equal(status, 'completed')
        const types = output.map(({ type }: any) => type)
        assert.ok(types.includes('message') || types.includes('function_call'))
      }
    })

  test(`a function is called and its result is answered, over ${model}, plain and streamed`, async () => {
    for (const stream of [false, true]) {
      const first = { model, stream, input: QUESTION, tools: TOOLS }
      const { output } = await respond({
        ...first,
        tool_choice: { type: 'function', name: 'get_weather' },
      })
      const call = output.find(({ type }: any) => type === 'function_call')
      assert.equal(call.name, 'get_weather')
      const result = { type: 'function_call_output', call_id: call.call_id, output: '27 °C' }
      const { status } = await respond({ ...first, input: [...QUESTION, ...output, result] })
      assert.equal(status, 'completed')
    }
  })

  test(`a response is continued by its id, over ${model}, plain and streamed`, async () => {
    for (const stream of [false, true]) {
      const first = await respond({ model, stream, input: 'Remember the word papaya.' })
      const second = await respond({
        model,
        stream,
        previous_response_id: first.id,
        input: 'Which word?',
      })
      assert.equal(second.previous_response_id, first.id)
      const more = { secret: gateway.secret }
      const { json } = await ask(
        gateway.node.baseUrl,
        `/responses/${second.id}/input_items?order=asc`,
        more,
      )
      assertOpen(openItemList, json)
      assert.deepEqual(
        json.data.map(({ role }: any) => role),
        ['user', 'assistant', 'user'],
      )
      const { json: read } = await ask(gateway.node.baseUrl, `/responses/${second.id}`, more)
      assertOpen(openResponse, read)
    }
  })
}
