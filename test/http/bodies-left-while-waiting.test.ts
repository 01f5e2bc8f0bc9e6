// deep: an attack
/** Bodies that wait for their customer's turn, and clients that do not wait for it. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { BY_OPERATOR, ask, askChat, sound } from '../harness/ask.ts'
import { writeConfigFile, type ConfigFile } from '../harness/config-file.ts'
import { startGateway, type TestGateway } from '../harness/gateway.ts'
import { startScriptedUpstream, type ScriptedUpstream } from '../harness/scripted-upstream.ts'

const BODY_BYTES_MAX = 2_500_000
const WAITING = 8

let upstream: ScriptedUpstream
let config: ConfigFile
let gateway: TestGateway

before(async () => {
  upstream = await startScriptedUpstream()
  config = await writeConfigFile({
    upstreams: [{ id: 'only', kind: 'openai-compatible', base_url: upstream.baseUrl, retries: 0 }],
    models: ['slow', 'kept'].map((id) => ({
      id,
      category: 'llm',
      prices: { input: 1, output: 2 },
      routes: [{ upstream: 'only', model: id }],
    })),
  } as never)
  gateway = await startGateway({
    CATRACA_CONFIG: config.path,
    BODY_BYTES_MAX: String(BODY_BYTES_MAX),
    // One customer may always have one whole body.
    BODIES_BYTES_MAX: String(2 * BODY_BYTES_MAX),
  })
  await gateway.database.db
    .updateTable('customers')
    .set({ shield_action: 'mask' })
    .where('id', '=', gateway.customerId)
    .execute()
})

after(async () => {
  await gateway.stop()
  await upstream.close()
  await config.remove()
})

async function bodyBytes(): Promise<number> {
  const { text } = await ask(new URL(gateway.node.baseUrl).origin, '/metrics', BY_OPERATOR)
  return Number(/^catraca_body_bytes (\d+)$/m.exec(text)?.[1])
}

/** Returns once the bytes of bodies in the node are within the range. */
async function untilBytes(least: number, most: number): Promise<void> {
  for (let bytes = await bodyBytes(); bytes < least || bytes > most; bytes = await bodyBytes())
    await sleep(5)
}

test('bodies whose clients left while they waited count until their turn, and are not sent', async () => {
  const { secret, node } = gateway
  const chat = (model: string, content: string) =>
    JSON.stringify(sound(model, { messages: [{ role: 'user', content }] }))
  // The shield takes so long to read it that the bodies of the customer wait for seconds afterwards.
  await askChat(node.baseUrl, secret, chat('slow', '55 25'.repeat(400_000)))
  const body = chat('kept', 'x '.repeat(150_000))
  const leaving = new AbortController()
  const sent = Array.from({ length: WAITING }, () =>
    fetch(`${node.baseUrl}/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
      body,
      signal: leaving.signal,
    }),
  )
  for (const each of sent) each.catch(() => {})
  await untilBytes(WAITING * body.length, Infinity)
  leaving.abort()
  await Promise.allSettled(sent)
  // By then the node has seen that they left.
  for (let look = 0; look < 20; look++) await bodyBytes()
  assert.ok((await bodyBytes()) >= WAITING * body.length)
  assert.equal((await askChat(node.baseUrl, secret, body)).status, 429)

  await untilBytes(0, 0)
  // The node reads one body after another.
  await askChat(node.baseUrl, secret, body)
  assert.equal(upstream.callsOf('kept').length, 1)
})
