/** Requests to Cohere and its answers. */
import assert from 'node:assert/strict'
import { after, afterEach, before, beforeEach, test } from 'node:test'
import { startFixtureServer, type FixtureServer } from './fixture-server.ts'
import { ask, COHERE, complete } from './test-provider.ts'
import {
  IMAGE_BASE64,
  WEATHER_TOOLS,
  weatherRequest,
  withToolResults,
} from './weather-conversation.ts'

let server: FixtureServer
before(async () => {
  server = await startFixtureServer()
})
beforeEach(() => {
  server.requests.length = 0
})
afterEach(() => server.play(undefined))
after(() => server.close())

for (const isStream of [false, true]) {
  const manner = isStream ? 'streamed' : 'plain'

  test(`${manner}: tool calls and their results keep the ids that Cohere gave them`, async () => {
    const provider = COHERE.open(server.url)
    const request = weatherRequest(COHERE.model)
    const { turn } = await complete(provider, { body: request, isStream })
    await complete(provider, { body: withToolResults(request, turn.message), isStream })
    const [, sent] = server.requests
    assert.equal(sent?.path, '/cohere/v2/chat')
    assert.equal(sent?.headers.authorization, 'Bearer key-of-cohere')
    assert.equal(sent?.headers['x-catraca-call-id'], 'call-1')
    assert.deepEqual(sent?.body, {
      model: 'command-a-reasoning-08-2025',
      max_tokens: 4096,
      thinking: { type: 'enabled', token_budget: 410 },
      messages: [
        { role: 'system', content: 'You answer in one sentence.' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'What is the weather in this city, and the time in Manaus?' },
            { type: 'image_url', image_url: { url: `data:image/png;base64,${IMAGE_BASE64}` } },
          ],
        },
        {
          role: 'assistant',
          tool_calls: [
            toolCall('get_weather_0a1b2c', 'get_weather', '{"city":"Recife","unit":"celsius"}'),
            toolCall('get_time_3d4e5f', 'get_time', '{"city":"Manaus"}'),
          ],
        },
        { role: 'tool', content: '{"celsius":29,"sky":"sun"}', tool_call_id: 'get_weather_0a1b2c' },
        { role: 'tool', content: '14:05', tool_call_id: 'get_time_3d4e5f' },
      ],
      tools: WEATHER_TOOLS,
      ...(isStream ? { stream: true } : {}),
    })
    await provider.close()
  })

  function toolCall(id: string, name: string, text: string): unknown {
    return { id, type: 'function', function: { name, arguments: text } }
  }

  test(`${manner}: an answer follows its schema`, async () => {
    server.play('json')
    const provider = COHERE.open(server.url)
    const schema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }
    const format = { type: 'json_schema', json_schema: { name: 'heat', schema } }
    const { turn } = await complete(provider, {
      body: ask(COHERE, { response_format: format }),
      isStream,
    })
    assert.deepEqual(server.requests[0]?.body.response_format, {
      type: 'json_object',
      json_schema: schema,
    })
    assert.equal(turn.message.content, '{"city":"Recife","celsius":29}')
    await provider.close()
  })

  test(`${manner}: billed tokens count, not the formatting tokens that Cohere adds`, async () => {
    server.play('length')
    const provider = COHERE.open(server.url)
    const { usage } = await complete(provider, { body: ask(COHERE), isStream })
    // The fixture reports 533 input and 17 output tokens, of which 50 and 3 are billed.
    assert.equal(usage?.promptTokens, 50)
    assert.equal(usage?.completionTokens, 3)
    await provider.close()
  })
}

test('every sampling parameter is sent', async () => {
  const provider = COHERE.open(server.url)
  const sampling = {
    max_tokens: 50,
    temperature: 0.5,
    top_p: 0.9,
    seed: 7,
    presence_penalty: 0.1,
    frequency_penalty: 0.2,
    stop: ['END'],
  }
  await complete(provider, { body: ask(COHERE, sampling) })
  const [request] = server.requests
  assert.ok(request)
  const { model: _model, messages: _messages, ...sent } = request.body
  assert.deepEqual(sent, {
    max_tokens: 50,
    temperature: 0.5,
    p: 0.9,
    seed: 7,
    presence_penalty: 0.1,
    frequency_penalty: 0.2,
    stop_sequences: ['END'],
  })
  await provider.close()
})
