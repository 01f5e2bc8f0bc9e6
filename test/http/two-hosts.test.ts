import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { after, before, test } from 'node:test'
import { startGateway, type TestGateway } from '../harness/gateway.ts'

let gateway: TestGateway

before(async () => {
  gateway = await startGateway({})
})
after(() => gateway.stop())

async function send(path: string, headers: readonly string[]): Promise<string> {
  const socket = connect(gateway.node.port, '127.0.0.1')
  let text = ''
  socket.on('data', (part) => (text += String(part)))
  socket.write(`GET ${path} HTTP/1.1\r\n${headers.join('\r\n')}\r\n\r\n`)
  await once(socket, 'close')
  return text
}

test('a request with two Host headers is refused, on every kind of route, and its connection ends', async () => {
  const authorization = `Authorization: Bearer ${gateway.secret}`
  for (const path of [
    '/v1/usage',
    '/v1/models',
    '/v1/healthz',
    '/v1/chat/nothing',
    '/nothing',
    '/',
  ])
    for (const second of ['Host: evil.example', 'hOsT: a.example']) {
      const text = await send(path, ['Host: a.example', authorization, second])
      assert.match(text, /^HTTP\/1\.1 400 /, `${path} ${second}: ${text}`)
      assert.match(text, /connection: close/i)
    }
  const one = await send('/v1/usage', ['Host: a.example', authorization, 'Connection: close'])
  assert.match(one, /^HTTP\/1\.1 200 /)
})
