// deep: every format of an upstream
/** One conversation through every provider, plain and streamed: clients see the same answer. */
import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { startFixtureServer, type FixtureServer } from './fixture-server.ts'
import { AI_SDK_PROVIDERS, ANTHROPIC, complete, GOOGLE, OPENAI } from './test-provider.ts'
import {
  contentAndCallsOf,
  IMAGE_BASE64,
  WEATHER_CALLS,
  WEATHER_TEXT,
  WEATHER_THINKING,
  WEATHER_TOOLS,
  weatherRequest,
  weatherUsage,
  withToolResults,
} from './weather-conversation.ts'

let server: FixtureServer
before(async () => {
  server = await startFixtureServer()
})
beforeEach(() => {
  server.requests.length = 0
})
after(() => server.close())

const QUESTION = 'What is the weather in this city, and the time in Manaus?'
const [weather, time] = WEATHER_TOOLS.map((tool) => tool.function)

for (const target of [OPENAI, ...AI_SDK_PROVIDERS]) {
  for (const isStream of [false, true]) {
    const manner = isStream ? 'streamed' : 'plain'

    test(`${target.name}, ${manner}: the conversation reads the same as from every provider, usage included`, async () => {
      const provider = target.open(server.url)
      const request = weatherRequest(target.model)
      // Without a mark for it, nothing is written to a cache.
      const hasCacheControl = target.reports.cacheWriteTokens !== undefined
      const first = await complete(provider, { body: request, isStream, hasCacheControl })
      assert.deepEqual(contentAndCallsOf(first.turn), {
        text: null,
        thinking: WEATHER_THINKING,
        calls: WEATHER_CALLS,
        finishReason: 'tool_calls',
      })
      const second = await complete(provider, {
        body: withToolResults(request, first.turn.message),
        isStream,
        hasCacheControl,
      })
      assert.deepEqual(contentAndCallsOf(second.turn), {
        text: WEATHER_TEXT,
        thinking: null,
        calls: [],
        finishReason: 'stop',
      })
      const { cacheWriteTokens, reasoning } = target.reports
      assert.deepEqual([first.usage, second.usage], weatherUsage(cacheWriteTokens, reasoning))
      await provider.close()
    })
  }
}

for (const isStream of [false, true]) {
  const manner = isStream ? 'streamed' : 'plain'

  test(`anthropic, ${manner}: thinking, redacted thinking and tool results are sent back unchanged`, async () => {
    const provider = ANTHROPIC.open(server.url)
    const request = weatherRequest(ANTHROPIC.model)
    const { turn } = await complete(provider, { body: request, isStream })
    assert.deepEqual(turn.message.reasoning_details, [
      {
        type: 'reasoning.text',
        text: WEATHER_THINKING,
        signature: 'EqQBCkYIBxgCKkBsbPc2H4mSi',
        index: 0,
      },
      { type: 'reasoning.encrypted', data: 'EmwKAhgBEgyZ3vPoSRYaJ5', index: 1 },
    ])
    await complete(provider, { body: withToolResults(request, turn.message), isStream })
    const [, sent] = server.requests
    assert.equal(sent?.path, '/anthropic/v1/messages')
    assert.equal(sent?.headers['x-api-key'], 'key-of-anthropic')
    assert.equal(sent?.headers['x-catraca-call-id'], 'call-1')
    assert.deepEqual(sent?.body, {
      model: 'claude-sonnet-4-5',
      max_tokens: 4096,
      thinking: { type: 'enabled', budget_tokens: 1024 },
      system: [{ type: 'text', text: 'You answer in one sentence.' }],
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: QUESTION },
            {
              type: 'image',
              source: { type: 'base64', media_type: 'image/png', data: IMAGE_BASE64 },
            },
          ],
        },
        {
          role: 'assistant',
          content: [
            {
              type: 'thinking',
              thinking: WEATHER_THINKING,
              signature: 'EqQBCkYIBxgCKkBsbPc2H4mSi',
            },
            { type: 'redacted_thinking', data: 'EmwKAhgBEgyZ3vPoSRYaJ5' },
            {
              type: 'tool_use',
              id: 'toolu_00',
              name: 'get_weather',
              input: { city: 'Recife', unit: 'celsius' },
            },
            { type: 'tool_use', id: 'toolu_01', name: 'get_time', input: { city: 'Manaus' } },
          ],
        },
        {
          role: 'user',
          content: [
            {
              type: 'tool_result',
              tool_use_id: 'toolu_00',
              content: '{"celsius":29,"sky":"sun"}',
            },
            { type: 'tool_result', tool_use_id: 'toolu_01', content: '14:05' },
          ],
        },
      ],
      tools: [
        {
          name: 'get_weather',
          description: 'The weather in a city.',
          input_schema: weather?.parameters,
        },
        {
          name: 'get_time',
          description: 'The time in a city.',
          input_schema: time?.parameters,
        },
      ],
      tool_choice: { type: 'auto' },
      ...(isStream ? { stream: true } : {}),
    })
    await provider.close()
  })

  test(`google, ${manner}: a thought signature is sent back with its tool call`, async () => {
    const provider = GOOGLE.open(server.url)
    const request = weatherRequest(GOOGLE.model)
    const { turn } = await complete(provider, { body: request, isStream })
    const calls = turn.message.tool_calls as { extra_content?: unknown }[]
    assert.deepEqual(
      calls.map((call) => call.extra_content),
      [{ google: { thought_signature: 'CiQB0e2Kb3VyIHRob3VnaHRz' } }, undefined],
    )
    const results = withToolResults(request, turn.message)
    const final = await complete(provider, { body: results, isStream })
    assert.deepEqual(final.turn.message.extra_content, {
      google: { thought_signature: 'CiQB0e2KbGFzdCB0aG91Z2h0' },
    })
    const [, sent] = server.requests
    const method = isStream ? 'streamGenerateContent?alt=sse' : 'generateContent'
    assert.equal(sent?.path, `/google/v1beta/models/gemini-3-pro-preview:${method}`)
    assert.equal(sent?.headers['x-goog-api-key'], 'key-of-google')
    assert.equal(sent?.headers['x-catraca-call-id'], 'call-1')
    assert.deepEqual(sent?.body, {
      generationConfig: {
        maxOutputTokens: 4096,
        thinkingConfig: { includeThoughts: true, thinkingLevel: 'low' },
      },
      systemInstruction: { parts: [{ text: 'You answer in one sentence.' }] },
      contents: [
        {
          role: 'user',
          parts: [
            { text: QUESTION },
            { inlineData: { mimeType: 'image/png', data: IMAGE_BASE64 } },
          ],
        },
        {
          role: 'model',
          parts: [
            { text: WEATHER_THINKING, thought: true },
            {
              functionCall: {
                id: 'fc_0',
                name: 'get_weather',
                args: { city: 'Recife', unit: 'celsius' },
              },
              thoughtSignature: 'CiQB0e2Kb3VyIHRob3VnaHRz',
            },
            { functionCall: { id: 'fc_1', name: 'get_time', args: { city: 'Manaus' } } },
          ],
        },
        {
          role: 'user',
          parts: [
            functionResponse('fc_0', 'get_weather', '{"celsius":29,"sky":"sun"}'),
            functionResponse('fc_1', 'get_time', '14:05'),
          ],
        },
      ],
      tools: [
        {
          functionDeclarations: [
            {
              name: 'get_weather',
              description: 'The weather in a city.',
              parametersJsonSchema: weather?.parameters,
            },
            {
              name: 'get_time',
              description: 'The time in a city.',
              parametersJsonSchema: time?.parameters,
            },
          ],
        },
      ],
      toolConfig: { functionCallingConfig: { mode: 'AUTO' } },
    })
    // The signature of the last text is sent back as well.
    await complete(provider, {
      body: {
        ...results,
        messages: [...results.messages, final.turn.message, { role: 'user', content: 'Thanks.' }],
      },
      isStream,
    })
    assert.deepEqual(server.requests[2]?.body.contents[3], {
      role: 'model',
      parts: [{ text: WEATHER_TEXT, thoughtSignature: 'CiQB0e2KbGFzdCB0aG91Z2h0' }],
    })
    await provider.close()
  })

  function functionResponse(id: string, name: string, content: string): unknown {
    return { functionResponse: { id, name, response: { name, content } } }
  }
}

test('a stream names the role first and sends tool arguments in pieces under a stable index', async () => {
  const provider = ANTHROPIC.open(server.url)
  const { bodies } = await complete(provider, {
    body: weatherRequest(ANTHROPIC.model),
    isStream: true,
  })
  const choices = bodies.map((body) => (body.choices as unknown[])[0])
  assert.deepEqual(choices[0], {
    index: 0,
    delta: { role: 'assistant', reasoning_content: 'Two cities were asked about. ' },
    finish_reason: null,
  })
  const deltas = choices.flatMap(
    (choice) => (choice as { delta: { tool_calls?: unknown[] } }).delta.tool_calls ?? [],
  )
  assert.deepEqual(deltas, [
    {
      index: 0,
      id: 'toolu_00',
      type: 'function',
      function: { name: 'get_weather', arguments: '' },
    },
    { index: 0, function: { arguments: '{"city":"' } },
    { index: 0, function: { arguments: 'Recife","unit":"celsius"}' } },
    { index: 1, id: 'toolu_01', type: 'function', function: { name: 'get_time', arguments: '' } },
    { index: 1, function: { arguments: '{"city":"' } },
    { index: 1, function: { arguments: 'Manaus"}' } },
  ])
  assert.deepEqual(choices.at(-1), { index: 0, delta: {}, finish_reason: 'tool_calls' })
  await provider.close()
})
