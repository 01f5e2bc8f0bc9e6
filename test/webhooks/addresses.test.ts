/** Webhooks go to public addresses only, however an address is written and whatever a name resolves to. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { after, test } from 'node:test'
import { createId } from '../../src/platform/lib/ids.ts'
import type { Lookup } from '../../src/platform/lib/guarded-fetch.ts'
import { seal } from '../../src/platform/lib/seal.ts'
import { postAttempt } from '../../src/deliveries/webhooks/post-attempt.ts'
import { createSigningSecret } from '../../src/deliveries/webhooks/sign-webhook.ts'
import { readReceiverUrl, type PostOptions } from '../../src/deliveries/receiver.ts'
import {
  INTERNAL_NAMES,
  PRIVATE_HOSTS,
  RESOLVED_TO_PRIVATE,
  UNREADABLE_ADDRESSES,
} from '../harness/hostile-addresses.ts'
import { SETTINGS } from '../harness/webhook-receiver.ts'

/** Counts connections of any protocol. */
let connections = 0
const server = createServer((socket) => {
  connections += 1
  socket.end('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n')
})
server.listen(0, '::')
await once(server, 'listening')
const { port } = server.address() as AddressInfo
after(() => server.close())

const SANDBOX = { allowHttp: true, allowPrivate: false }
const LIVE = { allowHttp: false, allowPrivate: false }

async function post(url: string, more: Partial<PostOptions> = {}) {
  const endpointId = createId()
  const attempt = {
    id: createId(),
    leaseId: createId(),
    endpointId,
    customerId: createId(),
    messageId: createId(),
    eventType: 'webhook.test',
    body: '{}',
    tryNumber: 1,
    isReplay: false,
    firstFailedAt: null,
    url,
    secretSealed: seal(SETTINGS.sealingKey, endpointId, createSigningSecret()),
  }
  const options = { ...SETTINGS, allowPrivate: false, timeoutMs: 3_000, ...more }
  return postAttempt(attempt, new Date(), options)
}

test('more than sixty spellings of a private address are refused both when they are set and when they are used', async () => {
  assert.ok(PRIVATE_HOSTS.length > 60)
  const resolved: string[] = []
  const lookup: Lookup = async (name) => {
    resolved.push(name)
    return [{ address: '127.0.0.1' }]
  }
  for (const host of PRIVATE_HOSTS) {
    for (const scheme of ['http', 'https']) {
      const url = `${scheme}://${host}:${port}/x`
      assert.ok('fault' in readReceiverUrl(url, SANDBOX), url)
      assert.ok('fault' in readReceiverUrl(url, LIVE), url)
      const { isDelivered, error, httpStatus } = await post(url, { lookup })
      assert.deepEqual(
        { isDelivered, error, httpStatus },
        { isDelivered: false, error: 'refused_address', httpStatus: undefined },
        url,
      )
    }
  }
  assert.deepEqual(resolved, [])
  assert.equal(connections, 0)
})

test('names of internal networks are refused when they are set', async () => {
  for (const host of INTERNAL_NAMES)
    assert.ok('fault' in readReceiverUrl(`https://${host}/x`, LIVE), host)
})

test('an address that is not https, hides its host, or uses another protocol is refused when it is set', async () => {
  for (const url of [
    ...UNREADABLE_ADDRESSES,
    'http://example.com/x',
    'https://example.com#x',
    'https://example.com/#',
    `https://example.com/${'a'.repeat(2_000)}`,
    `https://example.com/${'ç'.repeat(1_000)}`,
  ])
    assert.ok('fault' in readReceiverUrl(url, LIVE), url)
})

test('public addresses are accepted and stored in one canonical form', async () => {
  for (const [given, stored] of [
    ['https://example.com', 'https://example.com/'],
    ['HTTPS://Example.COM:443/a?b=c&d', 'https://example.com/a?b=c&d'],
    ['https://exemplo.com.br:8443/ganchos', 'https://exemplo.com.br:8443/ganchos'],
    ['https://ação.com.br/', 'https://xn--ao-siap.com.br/'],
    ['https://8.8.8.8/x', 'https://8.8.8.8/x'],
    ['https://[2606:4700:4700::1111]/', 'https://[2606:4700:4700::1111]/'],
    ['https://internal.example.com/', 'https://internal.example.com/'],
  ] as const)
    assert.deepEqual(readReceiverUrl(given, LIVE), { url: stored })
  assert.deepEqual(readReceiverUrl('http://example.com/', SANDBOX), {
    url: 'http://example.com/',
  })
  const open = { allowHttp: true, allowPrivate: true }
  assert.deepEqual(readReceiverUrl('http://localhost:3000/', open), {
    url: 'http://localhost:3000/',
  })
})

test('a name is refused if any of its addresses is private, in any form that the resolver returns', async () => {
  for (const addresses of RESOLVED_TO_PRIVATE) {
    const lookup: Lookup = async () => addresses.map((address) => ({ address }))
    const { error } = await post(`http://rebind.example.com:${port}/`, { lookup })
    assert.equal(error, 'refused_address', addresses.join())
  }
  assert.equal(connections, 0)
})

test('a name that resolves differently between the check and the connection gains nothing', async () => {
  const asked: string[] = []
  const lookup: Lookup = async (name) => {
    asked.push(name)
    // The first answer is the one that is checked; the name is not resolved again. The second address has no
    // server.
    return [{ address: asked.length === 1 ? '127.0.0.1' : '127.0.0.99' }]
  }
  const pinned = await post(`http://rebind.example.com:${port}/`, { lookup, allowPrivate: true })
  assert.equal(pinned.isDelivered, true)
  assert.deepEqual(asked, ['rebind.example.com'])
  const before = connections

  let turn = 0
  const turning: Lookup = async () => [{ address: turn++ % 2 === 0 ? '192.0.1.1' : '127.0.0.1' }]
  const url = `http://rebind.example.com:${port}/`
  const [first, second] = [
    await post(url, { lookup: turning, timeoutMs: 300 }),
    await post(url, { lookup: turning }),
  ]
  assert.equal(first.isDelivered, false)
  assert.equal(second.error, 'refused_address')
  assert.equal(
    connections,
    before,
    'what was public when it was checked is all that is connected to',
  )
})

test('plain http is not used in live mode, even for an address that was stored earlier', async () => {
  const before = connections
  const { error } = await post(`http://127.0.0.1:${port}/`, {
    allowHttp: false,
    allowPrivate: true,
  })
  assert.equal(error, 'https_required')
  assert.equal(connections, before)
})

test('a resolver that never answers ends when the attempt times out', async () => {
  const lookup: Lookup = () => new Promise(() => {})
  const { error } = await post('https://slow.example.com/', { lookup, timeoutMs: 50 })
  assert.equal(error, 'timeout')
})
