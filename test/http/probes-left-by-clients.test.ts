// deep: an attack
/** Customers that leave each probe of a route that works again do not keep it closed to others. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { askChat, credentialHeaders, sound } from '../harness/ask.ts'
import { writeConfigFile, type ConfigFile } from '../harness/config-file.ts'
import { startGateway, type TestGateway } from '../harness/gateway.ts'
import {
  good,
  hang,
  startScriptedUpstream,
  status,
  type ScriptedUpstream,
} from '../harness/scripted-upstream.ts'
import { seedCustomer } from '../harness/test-database.ts'

/** The time in which both customers must have asked after the first one left. */
const OPEN_MS = 5_000
let upstream: ScriptedUpstream
let config: ConfigFile
let gateway: TestGateway
let other: string

before(async () => {
  upstream = await startScriptedUpstream()
  config = await writeConfigFile({
    upstreams: [
      {
        id: 'only',
        kind: 'openai-compatible',
        base_url: upstream.baseUrl,
        retries: 0,
        cancel_stops_billing: true,
        breaker: { failures: 2, open_ms: OPEN_MS },
      },
    ],
    models: [
      {
        id: 'left',
        category: 'llm',
        // The streams of a model that reasons are read on when their clients leave.
        can_reason: false,
        prices: { input: 1, output: 2 },
        routes: [{ upstream: 'only', model: 'left' }],
      },
    ],
  } as never)
  gateway = await startGateway({ CATRACA_CONFIG: config.path })
  other = (await seedCustomer(gateway.database.db, { balanceBrl: '100' })).secret
})

after(async () => {
  await gateway.stop()
  await upstream.close()
  await config.remove()
})

function seen() {
  return upstream.callsOf('left').filter(({ body }) => body.stream === true)
}

/** Asks until the route takes the call. */
async function beginProbe(secret: string): Promise<{ leave(): Promise<void> }> {
  const { baseUrl } = gateway.node
  const before = seen().length
  const isTaken = (): boolean => seen().length > before
  for (;;) {
    const leaving = new AbortController()
    const asked = fetch(`${baseUrl}/chat/completions`, {
      method: 'POST',
      headers: { ...credentialHeaders(secret), 'content-type': 'application/json' },
      body: JSON.stringify(sound('left', { stream: true })),
      signal: leaving.signal,
    }).then(
      (answer) => answer.text(),
      () => {},
    )
    await Promise.race([asked, until(isTaken)])
    const leave = async (): Promise<void> => {
      leaving.abort()
      await asked
      await seen()[before]?.gone
    }
    if (isTaken()) return { leave }
    // The route is closed still.
    await sleep(50)
  }
}

/** Leaves it before its first output. */
async function leaveProbe(secret: string): Promise<void> {
  const probe = await beginProbe(secret)
  await probe.leave()
}

async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await sleep(10)
}

test('a customer that leaves a probe is not the next one, before the others', async () => {
  const { baseUrl } = gateway.node
  upstream.play('left', status(500))
  for (const secret of [gateway.secret, other]) await askChat(baseUrl, secret, sound('left'))
  assert.equal((await askChat(baseUrl, other, sound('left'))).status, 503)
  upstream.play('left', hang)
  await leaveProbe(gateway.secret)
  upstream.play('left', good)
  const again = await askChat(baseUrl, gateway.secret, sound('left'))
  assert.equal(again.status, 503)
  assert.equal((await askChat(baseUrl, other, sound('left'))).status, 200)
  // Which shows that the route works.
  assert.equal((await askChat(baseUrl, gateway.secret, sound('left'))).status, 200)
})

test('two customers that leave their probes in turn do not keep a third one away', async () => {
  const { baseUrl } = gateway.node
  const third = (await seedCustomer(gateway.database.db, { balanceBrl: '100' })).secret
  upstream.play('left', status(500))
  for (const secret of [gateway.secret, other]) await askChat(baseUrl, secret, sound('left'))
  assert.equal((await askChat(baseUrl, third, sound('left'))).status, 503)
  upstream.play('left', hang)
  for (const secret of [gateway.secret, other]) await leaveProbe(secret)
  const running = await beginProbe(gateway.secret)
  upstream.play('left', good)
  assert.equal((await askChat(baseUrl, third, sound('left'))).status, 200)
  await running.leave()
})
