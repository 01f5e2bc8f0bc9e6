/** A node that is stopped while it streams, fenced by another, and wakes up. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import { writeConfigFile, type ConfigFile } from '../http/config-file.ts'
import { assertAudit, sound, startGateway, untilNoHoldIsOpen, type GatewayUnderTest } from '../http/gateway-under-test.ts'
import { eventOf, startScriptedUpstream, type ScriptedUpstream } from '../http/scripted-upstream.ts'
import { startTestNode, type TestNode } from '../harness/test-node.ts'

let upstream: ScriptedUpstream
let gateway: GatewayUnderTest
let second: TestNode
let config: ConfigFile
const WORDS = 30

before(async () => {
  upstream = await startScriptedUpstream()
  config = await writeConfigFile({
    upstreams: [{ id: 'runs', kind: 'openai-compatible', base_url: upstream.baseUrl, cancel_stops_billing: false }],
    models: [
      {
        id: 'slow',
        category: 'llm',
        prices: { input: 1, output: 2 },
        markup_multiplier: '1.5',
        routes: [{ upstream: 'runs', model: 'slow' }],
        context_tokens: 128_000,
        max_output_tokens: 1_000,
      },
    ],
  } as never)
  upstream.play('slow', async (_call, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    for (let word = 0; word < WORDS; word++) {
      response.write(eventOf({ choices: [{ index: 0, delta: { content: 'palavra ' }, finish_reason: null }] }))
      await sleep(100)
    }
    response.write(eventOf({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }))
    response.end(
      `${eventOf({ choices: [], usage: { prompt_tokens: 11, completion_tokens: WORDS, total_tokens: 11 + WORDS } })}data: [DONE]\n\n`,
    )
  })
  gateway = await startGateway({ CATRACA_CONFIG: config.path, LOG_LEVEL: 'warn' })
  second = await startTestNode({ databaseUrl: gateway.database.databaseUrl, env: { CATRACA_CONFIG: config.path } })
})

after(async () => {
  await second.stop()
  await second.remove()
  await gateway.stop()
  await upstream.close()
  await config.remove()
})

interface Seen {
  requestId: string
  words: number
  isWhole: boolean
}

test('E2 a node that sleeps for 40 s in the middle of streams charges what it delivered, once', async () => {
  const seen: Seen[] = []
  let isOver = false
  const clients = Array.from({ length: 40 }, async () => {
    while (!isOver) {
      const one: Seen = { requestId: randomUUID(), words: 0, isWhole: false }
      seen.push(one)
      try {
        const answer = await fetch(`${gateway.node.baseUrl}/chat/completions`, {
          method: 'POST',
          headers: { authorization: `Bearer ${gateway.secret}`, 'content-type': 'application/json', 'x-svc-request-id': one.requestId },
          body: JSON.stringify(sound('slow', { stream: true })),
        })
        let text = ''
        for await (const part of answer.body as never as AsyncIterable<Uint8Array>) {
          text += Buffer.from(part).toString('utf8')
          one.words = text.split('palavra ').length - 1
        }
        one.isWhole = text.includes('[DONE]')
      } catch {
        await sleep(50)
      }
    }
  })
  await sleep(5_000)
  for (let round = 0; round < 2; round++) {
    gateway.node.process.kill('SIGSTOP')
    await sleep(40_000)
    gateway.node.process.kill('SIGCONT')
    await sleep(5_000)
  }
  isOver = true
  await Promise.all(clients)
  await untilNoHoldIsOpen(gateway.database, 90_000)
  const { rows } = await sql<{ request_id: string; tokens: bigint; prompt: bigint; events: bigint }>`
    select request_id, sum(completion_tokens)::int8 as tokens, sum(prompt_tokens)::int8 as prompt, count(*) as events
    from usage_events group by 1`.execute(gateway.database.db)
  const charged = new Map(rows.map((row) => [row.request_id, { tokens: Number(row.tokens), prompt: Number(row.prompt), events: Number(row.events) }]))
  const wrong: object[] = []
  for (const one of seen) {
    const charge = charged.get(one.requestId) ?? { tokens: 0, prompt: 0, events: 0 }
    const isRight = one.isWhole
      ? charge.tokens === WORDS && charge.prompt === 11
      : one.words === 0
        ? charge.tokens === 0
        : charge.tokens >= one.words
    if (!isRight) wrong.push({ ...one, ...charge })
  }
  console.log('E2', {
    whole: seen.filter(({ isWhole }) => isWhole).length,
    cut: seen.filter(({ isWhole, words }) => !isWhole && words > 0).length,
    nothing: seen.filter(({ words }) => words === 0).length,
    corrected: [...charged.values()].filter(({ events }) => events > 1).length,
    wrong: wrong.length,
    examples: wrong.slice(0, 5),
  })
  await assertAudit(gateway.database)
  assert.deepEqual(wrong, [])
})
