// deep: an attack
/** A customer who asks for long lists and reads none of them fills no more memory than with bodies. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { after, before, test } from 'node:test'
import { ask } from '../harness/ask.ts'
import type { TestGateway } from '../harness/gateway.ts'
import { LONG_LIST, saveLongPrompt, startWithLongList } from './long-list.ts'

/** With 128,000 bytes each, a list of 12.8 MB: more than the buffers of two sockets hold. */
const PROMPTS = 100

let gateway: TestGateway
before(async () => {
  gateway = await startWithLongList(PROMPTS)
})
after(() => gateway.stop())

/** Asks for the list, and reads no more than its head. */
async function askUnread(): Promise<{ readonly head: string; readonly socket: Socket }> {
  const { node, secret } = gateway
  const socket = connect(node.port, '127.0.0.1')
  socket.on('error', () => {})
  socket.write(
    `GET /v1${LONG_LIST} HTTP/1.1\r\nhost: 127.0.0.1:${node.port}\r\nauthorization: Bearer ${secret}\r\n\r\n`,
  )
  const [head] = (await once(socket, 'data')) as [Buffer]
  socket.pause()
  return { head: head.toString('latin1'), socket }
}

test('an unread list counts for the memory of its customer until its client is gone', async () => {
  const { node, secret } = gateway
  const unread = await askUnread()
  try {
    assert.match(unread.head, /^HTTP\/1\.1 200 /)
    const refused = await ask(node.baseUrl, LONG_LIST, { secret })
    assert.equal(refused.status, 429)
    assert.equal(refused.json.error, 'rate_limit_exceeded')
    assert.ok(refused.headers.get('retry-after'))
    const small = await ask(node.baseUrl, '/me/preferences', { secret })
    assert.equal(small.status, 200, 'small answers are not refused')
  } finally {
    unread.socket.destroy()
  }
  let served = await ask(node.baseUrl, LONG_LIST, { secret })
  // The server notices that the client is gone a moment later.
  for (let tries = 0; served.status === 429 && tries < 100; tries += 1)
    served = await ask(node.baseUrl, LONG_LIST, { secret })
  assert.equal(served.json.prompts.length, PROMPTS, 'a list that is read is served whole')
})

test('the effect of an act is answered, whatever else the client has not read', async () => {
  const unread = await askUnread()
  try {
    assert.equal((await saveLongPrompt(gateway, 'outro')).status, 201)
  } finally {
    unread.socket.destroy()
  }
})
