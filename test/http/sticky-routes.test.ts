/** An agent's conversation stays on the route that has its prompt in its cache: over two nodes, which share no memory. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseBrl } from '../../src/platform/lib/money.ts'
import { ask, billedIn } from '../harness/ask.ts'
import { assertAudit } from '../harness/assert-audit.ts'
import { writeConfigFile, type ConfigFile } from '../harness/config-file.ts'
import { startGateway, type TestGateway } from '../harness/gateway.ts'
import { startLocalNode, type LocalNode } from '../harness/local-node.ts'
import {
  GOOD_TEXT,
  startScriptedUpstream,
  type Behaviour,
  type ScriptedUpstream,
} from '../harness/scripted-upstream.ts'
import { seedCustomer } from '../harness/test-database.ts'

const MODELS = {
  one: {},
  equal: {},
  'by-latency': { routing: 'latency' },
  'by-price': { routing: 'price' },
} as const
type Balanced = Exclude<keyof typeof MODELS, 'one'>
const TURNS = 10
const TASKS = 4

let upstream: ScriptedUpstream
let file: ConfigFile
let gateway: TestGateway
let second: LocalNode

before(async () => {
  upstream = await startScriptedUpstream()
  const ids = Object.keys(MODELS) as (keyof typeof MODELS)[]
  const namesOf = (id: string): string[] => (id === 'one' ? ['one.a'] : [`${id}.a`, `${id}.b`])
  file = await writeConfigFile({
    upstreams: [{ id: 'up', kind: 'openai-compatible', base_url: upstream.baseUrl, retries: 0 }],
    models: ids.map((id) => ({
      id,
      ...MODELS[id],
      category: 'llm',
      vendor: 'acme',
      markup_multiplier: '1',
      context_tokens: 1_000_000,
      max_output_tokens: 256,
      prices: { input: '3', cached_input: '0.3', output: '4' },
      routes: namesOf(id).map((model) => ({ upstream: 'up', model, priority: 0 })),
    })),
  })
  for (const id of ids)
    for (const name of namesOf(id)) upstream.play(name, createCachingBehaviour())
  gateway = await startGateway({ CATRACA_CONFIG: file.path })
  second = await startLocalNode({
    databaseUrl: gateway.database.databaseUrl,
    env: { CATRACA_CONFIG: file.path },
  })
})

after(async () => {
  await assertAudit(gateway.database)
  await second.stop()
  await second.remove()
  await gateway.stop()
  await upstream.close()
  await file.remove()
})

/** Bills the longest beginning that it saw before as cached tokens, as far as the messages go, in a time of its own. */
function createCachingBehaviour(): Behaviour {
  const seen = new Set<string>()
  return async ({ body }, response) => {
    const prefixes = (body.messages as unknown[]).map((_, index) =>
      JSON.stringify(body.messages.slice(0, index + 1)),
    )
    const cached = prefixes.findLast((prefix) => seen.has(prefix)) ?? ''
    for (const prefix of prefixes) seen.add(prefix)
    const [prompt_tokens, cached_tokens] = [prefixes.at(-1) ?? '', cached].map((text) =>
      Math.floor(text.length / 4),
    )
    const usage = {
      prompt_tokens,
      completion_tokens: 5,
      prompt_tokens_details: { cached_tokens },
    }
    await sleep(Math.random() * 20)
    const message = { role: 'assistant', content: GOOD_TEXT }
    const choices = [{ index: 0, message, finish_reason: 'stop' }]
    const text = JSON.stringify({ choices, usage })
    response.writeHead(200, { 'content-type': 'application/json' }).end(text)
  }
}

const SYSTEM = 'Você programa em silêncio e responde só com o necessário. '.repeat(400)

interface Conversation {
  readonly system: string
  readonly turns: readonly string[]
}

const listOf = (turns: readonly string[]) =>
  turns.map((content, index) => ({ role: index % 2 === 0 ? 'user' : 'assistant', content }))
type Write = (of: Conversation) => [string, object]
const FORMATS: Readonly<Record<string, Write>> = {
  'chat completions': ({ system, turns }) => [
    '/chat/completions',
    { max_tokens: 20, messages: [{ role: 'system', content: system }, ...listOf(turns)] },
  ],
  Responses: ({ system, turns }) => [
    '/responses',
    { max_output_tokens: 20, instructions: system, input: listOf(turns) },
  ],
  // As Claude Code does, it marks the last message of each turn, so that the same message is a list and then a text.
  Messages: ({ system, turns }) => [
    '/messages',
    {
      max_tokens: 20,
      system: [{ type: 'text', text: system, cache_control: { type: 'ephemeral' } }],
      messages: listOf(turns).map((message, index) => {
        if (index < turns.length - 1) return message
        const text = message.content
        return {
          ...message,
          content: [{ type: 'text', text, cache_control: { type: 'ephemeral' } }],
        }
      }),
    },
  ],
}

/** Returns what an agent's task of several turns cost. */
async function costOf(model: string, write: Write, task: string): Promise<bigint> {
  const system = `${task}. ${SYSTEM}`
  const turns = ['Conserte o teste.']
  let cost = 0n
  for (let turn = 0; turn < TURNS; turn++) {
    const { baseUrl } = turn % 2 === 0 ? gateway.node : second
    const [path, body] = write({ system, turns })
    const answer = await ask(baseUrl, path, { secret: gateway.secret, body: { model, ...body } })
    assert.equal(answer.status, 200, answer.text)
    cost += parseBrl(billedIn(answer.text) as string) as bigint
    turns.push(GOOD_TEXT, `Saída do passo ${turn}: ${'linha de registro. '.repeat(20)}`)
  }
  return cost
}

for (const model of ['equal', 'by-latency', 'by-price'] satisfies Balanced[]) {
  test(`${model}: an agent's task over two routes and two nodes costs as much as over one route`, async () => {
    for (const [format, write] of Object.entries(FORMATS)) {
      let [cost, costOfOne] = [0n, 0n]
      for (let task = 0; task < TASKS; task++) {
        cost += await costOf(model, write, `${model} ${task}`)
        costOfOne += await costOf('one', write, `${model} ${task}`)
      }
      assert.ok(cost * 10n <= costOfOne * 11n, `${format}: ${cost} is more than 1.1 ${costOfOne}`)
    }
  })
}

test('a conversation is named by the key of its cache or by its session, and by its customer', async () => {
  const customers = await Promise.all(
    Array.from({ length: 20 }, () => seedCustomer(gateway.database.db, { balanceBrl: '10' })),
  )
  const names = [
    ['/chat/completions', { messages: listOf(['Olá.']), prompt_cache_key: 'agente' }, {}],
    ['/responses', { input: 'Olá.', prompt_cache_key: 'agente' }, {}],
    ['/messages', { messages: listOf(['Olá.']) }, { 'x-svc-session-id': 'agente' }],
  ] as const
  for (const [path, body, headers] of names) {
    const routes = new Set<string>()
    for (const { secret } of customers) {
      const before = upstream.callsOf('equal.a').length
      for (const { baseUrl } of [gateway.node, second, gateway.node, second]) {
        const asked = { model: 'equal', max_tokens: 20, ...body }
        const answer = await ask(baseUrl, path, { secret, headers, body: asked })
        assert.equal(answer.status, 200, answer.text)
      }
      const calls = upstream.callsOf('equal.a').length - before
      assert.ok(calls === 0 || calls === 4, `${calls} of 4 calls went to one route`)
      routes.add(calls === 0 ? 'b' : 'a')
    }
    assert.equal(routes.size, 2, 'the same name of 20 customers is not one conversation')
  }
})
