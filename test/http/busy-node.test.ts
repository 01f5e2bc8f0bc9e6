// deep: keeps its process busy for seconds
/** A node with more work than time refuses new calls, so that those that run go on. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setImmediate, setTimeout as sleep } from 'node:timers/promises'
import { askChat, sound } from '../harness/ask.ts'
import { assertAudit, untilNoHoldIsOpen } from '../harness/assert-audit.ts'
import { writeConfigFile, type ConfigFile } from '../harness/config-file.ts'
import { startGateway, type TestGateway } from '../harness/gateway.ts'
import {
  createGate,
  good,
  startScriptedUpstream,
  type ScriptedUpstream,
} from '../harness/scripted-upstream.ts'
import { seedCustomer } from '../harness/test-database.ts'

const CALLS = 220

let upstream: ScriptedUpstream
let file: ConfigFile
let gateway: TestGateway

before(async () => {
  upstream = await startScriptedUpstream()
  file = await writeConfigFile({
    upstreams: [{ id: 'uma', kind: 'openai-compatible', base_url: upstream.baseUrl }],
    models: ['lento', 'outro'].map((id) => ({
      id,
      category: 'llm' as const,
      vendor: 'roteiro',
      prices: { input: '1', output: '1' },
      markup_multiplier: '1.5',
      context_tokens: 8_192,
      max_output_tokens: 64,
      routes: [{ upstream: 'uma', model: id }],
    })),
  })
  gateway = await startGateway({ CATRACA_CONFIG: file.path })
})

after(async () => {
  await gateway.stop()
  await upstream.close()
  await file.remove()
})

/** A machine that is busy by itself may refuse one of the calls that are to run. */
async function askUntilTaken(model: string): Promise<Awaited<ReturnType<typeof ask>>> {
  for (;;) {
    const answer = await ask(model)
    if (answer.status !== 503) return answer
    await sleep(500)
  }
}

const ask = (model: string) => askChat(gateway.node.baseUrl, gateway.secret, sound(model))

async function keepBusy(ms: number): Promise<void> {
  for (const untilMs = performance.now() + ms; performance.now() < untilMs;) {
    for (const turnMs = performance.now() + 300; performance.now() < turnMs;);
    await setImmediate()
  }
}

test('a busy node refuses a new call for some seconds, without a hold, and ends all that run', async () => {
  const gate = createGate()
  upstream.play('lento', gate.behaviour)
  upstream.play('outro', good)
  await gateway.database.db.updateTable('api_keys').set({ requests_per_minute: 10_000 }).execute()
  const running = Array.from({ length: CALLS }, () => askUntilTaken('lento'))
  while (upstream.callsOf('lento').length < CALLS) await sleep(20)
  await keepBusy(3_000)
  const refused = await ask('outro')
  assert.equal(refused.status, 503, refused.text)
  assert.equal(refused.json.error.code, 'service_unavailable')
  assert.equal(refused.headers.get('retry-after'), '2')
  assert.equal(upstream.callsOf('outro').length, 0)
  // Who has few calls is served all the same: one customer does not close the node to the others.
  const { secret } = await seedCustomer(gateway.database.db, { balanceBrl: '10' })
  const { status } = await askChat(gateway.node.baseUrl, secret, sound('outro'))
  assert.equal(status, 200)
  gate.open()
  const answers = await Promise.all(running)
  assert.deepEqual([...new Set(answers.map(({ status }) => status))], [200])
  while ((await ask('outro')).status !== 200) await sleep(200)
  await untilNoHoldIsOpen(gateway.database)
  await assertAudit(gateway.database)
})
