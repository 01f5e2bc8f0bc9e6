// deep: an attack
/** Some upstreams send a call of a tool in one event, with arguments as long as the customer asks for. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { after, before, test } from 'node:test'
import { ask } from '../harness/ask.ts'
import { writeConfigFile, type ConfigFile } from '../harness/config-file.ts'
import { startGateway, type TestGateway } from '../harness/gateway.ts'
import { eventOf } from '../harness/scripted-upstream.ts'
import { resolutionsOf } from './resolutions-of.ts'

const LIMIT = 50_000
const TOKENS = 40_000
/** Runs of spaces are tokens of up to 128 bytes. */
const TEXT = ' '.repeat(1.5 * 1024 * 1024)
const ARGS = { text: TEXT }

const gemini = eventOf({
  candidates: [
    {
      index: 0,
      content: { role: 'model', parts: [{ functionCall: { name: 'f', args: ARGS } }] },
      finishReason: 'STOP',
    },
  ],
  usageMetadata: {
    promptTokenCount: 10,
    candidatesTokenCount: TOKENS,
    totalTokenCount: TOKENS + 10,
  },
})

const chunk = (delta: object, reason: string | null = null): string =>
  eventOf({ choices: [{ index: 0, delta, finish_reason: reason }] })
const grok =
  chunk({
    tool_calls: [
      {
        index: 0,
        id: 'call_1',
        type: 'function',
        function: { name: 'f', arguments: JSON.stringify(ARGS) },
      },
    ],
  }) +
  chunk({}, 'tool_calls') +
  eventOf({
    choices: [],
    usage: { prompt_tokens: 10, completion_tokens: TOKENS, total_tokens: TOKENS + 10 },
  }) +
  'data: [DONE]\n\n'

const claude = [
  { type: 'message_start', message: { id: 'm', content: [], usage: { input_tokens: 10 } } },
  {
    type: 'content_block_start',
    index: 0,
    content_block: { type: 'redacted_thinking', data: TEXT },
  },
  { type: 'content_block_stop', index: 0 },
  { type: 'content_block_start', index: 1, content_block: { type: 'text', text: '' } },
  { type: 'content_block_delta', index: 1, delta: { type: 'text_delta', text: 'Oi' } },
  { type: 'content_block_stop', index: 1 },
  { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: TOKENS } },
  { type: 'message_stop' },
]
  .map((event) => `event: ${event.type}\n${eventOf(event)}`)
  .join('')

const STREAMS = { enerateContent: gemini, '/chat/completions': grok, '/messages': claude }

let server: Server
let config: ConfigFile
let gateway: TestGateway

before(async () => {
  server = createServer(async (request, response) => {
    await buffer(request)
    const found = Object.entries(STREAMS).find(([path]) => request.url?.includes(path))
    response.writeHead(200, { 'content-type': 'text/event-stream' }).end(found?.[1])
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const upstream = (id: string, kind: string, base_url: string) => {
    return { id, kind, base_url, api_key_env: 'TEST_KEY', retries: 0 }
  }
  config = await writeConfigFile({
    upstreams: [
      upstream('google', 'google', `${address}/v1beta`),
      upstream('anthropic', 'anthropic', `${address}/v1`),
      upstream('xai', 'openai-compatible', `${address}/v1`),
    ],
    models: [
      ['google', 'gemini-2.5-flash'],
      ['anthropic', 'claude-sonnet-4-5'],
      ['xai', 'grok-4'],
    ].map(([id, model]) => ({
      id,
      category: 'llm',
      prices: { input: 1, output: 2 },
      max_output_tokens: LIMIT,
      supports_tools: true,
      routes: [{ upstream: id, model }],
    })),
  } as never)
  gateway = await startGateway({ CATRACA_CONFIG: config.path, TEST_KEY: 'test' })
})

after(async () => {
  await gateway.stop()
  server.close()
  await config.remove()
})

const parameters = { type: 'object', properties: {} }

for (const [model, path] of [
  ['google', '/chat/completions'],
  ['anthropic', '/chat/completions'],
  ['anthropic', '/messages'],
  ['xai', '/chat/completions'],
  ['xai', '/messages'],
] as const)
  test(`a long event within the limit is delivered and charged: ${model} ${path}`, async () => {
    const messages = [{ role: 'user', content: 'Oi' }]
    const tool = path === '/messages' ? { name: 'f', input_schema: parameters } : undefined
    const tools = [tool ?? { type: 'function', function: { name: 'f', parameters } }]
    const body = { model, stream: true, max_tokens: LIMIT, messages, tools }
    const answer = await ask(gateway.node.baseUrl, path, { secret: gateway.secret, body })
    assert.equal(answer.status, 200)
    const [event] = await resolutionsOf(gateway.database, answer.requestId)
    assert.equal(event?.completion_tokens, TOKENS)
    assert.ok(!gateway.node.log.some((line) => line.includes('upstream_failed')))
  })
