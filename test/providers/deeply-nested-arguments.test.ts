// deep: an attack
/** A model writes the arguments of a tool as deep as its customer asks, also for the packages, which overflow the stack. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { after, before, test } from 'node:test'
import { ask } from '../harness/ask.ts'
import { writeConfigFile, type ConfigFile } from '../harness/config-file.ts'
import { startGateway, type TestGateway } from '../harness/gateway.ts'

const LEVELS = 30_000
const DEEP = '{"a":'.repeat(LEVELS) + '1' + '}'.repeat(LEVELS)
/** The consecutive failures that close a route. */
const CALLS = 6

const ANSWERS: readonly (readonly [path: RegExp, answer: string])[] = [
  [
    /:generateContent/,
    `{"candidates":[{"index":0,"content":{"role":"model","parts":[{"functionCall":{"name":"f","args":${DEEP}}}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":10,"candidatesTokenCount":500,"totalTokenCount":510}}`,
  ],
  [
    /\/converse/,
    `{"output":{"message":{"role":"assistant","content":[{"toolUse":{"toolUseId":"t1","name":"f","input":${DEEP}}}]}},"stopReason":"tool_use","usage":{"inputTokens":10,"outputTokens":500,"totalTokens":510}}`,
  ],
  [
    /\/(?:messages|invoke)/,
    `{"id":"m","type":"message","role":"assistant","model":"claude","content":[{"type":"tool_use","id":"t1","name":"f","input":${DEEP}}],"stop_reason":"tool_use","usage":{"input_tokens":10,"output_tokens":500}}`,
  ],
]

let server: Server
let config: ConfigFile
let gateway: TestGateway

before(async () => {
  server = createServer(async (request, response) => {
    await buffer(request)
    const found = ANSWERS.find(([path]) => path.test(request.url ?? ''))
    response
      .writeHead(found ? 200 : 404, { 'content-type': 'application/json' })
      .end(found?.[1] ?? '{}')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const upstream = (id: string, kind: string, base_url: string, more = {}) => ({
    id,
    kind,
    base_url,
    api_key_env: 'TEST_KEY',
    retries: 0,
    ...more,
  })
  const routes = {
    gemini: ['google', 'gemini-2.5-flash'],
    claude: ['anthropic', 'claude-sonnet-4-5'],
    'bedrock-nova': ['bedrock', 'amazon.nova-pro-v1:0'],
    'bedrock-claude': ['bedrock', 'anthropic.claude-sonnet-4-5-20250929-v1:0'],
  }
  config = await writeConfigFile({
    upstreams: [
      upstream('google', 'google', `${address}/v1beta`),
      upstream('anthropic', 'anthropic', `${address}/v1`),
      upstream('bedrock', 'amazon-bedrock', address, { region: 'us-east-1' }),
    ],
    models: Object.entries(routes).map(([id, [to, model]]) => ({
      id,
      category: 'llm',
      prices: { input: 1, output: 2 },
      max_output_tokens: 60_000,
      supports_tools: true,
      routes: [{ upstream: to, model }],
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
  ['gemini', '/chat/completions'],
  ['claude', '/chat/completions'],
  ['claude', '/responses'],
  ['bedrock-nova', '/chat/completions'],
  ['bedrock-claude', '/messages'],
  ['gemini', 'beta/generateContent'],
] as const)
  test(`arguments too deep to be written are no fault of the route: ${model} ${path}`, async () => {
    const bodies = {
      '/chat/completions': {
        messages: [{ role: 'user', content: 'Oi' }],
        tools: [{ type: 'function', function: { name: 'f', parameters } }],
      },
      'beta/generateContent': {
        contents: [{ parts: [{ text: 'Oi' }] }],
        tools: [{ functionDeclarations: [{ name: 'f', parameters }] }],
      },
      '/responses': { input: 'Oi', tools: [{ type: 'function', name: 'f', parameters }] },
      '/messages': {
        max_tokens: 50_000,
        messages: [{ role: 'user', content: 'Oi' }],
        tools: [{ name: 'f', input_schema: parameters }],
      },
    }
    const statuses: number[] = []
    for (let call = 0; call < CALLS; call += 1) {
      const { status } = await ask(gateway.node.baseUrl, path, {
        secret: gateway.secret,
        body: { model, ...bodies[path] },
      })
      statuses.push(status)
    }
    // 503: the route is closed.
    assert.ok(!statuses.includes(503), `statuses: ${statuses.join(' ')}`)
  })
