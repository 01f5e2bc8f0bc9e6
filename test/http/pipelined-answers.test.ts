// deep: an attack
/** Answers that wait behind others of their connection count for their customer until it ends, and no longer. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { BY_OPERATOR, ask, sound } from '../harness/ask.ts'
import type { TestGateway } from '../harness/gateway.ts'
import { LONG_LIST, startWithLongList } from './long-list.ts'

/** With 128,000 bytes each: four lists are more than the buffers of two sockets hold. */
const PROMPTS = 15

let gateway: TestGateway
before(async () => {
  gateway = await startWithLongList(PROMPTS)
})
after(() => gateway.stop())

async function countedBytes(): Promise<number> {
  const { text } = await ask(`http://127.0.0.1:${gateway.node.port}`, '/metrics', BY_OPERATOR)
  return Number(/^catraca_body_bytes (\d+)$/m.exec(text)?.[1])
}

async function until(isTrue: () => Promise<boolean>): Promise<void> {
  while (!(await isTrue())) await sleep(10)
}

for (const [name, end] of [
  ['is closed', 'destroy'],
  ['is reset', 'resetAndDestroy'],
] as const)
  test(`of lists, conditional ones and calls in one connection nothing stays when it ${name}`, async () => {
    const { node, secret } = gateway
    const head = `host: 127.0.0.1:${node.port}\r\nauthorization: Bearer ${secret}\r\n`
    const list = (method: string, more = '') =>
      `${method} /v1${LONG_LIST} HTTP/1.1\r\n${head}${more}\r\n`
    const messages = [{ role: 'user', content: 'x'.repeat(60_000) }]
    const body = JSON.stringify(sound('sandbox-chat', { messages }))
    const call = `POST /v1/chat/completions HTTP/1.1\r\n${head}content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`
    const socket = connect(node.port, '127.0.0.1')
    socket.on('error', () => {})
    await once(socket, 'connect')
    socket.pause()
    socket.write(
      list('GET').repeat(4) + list('HEAD') + list('GET', 'if-none-match: *\r\n') + call.repeat(2),
    )
    await until(async () => (await countedBytes()) > 0)
    socket[end]()
    await until(async () => (await countedBytes()) === 0)
    const { status } = await ask(node.baseUrl, LONG_LIST, { secret })
    assert.equal(status, 200)
  })
