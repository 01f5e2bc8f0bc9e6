/** Requests to Vertex and their credentials. */
import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { startFixtureServer, type FixtureServer } from './fixture-server.ts'
import { answerJson, startScriptedServer } from './scripted-server.ts'
import { ask, complete, openByAccount, VERTEX, VERTEX_CLAUDE } from './test-provider.ts'
import {
  IMAGE_BASE64,
  WEATHER_TEXT,
  WEATHER_THINKING,
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
after(() => server.close())

const MODELS = '/vertex/v1/projects/own/locations/us-central1/publishers'
const [weather, time] = WEATHER_TOOLS.map((tool) => tool.function)

for (const isStream of [false, true]) {
  const manner = isStream ? 'streamed' : 'plain'

  test(`gemini, ${manner}: the key of express mode is sent, signatures are sent back, calls have no ids`, async () => {
    const provider = VERTEX.open(server.url)
    const request = weatherRequest(VERTEX.model)
    const { turn } = await complete(provider, { body: request, isStream })
    const calls = turn.message.tool_calls as { id: string; extra_content?: unknown }[]
    assert.deepEqual(
      calls.map((call) => call.extra_content),
      [{ google: { thought_signature: 'CiQB0e2Kb3VyIHRob3VnaHRz' } }, undefined],
    )
    // Vertex gives calls no ids: the adapter creates them, and they must differ.
    assert.equal(new Set(calls.map(({ id }) => id)).size, 2)
    await complete(provider, { body: withToolResults(request, turn.message), isStream })
    const [, sent] = server.requests
    const method = isStream ? 'streamGenerateContent?alt=sse' : 'generateContent'
    assert.equal(sent?.path, `${MODELS}/google/models/gemini-2.5-pro:${method}`)
    assert.equal(sent?.headers['x-goog-api-key'], 'key-of-google-vertex')
    assert.equal(sent?.headers.authorization, undefined)
    assert.equal(sent?.headers['x-catraca-call-id'], 'call-1')
    assert.deepEqual(sent?.body, {
      generationConfig: {
        maxOutputTokens: 4096,
        thinkingConfig: { includeThoughts: true, thinkingBudget: 410 },
      },
      systemInstruction: { parts: [{ text: 'You answer in one sentence.' }] },
      contents: [
        {
          role: 'user',
          parts: [
            { text: 'What is the weather in this city, and the time in Manaus?' },
            { inlineData: { mimeType: 'image/png', data: IMAGE_BASE64 } },
          ],
        },
        {
          role: 'model',
          parts: [
            { text: WEATHER_THINKING, thought: true },
            {
              functionCall: { name: 'get_weather', args: { city: 'Recife', unit: 'celsius' } },
              thoughtSignature: 'CiQB0e2Kb3VyIHRob3VnaHRz',
            },
            { functionCall: { name: 'get_time', args: { city: 'Manaus' } } },
          ],
        },
        {
          role: 'user',
          parts: [
            functionResponse('get_weather', '{"celsius":29,"sky":"sun"}'),
            functionResponse('get_time', '14:05'),
          ],
        },
      ],
      tools: [
        {
          functionDeclarations: [weather, time].map((tool) => ({
            name: tool?.name,
            description: tool?.description,
            parametersJsonSchema: tool?.parameters,
          })),
        },
      ],
      toolConfig: { functionCallingConfig: { mode: 'AUTO' } },
    })
    await provider.close()
  })

  function functionResponse(name: string, content: string): unknown {
    return { functionResponse: { name, response: { name, content } } }
  }

  test(`gemini, ${manner}: with a service account its token is sent`, async () => {
    const provider = openByAccount(server.url)
    server.play('final')
    const { turn } = await complete(provider, { body: ask(VERTEX), isStream })
    server.play(undefined)
    assert.equal(turn.message.content, WEATHER_TEXT)
    const [sent] = server.requests
    assert.equal(sent?.headers.authorization, 'Bearer token-of-account')
    assert.equal(sent?.headers['x-goog-api-key'], undefined)
    assert.match(sent?.path ?? '', /\/publishers\/google\/models\/gemini-2\.5-pro:/)
    await provider.close()
  })

  test(`claude, ${manner}: requests use Anthropic's format beside Google's models`, async () => {
    const provider = VERTEX_CLAUDE.open(server.url)
    const request = weatherRequest(VERTEX_CLAUDE.model)
    const { turn } = await complete(provider, { body: request, isStream })
    await complete(provider, { body: withToolResults(request, turn.message), isStream })
    const [, sent] = server.requests
    assert.ok(sent)
    const method = isStream ? 'streamRawPredict' : 'rawPredict'
    assert.equal(sent.path, `${MODELS}/anthropic/models/claude-sonnet-4-5@20250929:${method}`)
    assert.equal(sent.headers.authorization, 'Bearer token-of-account')
    assert.equal(sent.headers['x-catraca-call-id'], 'call-1')
    const { messages, tools, system, ...rest } = sent.body
    assert.deepEqual(rest, {
      anthropic_version: 'vertex-2023-10-16',
      max_tokens: 4096,
      thinking: { type: 'enabled', budget_tokens: 1024 },
      tool_choice: { type: 'auto' },
      ...(isStream ? { stream: true } : {}),
    })
    assert.deepEqual(system, [{ type: 'text', text: 'You answer in one sentence.' }])
    assert.deepEqual(
      tools.map((tool: { name: string }) => tool.name),
      ['get_weather', 'get_time'],
    )
    assert.deepEqual(messages[1].content.slice(0, 2), [
      { type: 'thinking', thinking: WEATHER_THINKING, signature: 'EqQBCkYIBxgCKkBsbPc2H4mSi' },
      { type: 'redacted_thinking', data: 'EmwKAhgBEgyZ3vPoSRYaJ5' },
    ])
    assert.deepEqual(messages[2].content[1], {
      type: 'tool_result',
      tool_use_id: 'toolu_01',
      content: '14:05',
    })
    await provider.close()
  })
}

test('claude: a JSON object can be requested although the provider has no JSON mode', async () => {
  const provider = VERTEX_CLAUDE.open(server.url)
  const body = ask(VERTEX_CLAUDE, { response_format: { type: 'json_object' } })
  await complete(provider, { body })
  assert.match(server.requests[0]?.body.system[0].text, /one valid JSON object/)
  await provider.close()
})

test('claude: a key of express mode is refused, and another upstream may be tried', async () => {
  const provider = VERTEX.open(server.url)
  for (const isStream of [false, true]) {
    const { failure } = await complete(provider, { body: ask(VERTEX_CLAUDE), isStream })
    assert.deepEqual(failure, {
      kind: 'failure',
      reason: 'credentials_refused',
      detail: 'AI_LoadAPIKeyError',
    })
  }
  assert.equal(server.requests.length, 0)
  await provider.close()
})

test('with both a key and an account, Gemini uses the key and Claude the account', async () => {
  const provider = openByAccount(server.url, { apiKey: 'own-key' })
  for (const target of [VERTEX, VERTEX_CLAUDE]) await complete(provider, { body: ask(target) })
  assert.deepEqual(
    server.requests.map(({ headers }) => [headers['x-goog-api-key'], headers.authorization]),
    [
      ['own-key', undefined],
      [undefined, 'Bearer token-of-account'],
    ],
  )
  await provider.close()
})

test('an account whose token is refused fails with refused credentials, for every kind of call', async () => {
  const refusing = await startScriptedServer((_received, response) =>
    answerJson(response, 400, { error: 'invalid_grant' }),
  )
  const provider = openByAccount(refusing.url)
  const signal = new AbortController().signal
  const image = { body: { model: 'gemini-2.5-flash-image' }, prompt: 'A cat.', count: 1 }
  const texts = { body: { model: 'text-embedding-005' }, inputs: ['a'], dimensions: undefined }
  const outcomes = [
    (await complete(provider, { body: ask(VERTEX) })).failure,
    (await complete(provider, { body: ask(VERTEX_CLAUDE) })).failure,
    await provider.embed?.({ ...texts, callId: 'call-1' }, signal),
    await provider.generateImages?.(
      { ...image, size: undefined, outputTokensMax: undefined, callId: 'call-1' },
      signal,
    ),
  ]
  assert.deepEqual(
    outcomes.map((outcome) => outcome?.kind === 'failure' && outcome.reason),
    Array.from({ length: 4 }, () => 'credentials_refused'),
  )
  assert.deepEqual(
    refusing.received.map(({ path }) => path),
    Array.from({ length: 4 }, () => '/token'),
  )
  await provider.close()
  await refusing.close()
})

test('an address may end with a slash', async () => {
  const provider = openByAccount(server.url, { baseUrl: `${server.url}${MODELS}/google/` })
  server.play('final')
  for (const target of [VERTEX, VERTEX_CLAUDE]) {
    const { turn } = await complete(provider, { body: ask(target) })
    assert.equal(turn.message.content, WEATHER_TEXT)
  }
  server.play(undefined)
  await provider.close()
})
