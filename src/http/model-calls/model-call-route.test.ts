import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import Fastify from 'fastify'
import type { ActiveKey } from '../../customers/key-cache.ts'
import { refusals } from '../../gateway/calls/refusal.ts'
import { createShare, type Held } from '../../platform/admission/share.ts'
import { addRoutes } from '../rest/route.ts'
import { addBodyReading } from '../server/add-body-reading.ts'
import { bytesOf, modelCallRoute, type ModelCallDeps } from './model-call-route.ts'
import { chatCompletions } from './model-call-schemas.ts'
import { PACED_FROM_BYTES } from '../rest/paced-from-bytes.ts'

const PATH = '/v1/chat/completions'

test('a large body waits for the turn of its customer before it is read, a small one does not', async (context) => {
  const turn = new EventTarget()
  const waiting = new EventTarget()
  const asked: unknown[] = []
  const served: number[] = []
  const bodies = createShare({ ownMax: Infinity, allMax: Infinity })
  const deps = {
    config: { publicUrl: undefined },
    bodies,
    checkCaller: () => ({ id: 'k', customerId: 'c' }) as ActiveKey,
    pace: {
      wait(subject: string, bytes: number) {
        asked.push([subject, bytes])
        const come = once(turn, 'come').then(() => undefined)
        waiting.dispatchEvent(new Event('begun'))
        return come
      },
    },
  } as unknown as ModelCallDeps
  const route = modelCallRoute<Buffer>({
    url: PATH,
    contract: chatCompletions,
    serving: () => ({
      bodyOf: bytesOf,
      serveCall: async ({ body }, client) => {
        served.push(body.length)
        client.refuse(refusals.serviceUnavailable(), { limit: 1, remaining: 1, resetAt: 1 })
      },
    }),
  })
  const server = Fastify()
  addBodyReading(server, bodies, new Set(), (_error, socket) => socket.destroy())
  addRoutes(server, [route], (each) => each.handlersOf(deps), 16 * PACED_FROM_BYTES)
  context.after(() => server.close())
  const baseUrl = await server.listen({ port: 0, host: '127.0.0.1' })
  const post = (bytes: number): Promise<Response> =>
    fetch(baseUrl + PATH, { method: 'POST', body: new Uint8Array(bytes) })

  const begun = once(waiting, 'begun')
  const large = post(PACED_FROM_BYTES + 1)
  await Promise.race([begun, large])
  assert.equal((await post(PACED_FROM_BYTES)).status, 503)
  assert.deepEqual([asked, served], [[['c', PACED_FROM_BYTES + 1]], [PACED_FROM_BYTES]])
  turn.dispatchEvent(new Event('come'))
  assert.equal((await large).status, 503)
  assert.deepEqual(served, [PACED_FROM_BYTES, PACED_FROM_BYTES + 1])
})

test('a large answer counts for the memory of its customer until the client has it', async (context) => {
  const answer = 'x'.repeat(1_000_000)
  const counts = createShare({ ownMax: Infinity, allMax: Infinity })
  const counted: (readonly [string, number])[] = []
  const bodies = {
    ...counts,
    add(subject: string, bytes: number): Held {
      counted.push([subject, bytes])
      return counts.add(subject, bytes)
    },
  }
  const deps = {
    config: { publicUrl: undefined },
    bodies,
    checkCaller: () => ({ id: 'k', customerId: 'c' }) as ActiveKey,
  } as unknown as ModelCallDeps
  const closed = new EventTarget()
  const route = modelCallRoute<Buffer>({
    url: PATH,
    contract: chatCompletions,
    serving: () => ({
      bodyOf: bytesOf,
      serveCall: async (_call, client) =>
        client.answer(answer, { limit: 1, remaining: 1, resetAt: 1 }),
    }),
  })
  const server = Fastify()
  server.server.on('request', (_request, response) =>
    response.once('close', () => setImmediate(() => closed.dispatchEvent(new Event('closed')))),
  )
  addBodyReading(server, bodies, new Set(), (_error, socket) => socket.destroy())
  addRoutes(server, [route], (each) => each.handlersOf(deps), PACED_FROM_BYTES)
  context.after(() => server.close())
  const baseUrl = await server.listen({ port: 0, host: '127.0.0.1' })
  const isClosed = once(closed, 'closed')
  const response = await fetch(baseUrl + PATH, { method: 'POST', body: '{}' })
  assert.deepEqual(counted, [['c:c', answer.length]])
  assert.equal((await response.text()).length, answer.length)
  await isClosed
  assert.equal(counts.taken, 0)
})
