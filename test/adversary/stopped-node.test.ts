/** A node that is stopped while its charges are on their way, and wakes up later. Plain calls. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { writeConfigFile, type ConfigFile } from '../http/config-file.ts'
import { askChat, assertAudit, sound, startGateway, untilNoHoldIsOpen, type GatewayUnderTest } from '../http/gateway-under-test.ts'
import { afterMs, startScriptedUpstream, type ScriptedUpstream } from '../http/scripted-upstream.ts'
import { startTestNode, type TestNode } from '../harness/test-node.ts'
import { sql } from 'kysely'

let upstream: ScriptedUpstream
let gateway: GatewayUnderTest
let second: TestNode
let config: ConfigFile

before(async () => {
  upstream = await startScriptedUpstream()
  config = await writeConfigFile({
    upstreams: [{ id: 'runs', kind: 'openai-compatible', base_url: upstream.baseUrl, cancel_stops_billing: false }],
    models: [
      {
        id: 'quick',
        category: 'llm',
        prices: { input: 1, output: 2 },
        markup_multiplier: '1.5',
        routes: [{ upstream: 'runs', model: 'quick' }],
        context_tokens: 128_000,
        max_output_tokens: 1_000,
      },
    ],
  } as never)
  upstream.play('quick', afterMs(5))
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

test('E1 a node that sleeps for 40 s charges what it delivers, and nothing else', async () => {
  const answers: { requestId: string; status: number }[] = []
  let isOver = false
  const clients = Array.from({ length: 60 }, async () => {
    while (!isOver) {
      const answer = await askChat(gateway.node.baseUrl, gateway.secret, sound('quick')).catch(() => undefined)
      if (answer) answers.push({ requestId: answer.requestId, status: answer.status })
      else await sleep(50)
    }
  })
  await sleep(4_000)
  for (let round = 0; round < 2; round++) {
    gateway.node.process.kill('SIGSTOP')
    await sleep(40_000)
    gateway.node.process.kill('SIGCONT')
    await sleep(4_000)
  }
  isOver = true
  await Promise.all(clients)
  await untilNoHoldIsOpen(gateway.database, 90_000)
  const { rows } = await sql<{ request_id: string; billed: bigint }>`
    select request_id, sum(cost_billed_nano_brl)::int8 as billed from usage_events group by 1`.execute(gateway.database.db)
  const billed = new Map(rows.map((row) => [row.request_id, row.billed]))
  const charged = answers.filter(({ requestId, status }) => status !== 200 && (billed.get(requestId) ?? 0n) > 0n)
  const free = answers.filter(({ requestId, status }) => status === 200 && (billed.get(requestId) ?? 0n) === 0n)
  const statuses = Object.fromEntries(
    [...Map.groupBy(answers, ({ status }) => status)].map(([status, some]) => [status, some.length]),
  )
  console.log('E1', { statuses, refusedAndCharged: charged.length, deliveredAndFree: free.length, log: gateway.node.log.filter((line) => /not_delivered|corrected|fenced/.test(line)).slice(0, 4) })
  await assertAudit(gateway.database)
  assert.equal(free.length, 0, 'delivered, and not charged')
  assert.equal(charged.length, 0, 'refused, and charged')
})
