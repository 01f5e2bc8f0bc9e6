import assert from 'node:assert/strict'
import { connect, createServer, type Socket } from 'node:net'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import fastify from 'fastify'
import { findFreePort } from '../../../test/harness/find-free-port.ts'
import { listen } from './listen.ts'

const HOST = '127.0.0.1'
const CLIENTS = 96

test('new clients of a busy process wait for few turns of its event loop', async (t) => {
  const server = fastify()
  const port = await findFreePort()
  await listen(server, { host: HOST, port })
  let accepted = 0
  server.server.on('connection', () => (accepted += 1))
  const clients: Socket[] = Array.from({ length: CLIENTS }, () => connect(port, HOST))
  t.after(() => {
    for (const client of clients) client.destroy()
    return server.close()
  })
  let turns = 0
  for (; turns < 10 * CLIENTS; turns += 1) {
    if (accepted === CLIENTS) break
    await setImmediate()
  }
  assert.equal(accepted, CLIENTS)
  assert.ok(turns < CLIENTS / 2, `${turns} turns for ${CLIENTS} clients`)
})

test('every client is answered, whichever queue it came through, and closing ends all of them', async () => {
  const server = fastify()
  server.get('/', () => 'oi')
  const port = await findFreePort()
  assert.equal(await listen(server, { host: HOST, port }), `http://${HOST}:${port}`)
  const answers = await Promise.all(
    Array.from({ length: CLIENTS }, async () => {
      const answer = await fetch(`http://${HOST}:${port}/`, { headers: { connection: 'close' } })
      return answer.text()
    }),
  )
  assert.deepEqual(new Set(answers), new Set(['oi']))
  await server.close()
  await assert.rejects(fetch(`http://${HOST}:${port}/`))
})

for (const reusePort of [false, true])
  test(`a port that is taken is refused, ${reusePort ? 'also if its owner would share it' : 'as ever'}`, async (t) => {
    const owner = createServer()
    const port = await findFreePort()
    await new Promise<void>((resolve) => owner.listen({ host: HOST, port, reusePort }, resolve))
    t.after(() => owner.close())
    await assert.rejects(listen(fastify(), { host: HOST, port }), { code: 'EADDRINUSE' })
  })
