/** Tests against servers on this machine, which are also the first addresses that must be refused. */
import assert from 'node:assert/strict'
import { createHook } from 'node:async_hooks'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createSocketServer, type AddressInfo, type Socket } from 'node:net'
import { after, before, beforeEach, test } from 'node:test'
import {
  guardedFetch,
  guardedPost,
  GuardedFetchError,
  isPrivateHost,
  type GuardedFetched,
  type GuardedFetchOptions,
  type GuardedFetchReason,
} from './guarded-fetch.ts'

type Answer = (request: IncomingMessage, response: ServerResponse) => void

let answer: Answer
let asked: IncomingMessage[]
const server = createServer((request, response) => {
  asked.push(request)
  answer(request, response)
})
let port: number

before(async () => {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  port = (server.address() as AddressInfo).port
})
after(() => {
  server.closeAllConnections()
  server.close()
})
beforeEach(() => {
  asked = []
  answer = (_request, response) => response.end('never asked for')
})

function at(path: string, host = '127.0.0.1'): string {
  return `http://${host}:${port}${path}`
}

function get(url: string, more: Partial<GuardedFetchOptions> = {}): Promise<GuardedFetched> {
  return guardedFetch(url, { bytesMax: 1000, timeoutMs: 10_000, allowPrivate: true, ...more })
}

/** No failure reveals a path, a query or a password. */
async function refusal(
  url: string,
  more: Partial<GuardedFetchOptions> = {},
): Promise<GuardedFetchReason> {
  const error: unknown = await get(url, more).then(
    () => assert.fail('it was fetched'),
    (error: unknown) => error,
  )
  assert.ok(error instanceof GuardedFetchError, String(error))
  assert.doesNotMatch(`${error.message} ${JSON.stringify(error)} ${String(error.cause)}`, /s3cret/)
  return error.reason
}

function redirectTo(location: string): Answer {
  return (_request, response) => response.writeHead(302, { location }).end()
}

test('the whole answer is returned, with its status and media type', async () => {
  answer = (_request, response) => {
    response.writeHead(200, { 'content-type': 'Image/PNG; charset=binary' })
    response.write(Buffer.from([0x89, 0x50]))
    response.end(Buffer.from([0x4e, 0x47]))
  }
  assert.deepEqual(await get(at('/a%20b?x=1&y=%C3%A7')), {
    status: 200,
    mediaType: 'image/png',
    body: Buffer.from([0x89, 0x50, 0x4e, 0x47]),
  })
  assert.equal(asked[0]?.method, 'GET')
  assert.equal(asked[0]?.url, '/a%20b?x=1&y=%C3%A7')
  assert.equal(asked[0]?.headers['accept-encoding'], 'identity')
})

test('an error status is an answer too, and a missing media type is unknown', async () => {
  answer = (_request, response) => response.writeHead(404).end('gone')
  assert.deepEqual(await get(at('/')), {
    status: 404,
    mediaType: 'application/octet-stream',
    body: Buffer.from('gone'),
  })
})

test('addresses that are not public are refused in every notation', async () => {
  for (const host of [
    '127.0.0.1',
    '127.1',
    '0x7f.0.0.1',
    '017700000001',
    '2130706433',
    '0.0.0.0',
    '10.1.2.3',
    '100.64.0.1',
    '100.127.255.255',
    '168.63.129.16',
    '169.254.169.254',
    '172.16.0.1',
    '172.31.255.255',
    '192.0.0.8',
    '192.0.2.1',
    '192.88.99.1',
    '192.168.1.1',
    '198.18.0.1',
    '198.19.255.255',
    '198.51.100.7',
    '203.0.113.9',
    '224.0.0.1',
    '239.255.255.250',
    '240.0.0.1',
    '255.255.255.255',
    '[::]',
    '[::1]',
    '[::127.0.0.1]',
    '[::ffff:127.0.0.1]',
    '[::ffff:a9fe:a9fe]',
    '[::ffff:192.168.0.1]',
    '[64:ff9b::10.0.0.1]',
    '[64:ff9b::a9fe:a9fe]',
    '[64:ff9b:1::8.8.8.8]',
    '[100::1]',
    '[2001::1]',
    '[2001:20::1]',
    '[2001:db8::1]',
    '[2002:7f00:1::]',
    '[2002:a9fe:a9fe::]',
    '[3fff::1]',
    '[5f00::1]',
    '[fc00::1]',
    '[fd00:ec2::254]',
    '[fe80::1]',
    '[fec0::1]',
    '[ff02::1]',
    'localhost',
    'LOCALHOST.',
    'anything.localhost',
  ]) {
    const url = `http://${host}:${port}/s3cret?s3cret`
    assert.equal(await refusal(url, { allowPrivate: false }), 'refused_address', host)
    assert.equal(await isPrivateHost(new URL(url).hostname), true, host)
  }
  assert.equal(asked.length, 0)
})

test('the neighbours of refused networks are public', async () => {
  for (const host of [
    '1.1.1.1',
    '9.255.255.255',
    '11.0.0.0',
    '100.63.255.255',
    '100.128.0.0',
    '126.255.255.255',
    '128.0.0.0',
    '168.63.129.15',
    '168.63.129.17',
    '169.253.255.255',
    '172.15.255.255',
    '172.32.0.0',
    '192.0.1.1',
    '192.167.255.255',
    '198.17.255.255',
    '198.20.0.0',
    '223.255.255.255',
    '[::ffff:8.8.8.8]',
    '[64:ff9b::8.8.8.8]',
    '[2001:200::1]',
    '[2606:4700:4700::1111]',
    '[2a00:1450:4001:82a::200e]',
  ]) {
    assert.equal(await isPrivateHost(host), false, host)
  }
})

test('a host is private when any of its addresses is; an unknown host is not', async () => {
  const lookup = async (name: string): Promise<{ address: string }[]> => {
    if (name === 'unknown.example') throw new Error('not found')
    return [{ address: '1.1.1.1' }, { address: name === 'in.example' ? '10.0.0.1' : '1.0.0.1' }]
  }
  assert.equal(await isPrivateHost('in.example', lookup), true)
  assert.equal(await isPrivateHost('out.example', lookup), false)
  assert.equal(await isPrivateHost('unknown.example', lookup), false)
})

test('a name is refused when any of its addresses is', async () => {
  for (const addresses of [
    ['127.0.0.1'],
    ['1.1.1.1', '127.0.0.1'],
    ['2606:4700::1', 'fd00::1'],
    ['fe80::1%eth0'],
    ['not an address'],
  ]) {
    const lookup = async (): Promise<{ address: string }[]> =>
      addresses.map((address) => ({ address }))
    const reason = await refusal(at('/s3cret', 'x.example'), { allowPrivate: false, lookup })
    assert.equal(reason, 'refused_address', addresses.join())
  }
  assert.equal(asked.length, 0)
})

test('a connection goes to the address that was checked, and the name is resolved once', async () => {
  const names: string[] = []
  const lookup = async (name: string): Promise<{ address: string }[]> => {
    names.push(name)
    return [{ address: names.length === 1 ? '127.0.0.1' : '127.0.0.99' }]
  }
  answer = (request, response) => response.end(request.headers.host)
  const { body } = await get(at('/', 'rebinding.example'), { lookup })
  assert.equal(body.toString(), `rebinding.example:${port}`)
  assert.deepEqual(names, ['rebinding.example'])
})

test('a name that a customer gives takes no thread of the system’s resolver', async (t) => {
  const questions: string[] = []
  const hook = createHook({
    init(_id, type) {
      if (/^(?:GETADDRINFOREQWRAP|QUERYWRAP|DNSCHANNEL)$/.test(type)) questions.push(type)
    },
  }).enable()
  t.after(() => hook.disable())
  const leaving = new AbortController()
  const left = assert.rejects(
    get('http://given.invalid/', { allowPrivate: false, signal: leaving.signal }),
  )
  leaving.abort()
  await left
  // Two of these threads serve the names of all connections, and a silent name keeps one for ten seconds.
  assert.ok(questions.length > 0)
  assert.ok(!questions.includes('GETADDRINFOREQWRAP'), questions.join())
})

test("TLS verifies the host's name, not its address", async (t) => {
  let hello = Buffer.alloc(0)
  const tls = createSocketServer((socket: Socket) => {
    socket.once('data', (bytes) => {
      hello = bytes
      socket.destroy()
    })
  })
  t.after(() => tls.close())
  tls.listen(0, '127.0.0.1')
  await once(tls, 'listening')
  const lookup = async (): Promise<{ address: string }[]> => [{ address: '127.0.0.1' }]
  const url = `https://images.example:${(tls.address() as AddressInfo).port}/s3cret`
  assert.equal(await refusal(url, { lookup }), 'failed')
  assert.ok(hello.includes('images.example'))
})

test('a URL that is not http or https, or holds credentials, is refused', async () => {
  for (const url of [
    '',
    'not an address s3cret',
    '/s3cret',
    'ftp://example.com/s3cret',
    'file:///etc/s3cret',
    'data:text/plain,s3cret',
    `http://s3cret@127.0.0.1:${port}/`,
    `http://user:s3cret@127.0.0.1:${port}/`,
    'http://1.2.3.4.5/s3cret',
  ]) {
    assert.equal(await refusal(url), 'bad_url', url)
  }
  assert.equal(asked.length, 0)
})

test('three redirects are followed, and a fourth is not', async () => {
  answer = ({ url }, response) => {
    const left = Number(url?.slice(1))
    if (left === 0) response.end('there')
    else response.writeHead(307, { location: `/${left - 1}` }).end()
  }
  assert.equal((await get(at('/3'))).body.toString(), 'there')
  assert.equal(asked.length, 4)
  assert.equal(await refusal(at('/4')), 'too_many_redirects')
})

test('each redirect is checked like the first address', async () => {
  answer = redirectTo('ftp://example.com/s3cret')
  assert.equal(await refusal(at('/')), 'bad_url')
  answer = redirectTo(`//s3cret:s3cret@127.0.0.1:${port}/`)
  assert.equal(await refusal(at('/')), 'bad_url')

  asked = []
  answer = redirectTo(at('/s3cret'))
  let hops = 0
  // Only the first address may be private.
  const options = {
    bytesMax: 1000,
    timeoutMs: 10_000,
    get allowPrivate() {
      return hops++ === 0
    },
  }
  await assert.rejects(guardedFetch(at('/'), options), { reason: 'refused_address' })
  assert.equal(asked.length, 1)
})

test('a redirect to a port of another protocol is refused, before its name is resolved', async () => {
  const names: string[] = []
  const lookup = async (name: string): Promise<{ address: string }[]> => {
    names.push(name)
    return [{ address: '127.0.0.1' }]
  }
  for (const other of [1, 22, 25, 587, 1_023]) {
    answer = redirectTo(`http://mail.example:${other}/s3cret`)
    let hops = 0
    // Only the first address may be private.
    const options = {
      bytesMax: 1000,
      timeoutMs: 10_000,
      lookup,
      get allowPrivate() {
        return hops++ === 0
      },
    }
    await assert.rejects(guardedFetch(at('/'), options), { reason: 'refused_address' })
  }
  assert.deepEqual(names, [])
})

test('a redirect without a location is the answer', async () => {
  answer = (_request, response) => response.writeHead(302).end('where?')
  const { status, body } = await get(at('/'))
  assert.equal(status, 302)
  assert.equal(body.toString(), 'where?')
})

test('a body of exactly the limit is accepted, and one byte more is not', async () => {
  answer = (_request, response) => response.end(Buffer.alloc(1000))
  assert.equal((await get(at('/'))).body.length, 1000)
  answer = (_request, response) => {
    response.write(Buffer.alloc(500))
    response.end(Buffer.alloc(501))
  }
  assert.equal(await refusal(at('/s3cret')), 'too_large')
})

test('a body that is declared too long is not read, and one that does not end is cut', async () => {
  answer = (_request, response) => response.writeHead(200, { 'content-length': 1001 }).write('x')
  assert.equal(await refusal(at('/')), 'too_large')

  let closed: Promise<unknown> | undefined
  answer = (_request, response) => {
    closed = once(response, 'close')
    const more = (): void => {
      while (!response.destroyed && response.write(Buffer.alloc(100)));
    }
    response.on('drain', more)
    more()
  }
  assert.equal(await refusal(at('/')), 'too_large')
  await closed
})

test('the time limit covers the whole call: name, head, body and all redirects', async () => {
  const forever = new Promise<never>(() => {})
  assert.equal(
    await refusal(at('/', 'x.example'), { timeoutMs: 20, lookup: () => forever }),
    'timeout',
  )
  answer = () => {}
  assert.equal(await refusal(at('/s3cret'), { timeoutMs: 50 }), 'timeout')
  answer = (_request, response) => void response.write('x')
  assert.equal(await refusal(at('/s3cret'), { timeoutMs: 50 }), 'timeout')
  answer = ({ url }, response) => {
    if (url === '/') response.writeHead(302, { location: '/s3cret' }).end()
  }
  assert.equal(await refusal(at('/'), { timeoutMs: 100 }), 'timeout')
})

test("an abort before or during the call ends it with the abort's reason", async () => {
  const reason = new Error('the client left')
  await assert.rejects(get(at('/'), { signal: AbortSignal.abort(reason) }), reason)
  assert.equal(asked.length, 0)

  const leaving = new AbortController()
  let closed: Promise<unknown> | undefined
  answer = (_request, response) => {
    closed = once(response, 'close')
    response.write('x')
    setImmediate(() => leaving.abort(reason))
  }
  await assert.rejects(get(at('/'), { signal: leaving.signal }), reason)
  await closed
})

test('no answer, half an answer and a compressed answer are failures', async () => {
  const lookup = async (): Promise<never> => {
    throw Object.assign(new Error('s3cret'), { code: 'ENOTFOUND' })
  }
  assert.equal(await refusal(at('/s3cret', 'x.example'), { lookup }), 'failed')
  assert.equal(await refusal(at('/', 'x.example'), { lookup: async () => [] }), 'failed')

  answer = (_request, response) => response.destroy()
  assert.equal(await refusal(at('/s3cret')), 'failed')
  answer = (_request, response) => {
    response.writeHead(200, { 'content-length': 100 })
    response.write('half', () => response.destroy())
  }
  assert.equal(await refusal(at('/s3cret')), 'failed')
  answer = (_request, response) => response.socket?.end('not http at all\r\n\r\n')
  assert.equal(await refusal(at('/s3cret')), 'failed')
  answer = (_request, response) =>
    response.writeHead(200, { 'content-encoding': 'gzip' }).end('not really')
  assert.equal(await refusal(at('/s3cret')), 'failed')

  const gone = createSocketServer().listen(0, '127.0.0.1')
  await once(gone, 'listening')
  const { port } = gone.address() as AddressInfo
  gone.close()
  await once(gone, 'close')
  assert.equal(await refusal(`http://127.0.0.1:${port}/s3cret`), 'failed')
})

test('a POST is guarded in the same way, is sent whole with its headers, and follows no redirect', async () => {
  const posted: string[] = []
  answer = (request, response) => {
    request.on('data', (bytes) => posted.push(String(bytes)))
    request.on('end', () => {
      response.writeHead(302, { location: '/s3cret', 'retry-after': '7' }).end('elsewhere')
    })
  }
  const options = {
    headers: { 'content-type': 'application/json', 'x-mine': 'yes' },
    body: '{"ação":1}',
    bytesMax: 4,
    bodyTimeoutMs: 1_000,
    timeoutMs: 10_000,
  }
  const { status, retryAfter, head } = await guardedPost(at('/a?b'), {
    ...options,
    allowPrivate: true,
  })
  assert.deepEqual([status, retryAfter, head.toString()], [302, '7', 'else'])
  assert.equal(posted.join(''), options.body)
  assert.equal(asked.length, 1)
  assert.equal(asked[0]?.method, 'POST')
  assert.equal(asked[0]?.url, '/a?b')
  assert.equal(asked[0]?.headers['x-mine'], 'yes')
  assert.equal(asked[0]?.headers['content-length'], '12')
  assert.equal(asked[0]?.headers['transfer-encoding'], undefined)
  await assert.rejects(guardedPost(at('/s3cret'), options), { reason: 'refused_address' })
  await assert.rejects(guardedPost('ftp://example.com/', options), { reason: 'bad_url' })
  assert.equal(asked.length, 1)
})

test('an answer that changes the protocol is a failure at once, and leaves no call waiting', async () => {
  const lines = ['HTTP/1.1 101 Switching Protocols', 'Connection: Upgrade', 'Upgrade: x', '', '']
  answer = (request) => request.socket.write(lines.join('\r\n'))
  assert.equal(await refusal(at('/s3cret')), 'failed')
  const post = guardedPost(at('/'), {
    headers: {},
    body: '{}',
    bytesMax: 4,
    bodyTimeoutMs: 1_000,
    timeoutMs: 10_000,
    allowPrivate: true,
  })
  await assert.rejects(post, { reason: 'failed' })
})

test('a body in chunks of one byte is whole, few at a time are counted, and endless ones are cut', async () => {
  const chunks = (count: number): string => '1\r\nx\r\n'.repeat(count)
  const head = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n'
  answer = (_request, { socket }) => socket?.end(`${head}${chunks(5_000)}0\r\n\r\n`)
  let calls = 0
  const takeBytes = async (): Promise<boolean> => {
    calls += 1
    return true
  }
  const { body } = await get(at('/'), { bytesMax: 5_000, takeBytes })
  assert.equal(body.toString(), 'x'.repeat(5_000))
  assert.ok(calls < 100, `${calls} parts`)
  answer = (_request, { socket }) => socket?.write(head + chunks(200_000))
  assert.equal(await refusal(at('/s3cret'), { bytesMax: 1_000_000 }), 'failed')
})
