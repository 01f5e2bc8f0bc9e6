import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import {
  brotliCompressSync,
  constants,
  deflateRawSync,
  deflateSync,
  gzipSync,
  zstdCompressSync,
} from 'node:zlib'
import Fastify, { type FastifyInstance } from 'fastify'
import { createShare, type Share } from '../../platform/admission/share.ts'
import { addBodyReading } from './add-body-reading.ts'
import { setBodyOwner } from './read-body.ts'

const MB = 1024 * 1024
const BODY_BYTES_MAX = 4 * MB

let server: FastifyInstance
let baseUrl: string
let budget: Share
/** The most bytes that were counted at once. */
let mostBytes = 0

before(async () => {
  server = Fastify({ bodyLimit: BODY_BYTES_MAX })
  const counts = createShare({ ownMax: 8 * MB, allMax: 16 * MB })
  budget = {
    ...counts,
    open(subject) {
      const held = counts.open(subject)
      return {
        get amount() {
          return held.amount
        },
        take(bytes) {
          const excess = held.take(bytes)
          mostBytes = Math.max(mostBytes, counts.taken)
          return excess
        },
        [Symbol.dispose]: () => held[Symbol.dispose](),
      }
    },
    get taken() {
      return counts.taken
    },
  }
  addBodyReading(server, budget, new Set(), (_error, socket) => socket.destroy())
  server.post('/stranger', (request) => (request.body as Buffer).length)
  server.post('/known', {
    onRequest: (request, reply, done) => {
      setBodyOwner(request, reply.raw, () => 'c:1', true)
      done()
    },
    handler: (request, reply) => reply.send(request.body),
  })
  baseUrl = await server.listen({ port: 0, host: '127.0.0.1' })
})

after(() => server.close())

const WHOLE = 'a fome e a vontade de comer, '.repeat(1_000)

const CODED: Record<string, (text: string | Buffer) => Buffer> = {
  gzip: gzipSync,
  'x-gzip': gzipSync,
  GZIP: gzipSync,
  deflate: deflateSync,
  'deflate ': deflateRawSync,
  br: brotliCompressSync,
  zstd: zstdCompressSync,
}

async function post(path: string, body: Buffer | string, coding?: string) {
  const answer = await fetch(baseUrl + path, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(coding === undefined ? {} : { 'content-encoding': coding }),
    },
    body: typeof body === 'string' ? body : new Uint8Array(body),
  })
  return { status: answer.status, text: await answer.text() }
}

async function untilNothingIsCounted(): Promise<void> {
  for (const deadline = Date.now() + 5_000; budget.taken > 0 && Date.now() < deadline;)
    await new Promise((resolve) => setTimeout(resolve, 10))
  assert.equal(budget.taken, 0)
}

test('a body of a known caller is read in each coding', async () => {
  assert.deepEqual(await post('/known', WHOLE, 'identity'), { status: 200, text: WHOLE })
  for (const [coding, compress] of Object.entries(CODED))
    assert.deepEqual(await post('/known', compress(WHOLE), coding), { status: 200, text: WHOLE })
  await untilNothingIsCounted()
})

test('a body that is not what its header says is malformed, and one of an unknown coding is refused', async () => {
  for (const coding of ['gzip', 'br', 'zstd', 'deflate'])
    assert.equal((await post('/known', WHOLE, coding)).status, 400, coding)
  assert.equal((await post('/known', gzipSync(WHOLE).subarray(0, -20), 'gzip')).status, 400)
  for (const coding of ['compress', 'gzip, gzip', 'br,gzip'])
    assert.equal((await post('/known', gzipSync(WHOLE), coding)).status, 415, coding)
  await untilNothingIsCounted()
})

test('no byte behind a compressed body is left out: the members of gzip are joined, all others are malformed', async () => {
  for (const [coding, compress] of Object.entries(CODED)) {
    const whole = compress(WHOLE)
    for (const [name, more] of Object.entries({ garbage: Buffer.from('{"a":1}'), twice: whole })) {
      const answer = await post('/known', Buffer.concat([whole, more]), coding)
      if (/gzip/i.test(coding) && name === 'twice')
        assert.deepEqual(answer, { status: 200, text: WHOLE + WHOLE })
      else assert.equal(answer.status, 400, `${coding} ${name}`)
    }
  }
  await untilNothingIsCounted()
})

test('a body of an unknown caller is never decompressed', async () => {
  const bomb = gzipSync(Buffer.alloc(16 * MB), { level: 1 })
  assert.equal((await post('/stranger', bomb, 'gzip')).status, 415)
})

test('a bomb ends at the limit of bodies, counted part by part, and leaves nothing counted', async () => {
  const zeros = Buffer.alloc(4 * BODY_BYTES_MAX)
  const bombs = {
    gzip: gzipSync(zeros, { level: 1 }),
    br: brotliCompressSync(zeros, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } }),
    zstd: zstdCompressSync(zeros),
    deflate: deflateSync(zeros, { level: 1 }),
  }
  mostBytes = 0
  for (const [coding, bomb] of Object.entries(bombs)) {
    assert.ok(bomb.length < MB, coding)
    assert.equal((await post('/known', bomb, coding)).status, 413, coding)
  }
  assert.ok(mostBytes < BODY_BYTES_MAX + MB, `${mostBytes} bytes were counted`)
  await untilNothingIsCounted()
})

test("many bombs at once take no more than their owner's share", async () => {
  const bomb = gzipSync(Buffer.alloc(3 * MB))
  mostBytes = 0
  const answers = await Promise.all(
    Array.from({ length: 20 }, () => post('/known', bomb, 'gzip').catch(() => ({ status: 0 }))),
  )
  assert.ok(answers.some(({ status }) => status === 200))
  assert.ok(mostBytes <= 8 * MB, `${mostBytes} bytes were counted`)
  assert.ok(mostBytes > 3 * MB, 'decompressed bytes are counted')
  await untilNothingIsCounted()
})
