/** What a task of Claude Code costs through the gateway, at a provider that caches prefixes, and what it costs there. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { mkdtemp } from 'node:fs/promises'
import type { ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import type { JsonObject } from '../../../src/gateway/providers/contract.ts'
import { startGatewayProcess, type GatewayProcess } from '../../harness/gateway-process.ts'
import { configured } from '../../harness/media-calls.ts'
import { costOf } from '../../harness/prefix-cache.ts'
import { startScriptedServer, type ScriptedServer } from '../../providers/scripted-server.ts'
import { canRun, runClient } from './run-client.ts'

const PACKAGE = `claude-code-${process.platform}-${process.arch}`
const CLAUDE = join(import.meta.dirname, 'node_modules/@anthropic-ai', PACKAGE, 'claude')
const MODEL = 'claude-sonnet-5'
const CALLS = 6

let upstream: ScriptedServer
let gateway: GatewayProcess

before(async () => {
  upstream = await startScriptedServer(({ text }, response) => answer(JSON.parse(text), response))
  gateway = await startGatewayProcess({
    ...configured({
      upstreams: [
        {
          id: 'anthropic',
          kind: 'anthropic',
          base_url: `${upstream.url}/v1`,
          api_key_env: 'AGENTS_KEY',
        },
      ],
      models: [
        {
          id: MODEL,
          category: 'llm',
          prices: { input: 1, cached_input: '0.1', cache_write: '1.25', output: 2 },
          markup_multiplier: '1.5',
          routes: [{ upstream: 'anthropic', model: MODEL }],
          context_tokens: 1_000_000,
          max_output_tokens: 64_000,
          supports_tools: true,
        },
      ],
    }),
    AGENTS_KEY: 'a-key',
  })
})

after(async () => {
  await gateway.stop()
  await upstream.close()
})

/** Calls a tool until the request has as many results as wanted. */
function answer(body: any, response: ServerResponse): void {
  const results = body.messages.flatMap(({ content }: JsonObject) =>
    Array.isArray(content) ? content.filter(({ type }) => type === 'tool_result') : [],
  ).length
  const canCall = body.tools?.some(({ name }: JsonObject) => name === 'Bash') && results < CALLS
  const command = { command: `echo ${'line '.repeat(500)}${results}`, description: 'Says' }
  const usage = { input_tokens: 10, output_tokens: 1 }
  const message = {
    id: `msg_${randomUUID()}`,
    type: 'message',
    role: 'assistant',
    model: MODEL,
    content: [],
  }
  const block = canCall
    ? { type: 'tool_use', id: `toolu_${results}`, name: 'Bash', input: {} }
    : { type: 'text', text: '' }
  const delta = canCall
    ? { type: 'input_json_delta', partial_json: JSON.stringify(command) }
    : { type: 'text_delta', text: 'Feito.' }
  const ended = { stop_reason: canCall ? 'tool_use' : 'end_turn', stop_sequence: null }
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  for (const event of [
    { type: 'message_start', message: { ...message, stop_reason: null, usage } },
    { type: 'content_block_start', index: 0, content_block: block },
    { type: 'content_block_delta', index: 0, delta },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: ended, usage: { ...usage, output_tokens: 20 } },
    { type: 'message_stop' },
  ])
    response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
  response.end()
}

/** The requests of one task that reach the upstream. */
async function requestsBy(env: Readonly<Record<string, string>>): Promise<JsonObject[]> {
  upstream.received.length = 0
  const folder = await mkdtemp(join(tmpdir(), 'claude-code-'))
  const { code, stdout, stderr } = await runClient(
    CLAUDE,
    ['-p', 'Rode seis comandos.', '--allowedTools', 'Bash'],
    {
      ANTHROPIC_MODEL: MODEL,
      ANTHROPIC_DEFAULT_HAIKU_MODEL: MODEL,
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      DISABLE_AUTOUPDATER: '1',
      ...env,
    },
    folder,
  )
  assert.equal(code, 0, stdout.slice(-2_000) + stderr)
  const sent = upstream.received.filter(({ path }) => path.startsWith('/v1/messages'))
  return sent.map(({ text }) => JSON.parse(text) as JsonObject)
}

test('a task of Claude Code costs through the gateway what it costs at its provider', async (t) => {
  if (!canRun(CLAUDE)) return t.skip(`${PACKAGE} does not run on this machine`)
  const own = await requestsBy({ ANTHROPIC_BASE_URL: upstream.url, ANTHROPIC_AUTH_TOKEN: 'a-key' })
  const sent = await requestsBy({
    ANTHROPIC_BASE_URL: new URL(gateway.node.baseUrl).origin,
    ANTHROPIC_AUTH_TOKEN: gateway.secret,
  })
  assert.equal(sent.length, own.length)
  assert.ok(sent.length > CALLS)
  const [cost, native] = [costOf(sent), costOf(own)]
  t.diagnostic(`${cost} of ${native}`)
  assert.ok(cost <= 1.05 * native, `${cost} is at most 1.05 times ${native}`)
})
