/** What clients of models need to stop, to retry, or to name another model. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request, type IncomingMessage } from 'node:http'
import { after, test } from 'node:test'
import { text } from 'node:stream/consumers'
import { startGateway } from '../harness/gateway.ts'

const gateway = await startGateway()
after(() => gateway.stop())

async function ask(
  method: string,
  path: string,
  headers: Record<string, string>,
  body?: object,
): Promise<{ answer: IncomingMessage; code: string; message: string }> {
  const asked = request(`${gateway.node.baseUrl}${path}`, {
    method,
    headers: { 'content-type': 'application/json', ...headers },
  })
  asked.end(body && JSON.stringify(body))
  const [answer] = (await once(asked, 'response')) as [IncomingMessage]
  const { error } = JSON.parse(await text(answer))
  return { answer, code: error.code, message: error.message }
}

const messages = [{ role: 'user', content: 'Oi' }]
const authorization = (): string => `Bearer ${gateway.secret}`

test('a WebSocket is refused by 426, and every final refusal says that no retry helps', async () => {
  const upgrade = { connection: 'Upgrade', upgrade: 'websocket', authorization: authorization() }
  const refused = await ask('GET', '/chat/completions', upgrade)
  assert.deepEqual([refused.answer.statusCode, refused.code], [426, 'not_found'])
  for (const path of ['/chat/completions', '/responses', '/messages'])
    for (const [secret, status] of [
      ['Bearer sk-svc-none', 401],
      [authorization(), 400],
    ] as const) {
      const { answer } = await ask('POST', path, { authorization: secret }, {})
      assert.equal(answer.statusCode, status, path)
      assert.equal(answer.headers['x-should-retry'], 'false', path)
      assert.equal(answer.headers['retry-after'], undefined, path)
    }
})

test('an unknown model is refused with the nearest names that the key may use', async () => {
  const of = { authorization: authorization() }
  for (const [path, body] of [
    ['/chat/completions', { messages }],
    ['/responses', { input: 'Oi' }],
    ['/messages', { messages, max_tokens: 9 }],
  ] as const) {
    const { answer, message } = await ask('POST', path, of, { model: 'sandbox-chatt', ...body })
    assert.equal(answer.statusCode, 404, path)
    assert.match(message, /mais parecidos: sandbox-chat, [^,]+, [^,]+\./, path)
  }
})

test('a trigger of compaction before the end is refused with words, not left out', async () => {
  const input = [{ type: 'compaction_trigger' }, { role: 'user', content: 'Oi' }]
  const { answer, message } = await ask(
    'POST',
    '/responses',
    { authorization: authorization() },
    { model: 'sandbox-chat', input },
  )
  assert.equal(answer.statusCode, 400)
  assert.match(message, /compaction_trigger/)
})
