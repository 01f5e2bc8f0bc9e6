// deep: an attack
/**
 * Values with very many invisible characters: the mask makes a short placeholder of them, which costs nothing, and the
 * answer brings them back as often as the model repeats it.
 */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { askChat, sound } from '../harness/ask.ts'
import { startGateway, type TestGateway } from '../harness/gateway.ts'
import { configured } from '../harness/media-calls.ts'
import {
  GOOD_USAGE,
  startScriptedUpstream,
  type ScriptedUpstream,
} from '../harness/scripted-upstream.ts'
import { seedCustomer } from '../harness/test-database.ts'

const REPEATED = 200
const INVISIBLE = '\u200b'.repeat(500_000)

let upstream: ScriptedUpstream
let gateway: TestGateway

before(async () => {
  upstream = await startScriptedUpstream()
  upstream.play('parrot', ({ body }, response) => {
    const content = `${body.messages[0].content} `.repeat(REPEATED)
    const choices = [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }]
    response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(JSON.stringify({ choices, usage: GOOD_USAGE }))
  })
  gateway = await startGateway(
    configured({
      upstreams: [{ id: 'recorder', kind: 'openai-compatible', base_url: upstream.baseUrl }],
      models: [
        {
          id: 'parrot',
          category: 'llm',
          context_tokens: 128_000,
          max_output_tokens: 16_384,
          markup_multiplier: '1.5',
          prices: { input: 1, output: 2 },
          routes: [{ upstream: 'recorder', model: 'parrot' }],
        },
      ],
    }),
  )
})

after(async () => {
  await gateway.stop()
  await upstream.close()
})

test('an answer does not become thousands of times as long by its values', async () => {
  const { db } = gateway.database
  const { customerId, secret } = await seedCustomer(db, { balanceBrl: '5' })
  await db
    .updateTable('customers')
    .set({ shield_action: 'mask' })
    .where('id', '=', customerId)
    .execute()
  const messages = [{ role: 'user', content: `a${INVISIBLE}na@exemplo.com` }]
  const { baseUrl } = gateway.node
  const { status, text } = await askChat(baseUrl, secret, sound('parrot', { messages }))
  assert.equal(status, 200)
  assert.ok(text.length < 1_000_000, `${text.length} characters`)
  assert.match(text, /"content":"ana@exemplo\.com ana@exemplo\.com /)
})
