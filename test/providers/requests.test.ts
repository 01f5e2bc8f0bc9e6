/** The requests sent to providers, field by field. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, afterEach, before, beforeEach, test } from 'node:test'
import type { AiSdkOptions } from '../../src/gateway/providers/ai-sdk/ai-sdk-options.ts'
import type { ChatCall, JsonObject } from '../../src/gateway/providers/contract.ts'
import { startFixtureServer, type FixtureServer } from './fixture-server.ts'
import {
  ANTHROPIC,
  ask,
  complete,
  GOOGLE,
  OUTPUT_TOKENS,
  type Outcome,
  type TestProvider,
} from './test-provider.ts'
import { IMAGE_BASE64, WEATHER_TOOLS } from './weather-conversation.ts'

let server: FixtureServer
let files: Server
let filesUrl: string
before(async () => {
  server = await startFixtureServer()
  files = createServer((request, response) => {
    const isImage = request.url === '/a.png'
    const type = isImage ? 'image/png' : 'text/html'
    response.writeHead(request.url === '/gone.png' ? 410 : 200, { 'content-type': type })
    response.end(isImage ? Buffer.from(IMAGE_BASE64, 'base64') : '<p>Hello.</p>')
  }).listen(0, '127.0.0.1')
  await once(files, 'listening')
  filesUrl = `http://127.0.0.1:${(files.address() as AddressInfo).port}`
})
beforeEach(() => {
  server.requests.length = 0
})
afterEach(() => server.play(undefined))
after(async () => {
  files.closeAllConnections()
  files.close()
  await server.close()
})

async function send(
  target: TestProvider,
  body: JsonObject,
  call: Partial<ChatCall> = {},
  options: Partial<AiSdkOptions> = {},
): Promise<{ sent: any; outcome: Outcome }> {
  const provider = target.open(server.url, options)
  const outcome = await complete(provider, { body, ...call })
  await provider.close()
  return { sent: server.requests[0]?.body, outcome }
}

const EPHEMERAL = { cache_control: { type: 'ephemeral' } }

test('anthropic: later instructions keep their place, turns of one role are merged, cache marks stay', async () => {
  const { sent } = await send(ANTHROPIC, {
    model: 'claude-sonnet-4-5',
    max_tokens: 100,
    messages: [
      { role: 'developer', content: 'Be good.' },
      { role: 'user', content: 'One.' },
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: [{ type: 'text', text: 'Two.', ...EPHEMERAL }] },
      { role: 'assistant', content: 'Three.' },
      { role: 'developer', content: [{ type: 'text', text: 'Be kind.', ...EPHEMERAL }] },
      { role: 'user', content: 'Four.' },
    ],
    tools: [{ ...WEATHER_TOOLS[1], ...EPHEMERAL }],
  })
  assert.deepEqual(sent, {
    model: 'claude-sonnet-4-5',
    max_tokens: 100,
    system: [{ type: 'text', text: 'Be good.' }],
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'One.' },
          { type: 'text', text: '<system-reminder>\nBe brief.\n</system-reminder>' },
          { type: 'text', text: 'Two.', ...EPHEMERAL },
        ],
      },
      { role: 'assistant', content: [{ type: 'text', text: 'Three.' }] },
      {
        role: 'user',
        content: [
          { type: 'text', text: '<system-reminder>\nBe kind.\n</system-reminder>', ...EPHEMERAL },
          { type: 'text', text: 'Four.' },
        ],
      },
    ],
    tools: [
      {
        name: 'get_time',
        description: 'The time in a city.',
        input_schema: WEATHER_TOOLS[1]?.function.parameters,
        ...EPHEMERAL,
      },
    ],
  })
})

test('a cache mark is sent with the lifetime that the gateway allowed', async () => {
  const { sent } = await send(ANTHROPIC, {
    model: 'claude-sonnet-4-5',
    messages: [
      {
        role: 'user',
        content: [{ type: 'text', text: 'One.', cache_control: { type: 'ephemeral', ttl: '1h' } }],
      },
    ],
  })
  assert.deepEqual(sent.messages[0].content[0].cache_control, { type: 'ephemeral', ttl: '1h' })
})

const SAMPLING = {
  temperature: 0.5,
  top_p: 0.9,
  seed: 7,
  presence_penalty: 0.1,
  frequency_penalty: 0.2,
  stop: ['END', 'STOP'],
}

test('google: every sampling parameter is sent', async () => {
  const { sent } = await send(GOOGLE, ask(GOOGLE, { ...SAMPLING, max_tokens: 50 }))
  assert.deepEqual(sent.generationConfig, {
    maxOutputTokens: 50,
    temperature: 0.5,
    topP: 0.9,
    seed: 7,
    presencePenalty: 0.1,
    frequencyPenalty: 0.2,
    stopSequences: ['END', 'STOP'],
  })
})

test('anthropic: the sampling parameters that it supports are sent', async () => {
  const { sent } = await send(
    ANTHROPIC,
    ask(ANTHROPIC, { ...SAMPLING, stop: 'END', max_tokens: 50 }),
  )
  const { messages: _messages, ...rest } = sent
  assert.deepEqual(rest, {
    model: 'claude-sonnet-4-5',
    max_tokens: 50,
    temperature: 0.5,
    stop_sequences: ['END'],
  })
})

for (const [fields, call, expected] of [
  [{ max_tokens: 50 }, {}, 50],
  [{ max_completion_tokens: 60, max_tokens: 50 }, {}, 60],
  [{ max_completion_tokens: 60 }, { outputTokensMax: 40 }, 40],
] as const) {
  test(`the output limit is ${expected} for ${JSON.stringify({ ...fields, ...call })}`, async () => {
    assert.equal((await send(ANTHROPIC, ask(ANTHROPIC, fields), call)).sent.max_tokens, expected)
    server.requests.length = 0
    const { sent } = await send(GOOGLE, ask(GOOGLE, fields), call)
    assert.equal(sent.generationConfig.maxOutputTokens, expected)
  })
}

const TOOL_CHOICES = [
  ['auto', { type: 'auto' }, { mode: 'AUTO' }],
  ['none', { type: 'none' }, { mode: 'NONE' }],
  ['required', { type: 'any' }, { mode: 'ANY' }],
  [
    { type: 'function', function: { name: 'get_time' } },
    { type: 'tool', name: 'get_time' },
    { mode: 'ANY', allowedFunctionNames: ['get_time'] },
  ],
] as const

for (const [toolChoice, anthropic, google] of TOOL_CHOICES) {
  test(`tool_choice ${JSON.stringify(toolChoice)} is sent`, async () => {
    const fields = { tools: WEATHER_TOOLS, tool_choice: toolChoice }
    const toAnthropic = await send(ANTHROPIC, ask(ANTHROPIC, fields))
    assert.deepEqual(toAnthropic.sent.tool_choice, anthropic)
    server.requests.length = 0
    const toGoogle = await send(GOOGLE, ask(GOOGLE, fields))
    assert.deepEqual(toGoogle.sent.toolConfig, { functionCallingConfig: google })
  })
}

test('anthropic: strict tools and the ban on parallel tool calls are sent', async () => {
  const tool = { type: 'function', function: { ...WEATHER_TOOLS[1]?.function, strict: true } }
  const fields = { tools: [tool], tool_choice: 'auto', parallel_tool_calls: false }
  const { sent } = await send(ANTHROPIC, ask(ANTHROPIC, fields))
  assert.equal(sent.tools[0].strict, true)
  assert.deepEqual(sent.tool_choice, { type: 'auto', disable_parallel_tool_use: true })
})

const SCHEMA = {
  type: 'object',
  properties: { city: { type: 'string' }, celsius: { type: 'number' } },
  required: ['city', 'celsius'],
  additionalProperties: false,
}
const JSON_SCHEMA = {
  response_format: { type: 'json_schema', json_schema: { name: 'heat', schema: SCHEMA } },
}

for (const isStream of [false, true]) {
  const manner = isStream ? 'streamed' : 'plain'

  test(`anthropic, ${manner}: an answer follows its schema`, async () => {
    server.play('json')
    const body = ask(ANTHROPIC, JSON_SCHEMA)
    const { sent, outcome } = await send(ANTHROPIC, body, { isStream })
    assert.deepEqual(sent.output_config, { format: { type: 'json_schema', schema: SCHEMA } })
    assert.equal(outcome.turn.message.content, '{"city":"Recife","celsius":29}')
    assert.equal(outcome.turn.finishReason, 'stop')
  })

  test(`google, ${manner}: an answer follows its schema`, async () => {
    server.play('json')
    const { sent, outcome } = await send(GOOGLE, ask(GOOGLE, JSON_SCHEMA), { isStream })
    assert.deepEqual(sent.generationConfig, {
      maxOutputTokens: OUTPUT_TOKENS,
      responseMimeType: 'application/json',
      responseJsonSchema: SCHEMA,
    })
    assert.equal(outcome.turn.message.content, '{"city":"Recife","celsius":29}')
  })
}

test('a JSON object can be requested even from providers without a JSON mode', async () => {
  const fields = { response_format: { type: 'json_object' } }
  const toGoogle = await send(GOOGLE, ask(GOOGLE, fields))
  assert.deepEqual(toGoogle.sent.generationConfig, {
    maxOutputTokens: OUTPUT_TOKENS,
    responseMimeType: 'application/json',
  })
  server.requests.length = 0
  const toAnthropic = await send(ANTHROPIC, ask(ANTHROPIC, fields))
  assert.equal(toAnthropic.sent.output_config, undefined)
  assert.match(toAnthropic.sent.system[0].text, /one valid JSON object/)
})

const PDF = 'JVBERi0xLjQKJcOkw7zDtsOfCg=='

test('a document is sent with its name and bytes', async () => {
  const file = { filename: 'report.pdf', file_data: `data:application/pdf;base64,${PDF}` }
  const messages = [{ role: 'user', content: [{ type: 'file', file }] }]
  const toAnthropic = await send(ANTHROPIC, { model: ANTHROPIC.model, messages })
  assert.deepEqual(toAnthropic.sent.messages[0].content, [
    {
      type: 'document',
      title: 'report.pdf',
      source: { type: 'base64', media_type: 'application/pdf', data: PDF },
    },
  ])
  server.requests.length = 0
  const toGoogle = await send(GOOGLE, { model: GOOGLE.model, messages })
  assert.deepEqual(toGoogle.sent.contents[0].parts, [
    { inlineData: { mimeType: 'application/pdf', data: PDF } },
  ])
})

function showImage(target: TestProvider, url: string): JsonObject {
  return {
    model: target.model,
    messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url } }] }],
  }
}

test('the address of an image is passed on only where it can lead to nothing but an image', async () => {
  const toAnthropic = await send(ANTHROPIC, showImage(ANTHROPIC, 'https://images.test/a'))
  assert.deepEqual(toAnthropic.sent.messages[0].content, [
    { type: 'image', source: { type: 'url', url: 'https://images.test/a' } },
  ])
  server.requests.length = 0
  const options = { allowPrivateDownloads: true }
  const toGoogle = await send(GOOGLE, showImage(GOOGLE, `${filesUrl}/a.png`), {}, options)
  assert.deepEqual(toGoogle.sent.contents[0].parts, [
    { inlineData: { mimeType: 'image/png', data: IMAGE_BASE64 } },
  ])
})

test('every other address is downloaded', async () => {
  const body = showImage(GOOGLE, `${filesUrl}/a.png`)
  const { sent } = await send(GOOGLE, body, {}, { allowPrivateDownloads: true })
  assert.deepEqual(sent.contents[0].parts, [
    { inlineData: { mimeType: 'image/png', data: IMAGE_BASE64 } },
  ])
})

test('an image in a tool result is downloaded, and its address never passed on', async () => {
  const call = { id: 'call_1', type: 'function', function: { name: 'draw', arguments: '' } }
  const image = { type: 'image_url', image_url: { url: `${filesUrl}/a.png` } }
  const body = {
    model: GOOGLE.model,
    messages: [
      { role: 'user', content: 'Draw.' },
      { role: 'assistant', content: null, tool_calls: [call] },
      { role: 'tool', tool_call_id: 'call_1', content: [{ type: 'text', text: 'Done.' }, image] },
    ],
  }
  const { sent } = await send(GOOGLE, body, {}, { allowPrivateDownloads: true })
  assert.deepEqual(sent.contents[2].parts, [
    {
      functionResponse: {
        id: 'call_1',
        name: 'draw',
        response: { name: 'draw', content: 'Done.' },
        parts: [{ inlineData: { mimeType: 'image/png', data: IMAGE_BASE64 } }],
      },
    },
  ])
})

const BUDGETS = [
  ['claude-sonnet-4-5', 'high', 10_000, { type: 'enabled', budget_tokens: 6_000 }],
  ['claude-sonnet-4-5', 'xhigh', 500_000, { type: 'enabled', budget_tokens: 51_200 }],
  ['claude-sonnet-4-5', 'minimal', 2_048, { type: 'enabled', budget_tokens: 1_024 }],
  ['claude-sonnet-4-5', 'high', 2_000, { type: 'disabled' }],
  ['claude-sonnet-4-5', 'none', 10_000, { type: 'disabled' }],
  ['claude-3-haiku-20240307', 'high', 10_000, { type: 'enabled', budget_tokens: 2_458 }],
  ['claude-opus-4-6', 'xhigh', 10_000, { type: 'adaptive', display: 'summarized' }],
] as const

for (const [model, effort, outputTokensMax, thinking] of BUDGETS) {
  test(`${model}: with effort ${effort}, the thinking budget stays within ${outputTokensMax}`, async () => {
    const { sent } = await send(ANTHROPIC, ask({ model }, { reasoning_effort: effort }), {
      outputTokensMax,
    })
    assert.deepEqual(sent.thinking, thinking)
    assert.ok(sent.max_tokens <= outputTokensMax)
    assert.ok((sent.thinking.budget_tokens ?? 0) < sent.max_tokens)
    if (model === 'claude-opus-4-6') assert.deepEqual(sent.output_config, { effort: 'high' })
  })
}

const GEMINI_THINKING = [
  ['gemini-2.5-flash', 'high', 1_000, { includeThoughts: true, thinkingBudget: 600 }],
  ['gemini-2.5-flash', 'none', 1_000, { includeThoughts: false, thinkingBudget: 0 }],
  ['gemini-2.5-pro', 'none', 1_000, { includeThoughts: false, thinkingBudget: 128 }],
  ['gemini-2.5-flash', 'xhigh', 60_000, { includeThoughts: true, thinkingBudget: 24_576 }],
  ['gemini-3-pro-preview', 'xhigh', 1_000, { includeThoughts: true, thinkingLevel: 'high' }],
  ['gemini-3-pro-preview', 'none', 1_000, { includeThoughts: false, thinkingLevel: 'low' }],
  ['gemini-2.0-flash', 'high', 1_000, undefined],
] as const

for (const [model, effort, outputTokensMax, thinkingConfig] of GEMINI_THINKING) {
  test(`${model}: effort ${effort} is sent within ${outputTokensMax}`, async () => {
    const { sent } = await send(GOOGLE, ask({ model }, { reasoning_effort: effort }), {
      outputTokensMax,
    })
    assert.deepEqual(sent.generationConfig.thinkingConfig, thinkingConfig)
    assert.equal(sent.generationConfig.maxOutputTokens, outputTokensMax)
  })
}

test('thinking that a client stored in pieces is sent back whole', async () => {
  const details = [
    { type: 'reasoning.text', text: 'It is ' },
    { type: 'reasoning.text', text: 'hot.' },
    { type: 'reasoning.text', signature: 'sig' },
  ]
  const { sent } = await send(ANTHROPIC, {
    model: ANTHROPIC.model,
    messages: [
      { role: 'user', content: 'How hot?' },
      { role: 'assistant', content: 'Very.', reasoning_details: details },
      { role: 'user', content: 'Thanks.' },
    ],
  })
  assert.deepEqual(sent.messages[1].content, [
    { type: 'thinking', thinking: 'It is hot.', signature: 'sig' },
    { type: 'text', text: 'Very.' },
  ])
})

const REFUSED: readonly (readonly [name: string, fields: JsonObject])[] = [
  ['more than one choice', { n: 2 }],
  ['an unknown effort', { reasoning_effort: 'extreme' }],
  ['a tool that is no function', { tools: [{ type: 'web_search' }] }],
  ['an unknown tool_choice', { tools: WEATHER_TOOLS, tool_choice: { type: 'allowed_tools' } }],
  ['an unknown response_format', { response_format: { type: 'grammar' } }],
  ['a result of no call', { messages: [{ role: 'tool', tool_call_id: 'a', content: '1' }] }],
  ['an unknown role', { messages: [{ role: 'function', name: 'a', content: '1' }] }],
  ['an unknown part', { messages: [{ role: 'user', content: [{ type: 'video_url' }] }] }],
  ['a file by its id', { messages: [{ role: 'user', content: [{ type: 'file', file: {} }] }] }],
  ['a file of the cloud', showImage(GOOGLE, 'gs://bucket/a.png')],
  ['a broken data URL', showImage(GOOGLE, 'data:nothing')],
]

for (const [name, fields] of REFUSED) {
  test(`refused before any request: ${name}`, async () => {
    for (const isStream of [false, true]) {
      const { outcome } = await send(GOOGLE, ask(GOOGLE, fields), { isStream })
      assert.equal(outcome.failure?.reason, 'unsupported')
    }
    assert.equal(server.requests.length, 0)
  })
}

for (const [name, path, allowPrivateDownloads] of [
  ['from this machine', '/a.png', false],
  ['that is gone', '/gone.png', true],
  ['that is no image', '/page.png', true],
] as const) {
  test(`refused before any request: an image ${name}`, async () => {
    const body = showImage(GOOGLE, `${filesUrl}${path}`)
    const { outcome } = await send(GOOGLE, body, {}, { allowPrivateDownloads })
    assert.equal(outcome.failure?.reason, 'unsupported')
    assert.doesNotMatch(outcome.failure?.detail ?? '', /png/)
    assert.equal(server.requests.length, 0)
  })
}

test('the bytes of downloaded images are counted as they arrive; without room nothing is sent', async () => {
  const body = showImage(GOOGLE, `${filesUrl}/a.png`)
  let counted = 0
  const count = (bytes: number): boolean => {
    counted += bytes
    return true
  }
  const options = { allowPrivateDownloads: true }
  await send(GOOGLE, body, { takeBytes: count }, options)
  assert.equal(counted, Buffer.from(IMAGE_BASE64, 'base64').length)
  server.requests.length = 0
  const { outcome } = await send(GOOGLE, body, { takeBytes: () => false }, options)
  assert.equal(outcome.failure?.reason, 'no_room')
  assert.equal(server.requests.length, 0)
})

test('google: unsupported file content is refused without an exception', async () => {
  const audio = { type: 'input_audio', input_audio: { format: 'wav', data: 'UklGRg==' } }
  const messages = [{ role: 'user', content: [audio] }]
  const toAnthropic = await send(ANTHROPIC, { model: ANTHROPIC.model, messages })
  assert.equal(toAnthropic.outcome.failure?.reason, 'unsupported')
  assert.equal(server.requests.length, 0)
  const toGoogle = await send(GOOGLE, { model: GOOGLE.model, messages })
  assert.deepEqual(toGoogle.sent.contents[0].parts, [
    { inlineData: { mimeType: 'audio/wav', data: 'UklGRg==' } },
  ])
})
