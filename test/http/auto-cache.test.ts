/** A key's `auto_cache`: agents that speak any format use the cache of an upstream that caches only what is marked. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createApiKey } from '../../src/customers/api-keys.ts'
import { isObject } from '../../src/platform/lib/is-object.ts'
import { ask } from '../harness/ask.ts'
import { assertAudit } from '../harness/assert-audit.ts'
import { writeConfigFile, type ConfigFile } from '../harness/config-file.ts'
import { startGateway, type TestGateway } from '../harness/gateway.ts'
import { costOf } from '../harness/prefix-cache.ts'
import {
  startScriptedUpstream,
  type Behaviour,
  type ScriptedUpstream,
} from '../harness/scripted-upstream.ts'

const SYSTEM = 'Você programa em silêncio e responde só com o necessário. '.repeat(200)
const PARAMETERS = { type: 'object', properties: { path: { type: 'string' } } }
const DESCRIPTION = 'Lê um arquivo.'
const TURNS = 6
const MODEL = 'claude'

let upstream: ScriptedUpstream
let file: ConfigFile
let gateway: TestGateway
let marking: string

/** Reports all of the prompt as written, at the price of a cache, where the request has a mark. */
const answerMessage: Behaviour = ({ text }, response) => {
  const tokens = Math.floor(text.length / 4)
  const isMarked = text.includes('"cache_control"')
  const usage = {
    input_tokens: isMarked ? 1 : tokens,
    output_tokens: 5,
    cache_creation_input_tokens: isMarked ? tokens : 0,
    cache_read_input_tokens: 0,
  }
  const content = [{ type: 'text', text: 'Feito.' }]
  const message = { id: 'm', type: 'message', role: 'assistant', model: 'x', content, usage }
  const whole = { ...message, stop_reason: 'end_turn', stop_sequence: null }
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(whole))
}

before(async () => {
  upstream = await startScriptedUpstream()
  upstream.play('x-claude', answerMessage)
  file = await writeConfigFile({
    upstreams: [
      {
        id: 'messages',
        kind: 'anthropic',
        base_url: upstream.baseUrl,
        api_key_env: 'TEST_ANTHROPIC_KEY',
      },
    ],
    models: [
      {
        id: MODEL,
        category: 'llm',
        vendor: 'acme',
        markup_multiplier: '2',
        context_tokens: 200_000,
        max_output_tokens: 256,
        supports_tools: true,
        prices: { input: '3', cached_input: '0.3', cache_write: '3.75', output: '4' },
        routes: [{ upstream: 'messages', model: 'x-claude' }],
      },
    ],
  })
  gateway = await startGateway({ CATRACA_CONFIG: file.path, TEST_ANTHROPIC_KEY: 'key' })
  const { customerId, database } = gateway
  const common = { customerId, requestsPerMinute: 1_000 }
  marking = (await createApiKey(database.db, { ...common, name: 'marca', autoCache: true })).secret
})

after(async () => {
  await assertAudit(gateway.database)
  await gateway.stop()
  await upstream.close()
  await file.remove()
})

type Turn = readonly [role: string, content: string]
const FORMATS: Readonly<Record<string, (turns: readonly Turn[]) => [string, object]>> = {
  'chat completions': (turns) => [
    '/chat/completions',
    {
      max_tokens: 20,
      tools: [
        {
          type: 'function',
          function: { name: 'ler', description: DESCRIPTION, parameters: PARAMETERS },
        },
      ],
      messages: [['system', SYSTEM] as const, ...turns].map(([role, content]) => ({
        role,
        content,
      })),
    },
  ],
  Responses: (turns) => [
    '/responses',
    {
      max_output_tokens: 20,
      instructions: SYSTEM,
      tools: [{ type: 'function', name: 'ler', description: DESCRIPTION, parameters: PARAMETERS }],
      input: turns.map(([role, content]) => ({ role, content })),
    },
  ],
  Messages: (turns) => [
    '/messages',
    {
      max_tokens: 20,
      system: SYSTEM,
      tools: [{ name: 'ler', description: DESCRIPTION, input_schema: PARAMETERS }],
      messages: turns.map(([role, content]) => ({ role, content })),
    },
  ],
}

/** Returns the bodies that reach the upstream in an agent's task. */
async function bodiesOf(format: keyof typeof FORMATS, secret: string): Promise<any[]> {
  const before = upstream.callsOf('x-claude').length
  const turns: Turn[] = [['user', 'Conserte o teste.']]
  for (let turn = 0; turn < TURNS; turn++) {
    const [path, body] = (FORMATS[format] as (typeof FORMATS)[string])(turns)
    const asked = { secret, body: { model: MODEL, ...body } }
    const answer = await ask(gateway.node.baseUrl, path, asked)
    assert.equal(answer.status, 200, answer.text)
    turns.push(['assistant', 'Feito.'], ['user', `Saída ${turn}: ${'linha. '.repeat(60)}`])
  }
  return upstream
    .callsOf('x-claude')
    .slice(before)
    .map(({ body }) => body)
}

function marksIn(value: unknown): number {
  if (Array.isArray(value)) return value.reduce((sum: number, each) => sum + marksIn(each), 0)
  if (!isObject(value)) return 0
  const own = value.cache_control === undefined ? 0 : 1
  return own + marksIn(Object.values(value))
}

for (const format of Object.keys(FORMATS)) {
  test(`${format}: with auto_cache an agent's task costs less than half, and without it nothing is marked`, async () => {
    const marked = await bodiesOf(format, marking)
    const plain = await bodiesOf(format, gateway.secret)
    assert.equal(marksIn(plain), 0)
    for (const body of marked) {
      assert.equal(marksIn(body), 2)
      assert.ok(marksIn(body.system) + marksIn(body.tools) === 1, 'tools and system text')
      assert.equal(marksIn(body.messages.at(-1)), 1)
    }
    const [cost, full] = [costOf(marked), costOf(plain)]
    assert.ok(cost * 2 < full, `${cost} of ${full}`)
  })
}

test('a client’s own marks stay alone, and a short prompt gets none', async () => {
  const own = { type: 'text', text: SYSTEM, cache_control: { type: 'ephemeral' } }
  for (const [system, marks] of [
    [[own], 1],
    ['Seja breve.', 0],
  ] as const) {
    const messages = [{ role: 'user', content: 'Olá.' }]
    const body = { model: MODEL, max_tokens: 20, system, messages }
    const answer = await ask(gateway.node.baseUrl, '/messages', { secret: marking, body })
    assert.equal(answer.status, 200, answer.text)
    assert.equal(marksIn(upstream.callsOf('x-claude').at(-1)?.body), marks)
  }
})

test('what the cache costs to write is held, and charged as reported', async () => {
  const rows = await gateway.database.db
    .selectFrom('usage_events')
    .select(['cache_write_tokens', 'prompt_tokens'])
    .where('cache_write_tokens', '>', 0)
    .execute()
  assert.ok(rows.length >= 3 * TURNS, String(rows.length))
  const log = gateway.node.log.join('\n')
  assert.ok(!log.includes('charge_above_hold'), 'no charge is above its hold')
})
