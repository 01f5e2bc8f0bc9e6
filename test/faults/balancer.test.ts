// deep: rounds of faults over several nodes
/** The balancer of the fault rounds hides nothing that a client would see: it tries refused connections alone again. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { findFreePort } from '../harness/find-free-port.ts'
import { startBalancer, type Balancer } from './balancer.ts'

const opened: Server[] = []
after(() => opened.forEach((server) => server.closeAllConnections() ?? server.close()))

async function serve(answer: RequestListener, port = 0): Promise<number> {
  const server = createServer(answer).listen(port, '127.0.0.1')
  opened.push(server)
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

const answersAll: RequestListener = (_, response) => void response.end('{}')
/** Ready, and cuts each call after it was sent. */
const cuts: RequestListener = (request, response) =>
  request.method === 'GET' ? void response.end('{}') : void request.socket.destroy()

async function withBalancer(
  ports: readonly number[],
  work: (balancer: Balancer) => Promise<void>,
): Promise<void> {
  const balancer = startBalancer(ports)
  try {
    while (!ports.every((_, node) => balancer.isReady(node))) await sleep(10)
    await work(balancer)
  } finally {
    await balancer.close()
  }
}

async function callOf(balancer: Balancer): Promise<{ nodes: number[]; error?: string }> {
  const nodes: number[] = []
  const { signal } = new AbortController()
  try {
    const onNode = (node: number): void => void nodes.push(node)
    const answer = await balancer.send({ path: '/', headers: {}, body: '{}', signal, onNode })
    await answer.toArray()
    return { nodes }
  } catch (error) {
    return { nodes, error: (error as NodeJS.ErrnoException).code ?? (error as Error).message }
  }
}

test('a call that was cut after it was sent is not tried again', async () => {
  const ports = [await serve(cuts), await serve(cuts)]
  await withBalancer(ports, async (balancer) => {
    const { nodes, error } = await callOf(balancer)
    assert.equal(nodes.length, 1)
    assert.equal(error, 'ECONNRESET')
  })
})

test('a refused connection is tried at the next node', async () => {
  const gone = await findFreePort()
  const first = createServer(answersAll).listen(gone, '127.0.0.1')
  await once(first, 'listening')
  await withBalancer([gone, await serve(answersAll)], async (balancer) => {
    first.closeAllConnections()
    first.close()
    const calls = await Promise.all([callOf(balancer), callOf(balancer)])
    assert.ok(calls.every(({ error }) => error === undefined))
    assert.deepEqual(
      calls.map(({ nodes }) => nodes.at(-1)),
      [1, 1],
    )
    while (balancer.isReady(0)) await sleep(10)
    assert.deepEqual((await callOf(balancer)).nodes, [1])
  })
})

test('where no node is ready, all are asked', async () => {
  const unready: RequestListener = (request, response) => {
    response.statusCode = request.method === 'GET' ? 503 : 200
    response.end('{}')
  }
  const balancer = startBalancer([await serve(unready), await serve(unready)])
  try {
    const calls = [await callOf(balancer), await callOf(balancer)]
    assert.deepEqual(
      calls.map(({ error }) => error),
      [undefined, undefined],
    )
    assert.deepEqual(
      calls.flatMap(({ nodes }) => nodes).toSorted((one, other) => one - other),
      [0, 1],
    )
  } finally {
    await balancer.close()
  }
})

test('an idle connection is closed before its node would close it, and one in use is not', async () => {
  const idleMs = 100
  let closed: Promise<unknown> | undefined
  const slow: RequestListener = ({ method, socket }, response) => {
    if (method === 'POST') closed ??= once(socket, 'close')
    setTimeout(() => response.end('{}'), method === 'POST' ? 3 * idleMs : 0)
  }
  const port = await serve(slow)
  // The node itself closes none.
  ;(opened.at(-1) as Server).keepAliveTimeout = 0
  const balancer = startBalancer([port], idleMs)
  try {
    assert.deepEqual(await callOf(balancer), { nodes: [0] })
    await closed
  } finally {
    await balancer.close()
  }
})
