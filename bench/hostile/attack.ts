/**
 * Hostile clients of one gateway, in a separate process: `node attack.ts <port> <key without balance> <key with
 * balance>`. Prints `ready` when its bodies are made, runs until it is killed, and
 * then prints the number of answers by status.
 */
import { request } from 'node:http'
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

const [port, poor = '', rich = ''] = process.argv.slice(2)
const MB = 1024 * 1024
/** Attackers share an address of their own. */
const FROM = { localAddress: '127.0.0.2' }
const CHAT = '/v1/chat/completions'
const statuses = new Map<string, number>()

function count(what: string): void {
  statuses.set(what, (statuses.get(what) ?? 0) + 1)
}

function ask(name: string, path: string, secret: string | undefined, body: Buffer): Promise<void> {
  return new Promise((resolve) => {
    const headers = {
      'content-type': 'application/json',
      'content-length': body.length,
      ...(secret === undefined ? {} : { authorization: `Bearer ${secret}` }),
    }
    const options = { host: '127.0.0.1', port, path, method: 'POST', headers, timeout: 120_000 }
    const sent = request({ ...options, ...FROM }, (response) => {
      count(`${name} ${response.statusCode}`)
      response.resume()
    })
    sent.on('timeout', () => sent.destroy())
    sent.on('error', () => count(`${name} cut`))
    sent.on('close', resolve)
    sent.end(body)
  })
}

/**
 * Each client acts once in `everyMs` at most, so that a target that answers sooner does not get more: the attackers take
 * the same processors whatever they attack.
 */
async function forEver(clients: number, everyMs: number, act: () => Promise<void>): Promise<void> {
  const one = async (): Promise<void> => {
    for (;;) {
      const startedAtMs = performance.now()
      await act()
      await sleep(Math.max(1, everyMs - (performance.now() - startedAtMs)))
    }
  }
  await Promise.all(Array.from({ length: clients }, one))
}

const chat = (content: string, model = 'short', more = ''): Buffer =>
  Buffer.from(
    `{"model":"${model}","max_tokens":5${more},"messages":[{"role":"user","content":${content}}]}`,
  )
const text = chat(JSON.stringify('lorem ipsum '.repeat((16 * MB) / 12)))
const lists = chat('"oi"', 'short', `,"user":[${'[],'.repeat((16 * MB) / 3)}1]`)
const deep = chat('"oi"', 'short', `,"user":${'['.repeat(MB)}${']'.repeat(MB)}`)
const vectors = Buffer.from(
  JSON.stringify({ model: 'vectors', input: Array.from({ length: 1_000 }, () => 'oi') }),
)

/** A request whose answer nobody reads. */
function readNothing(path: string, body: Buffer): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect({ port: Number(port), host: '127.0.0.1', ...FROM })
    socket.on('error', () => {})
    socket.on('close', resolve)
    socket.pause()
    socket.write(
      `POST ${path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${rich}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n`,
    )
    socket.write(body)
    // A paused socket does not notice its end.
    setTimeout(() => socket.destroy(), 90_000)
  })
}

/** Part of a request, and then silence until the gateway closes the connection. */
function stop(part: string): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect({ port: Number(port), host: '127.0.0.1', ...FROM })
    socket.on('error', () => {})
    socket.on('close', resolve)
    socket.resume()
    socket.write(part)
  })
}

const HALF_HEAD = `POST ${CHAT} HTTP/1.1\r\nhost: x\r\nauthoriz`
const HALF_BODY = `POST ${CHAT} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${rich}\r\ncontent-length: ${16 * MB}\r\n\r\n{"model"`
const NO_KEY = `POST /v1/nothing HTTP/1.1\r\nhost: x\r\ncontent-length: ${16 * MB}\r\n\r\n${'x'.repeat(MB)}`

/** So many bodies in chunks of one byte, or requests in one write, as one connection takes until it is closed. */
function flood(name: string, head: string, part: string, times: number): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect({ port: Number(port), host: '127.0.0.1', ...FROM })
    const bytes = Buffer.from(part.repeat(1_000))
    let left = times / 1_000
    const write = (): void => {
      while (left-- > 0) if (!socket.write(bytes)) return void socket.once('drain', write)
    }
    socket.on('error', () => {})
    socket.once('data', () => count(`${name} answered`))
    socket.on('close', () => {
      count(`${name} cut`)
      resolve()
    })
    socket.resume()
    socket.write(head)
    write()
    setTimeout(() => socket.destroy(), 60_000).unref()
  })
}

const CHUNKED = `POST ${CHAT} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n`
const ONE_BYTE = '1\r\nx\r\n'
const UNKNOWN = 'GET /v1/nothing HTTP/1.1\r\nhost: x\r\n\r\n'
const picture = Buffer.from('{"model":"picture","prompt":"x"}')

process.on('SIGTERM', () => {
  process.stdout.write(
    `${JSON.stringify(Object.fromEntries([...statuses].toSorted(([a], [b]) => a.localeCompare(b))))}\n`,
  )
  process.exit(0)
})

process.stdout.write('ready\n')

/** `--only name,name` leaves the others out, to find what an attack costs. */
const only = process.argv[5]?.split(',')
const attacks: Readonly<Record<string, () => Promise<void>>> = {
  large: () => forEver(2, 200, () => ask('large bodies', CHAT, rich, text)),
  poor: () => forEver(4, 200, () => ask('large bodies without balance', CHAT, poor, text)),
  lists: () => forEver(2, 200, () => ask('lists', CHAT, rich, lists)),
  deep: () => forEver(2, 100, () => ask('deep JSON', CHAT, rich, deep)),
  strangers: () => forEver(2, 200, () => ask('large bodies without a key', CHAT, undefined, text)),
  unknown: () => forEver(2, 200, () => ask('unknown paths', '/v1/nothing', undefined, text)),
  rest: () => forEver(2, 200, () => ask('large REST bodies', '/v1/me/prompts', rich, text)),
  keys: () => forEver(8, 50, () => ask('wrong keys', CHAT, 'sk-svc-wrong', chat('"oi"'))),
  restKeys: () =>
    forEver(8, 50, () => ask('wrong keys of REST', '/v1/me/prompts', 'sk-svc-wrong', chat('"oi"'))),
  events: () =>
    forEver(2, 500, () =>
      ask('events without end', CHAT, rich, chat('"oi"', 'endless', ',"stream":true')),
    ),
  answers: () =>
    forEver(2, 500, () => ask('answers without end', CHAT, rich, chat('"oi"', 'huge'))),
  readers: () => forEver(15, 1_000, () => readNothing('/v1/embeddings', vectors)),
  heads: () => forEver(200, 1_000, () => stop(HALF_HEAD)),
  bodies: () => forEver(50, 1_000, () => stop(HALF_BODY)),
  chunks: () => forEver(60, 1_000, () => flood('chunks', `${CHUNKED}\r\n`, ONE_BYTE, 250_000)),
  chunksWithKey: () =>
    forEver(20, 1_000, () =>
      flood(
        'chunks with a key',
        `${CHUNKED}authorization: Bearer ${rich}\r\n\r\n`,
        ONE_BYTE,
        250_000,
      ),
    ),
  pipelines: () => forEver(20, 1_000, () => flood('pipelines', '', UNKNOWN, 2_000)),
  downloads: () =>
    forEver(200, 5_000, () => ask('downloads', '/v1/images/generations', rich, picture)),
  noKeys: () => forEver(50, 1_000, () => stop(NO_KEY)),
}
await Promise.all(
  Object.entries(attacks)
    .filter(([name]) => only === undefined || only.includes(name))
    .map(([, attack]) => attack()),
)
