// deep: every failure of a processor
/**
 * The adapter with a failing processor: uncertain outcomes, retries, and error texts that are never passed
 * on.
 */
import assert from 'node:assert/strict'
import { createServer, type AddressInfo } from 'node:net'
import { after, test } from 'node:test'
import type { Processor, Unavailable } from '../../src/money/payments/processor.ts'
import { createRateGate } from '../../src/money/payments/asaas/call-asaas.ts'
import {
  API_KEY,
  errors,
  json,
  paymentBody,
  startScriptedServer,
  type Script,
} from './scripted-server.ts'

const server = await startScriptedServer()
after(() => server.close())

const ORDER = {
  ourId: 'top-up-1',
  processorCustomerId: 'cus_000008392496',
  method: 'pix',
  amountCents: 10_000n,
  dueDate: '2026-07-19',
  description: 'Recarga de ana@example.com',
} as const

const HTML: Script = (response) =>
  void response
    .writeHead(503, { 'content-type': 'text/html' })
    .end('<html><h1>Estamos em manutenção</h1></html>')
const CUT: Script = (response) => void response.destroy()
const HALF: Script = (response) => {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': 1000 })
  response.write('{"object":"payment"', () => response.destroy())
}

/**
 * A write and a read, each with a separate adapter, so that the rate limit of one does not affect the other.
 */
async function bothFail(
  script: Script,
  options: Parameters<typeof server.open>[0] = {},
): Promise<{ write: Unavailable; writes: number; read: Unavailable; reads: number }> {
  const outcomes: { failure: Unavailable; asked: number }[] = []
  for (const act of [
    (processor: Processor) => processor.createPayment(ORDER),
    (processor: Processor) => processor.findPayment('pay_ibvub5tu20v9lxr7'),
  ]) {
    server.answer(script)
    const outcome = await act(server.open(options))
    assert.ok(
      outcome.kind === 'unavailable',
      JSON.stringify(outcome, (_name, value: unknown) =>
        typeof value === 'bigint' ? String(value) : value,
      ),
    )
    assert.doesNotMatch(JSON.stringify(outcome), /aact|ana@|manutenção/)
    outcomes.push({ failure: outcome, asked: server.asked.length })
  }
  const [write, read] = outcomes as [(typeof outcomes)[0], (typeof outcomes)[0]]
  return { write: write.failure, writes: write.asked, read: read.failure, reads: read.asked }
}

test('after a broken connection the outcome is uncertain; reads are tried three times and writes once', async () => {
  for (const script of [
    HTML,
    CUT,
    HALF,
    json('{"errors": ', 500),
    json('', 502),
    errors('internal_error', 'Erro interno.', 500),
    json('<html>em manutenção</html>', 200),
    json('[]', 200),
    json('null', 200),
    json({ errors: [{ code: 'x', description: 'y' }] }, 200),
    json({}, 302, { location: '/elsewhere' }),
    json('<html>404</html>', 404),
    json({ message: 'no errors here' }, 400),
  ]) {
    const { write, writes, read, reads } = await bothFail(script)
    assert.deepEqual([write.mayHaveHappened, writes], [true, 1], write.detail)
    assert.deepEqual([read.mayHaveHappened, reads], [false, 3], read.detail)
  }
})

test('a read that fails twice succeeds the third time', async () => {
  server.answer(CUT, HTML, json(paymentBody()))
  assert.equal((await server.open().findPayment('pay_ibvub5tu20v9lxr7')).kind, 'payment')
})

test('an answer that never comes, or never ends, times out', async () => {
  const slow: Script[] = [
    () => {},
    (response) => void response.writeHead(200).write('{'),
    (response) => {
      response.writeHead(200)
      const drip = setInterval(() => response.write(' '), 5)
      response.on('close', () => clearInterval(drip))
    },
  ]
  for (const script of slow) {
    const { write, reads } = await bothFail(script, { answerTimeoutMs: 60 })
    assert.equal(write.mayHaveHappened, true)
    assert.match(write.detail, /TimeoutError/)
    assert.equal(reads, 1)
  }
})

test('card calls get the time that an issuer needs', async () => {
  const late: Script = (response) =>
    void setTimeout(() => {
      json(paymentBody({ billingType: 'CREDIT_CARD', status: 'CONFIRMED' }))(
        response,
        null as never,
      )
    }, 150)
  server.answer(late)
  const processor = server.open({ answerTimeoutMs: 40, cardTimeoutMs: 5_000 })
  const order = { ...ORDER, method: 'card', cardToken: 't', remoteIp: '203.0.113.7' } as const
  assert.equal((await processor.createPayment(order)).kind, 'payment')
})

test('when nothing listens, the request certainly did not happen', async () => {
  const probe = createServer()
  await new Promise<void>((resolve) => probe.listen(0, '127.0.0.1', resolve))
  const { port } = probe.address() as AddressInfo
  await new Promise((resolve) => probe.close(resolve))
  const processor = server.open({ baseUrl: `http://127.0.0.1:${port}/v3` })
  const outcome = await processor.createPayment(ORDER)
  assert.ok(outcome.kind === 'unavailable')
  assert.equal(outcome.mayHaveHappened, false)
  assert.match(outcome.detail, /ECONNREFUSED/)
})

test('a refused API key fails for certain: the request did not happen', async () => {
  for (const status of [401, 403]) {
    const { write, writes } = await bothFail(
      errors('invalid_access_token', `Chave ${API_KEY}`, status),
    )
    assert.equal(write.mayHaveHappened, false)
    assert.equal(writes, 1)
    assert.match(write.detail, new RegExp(`status ${status} invalid_access_token`))
  }
})

test('an endless answer is aborted', async () => {
  const { write } = await bothFail((response) => {
    response.writeHead(200, { 'content-type': 'application/json' })
    const chunk = Buffer.alloc(1024 * 1024, ' ')
    const pour = (): void => {
      while (!response.destroyed && response.write(chunk));
    }
    response.on('drain', pour)
    pour()
  })
  assert.equal(write.mayHaveHappened, true)
})

test('after a 429 that endpoint is not called for the stated time, and other endpoints are', async () => {
  server.answer(json({}, 429, { 'ratelimit-reset': '30', 'ratelimit-remaining': '0' }))
  const processor = server.open()
  const limited = await processor.createPayment(ORDER)
  assert.ok(limited.kind === 'unavailable')
  assert.deepEqual([limited.mayHaveHappened, limited.retryAfterSeconds], [false, 30])
  server.answer(json(paymentBody()))
  const again = await processor.createPayment(ORDER)
  assert.ok(again.kind === 'unavailable' && again.retryAfterSeconds !== undefined)
  assert.equal(server.asked.length, 0)
  assert.equal((await processor.findPayment('pay_ibvub5tu20v9lxr7')).kind, 'payment')
})

test('the last call that a rate limit allows succeeds, and the next one waits', async () => {
  server.answer(json(paymentBody(), 200, { 'ratelimit-remaining': '0', 'ratelimit-reset': '20' }))
  const processor = server.open()
  assert.equal((await processor.createPayment(ORDER)).kind, 'payment')
  assert.equal((await processor.createPayment(ORDER)).kind, 'unavailable')
  assert.equal(server.asked.length, 1)
})

test('a rate limit ends when its time is over, and an absurd header blocks calls for minutes, not days', () => {
  let now = 0
  const gate = createRateGate(() => now)
  assert.equal(gate.note('a', 429, { 'retry-after': '7' }), 7)
  assert.equal(gate.secondsLeft('a'), 7)
  assert.equal(gate.secondsLeft('b'), undefined)
  now = 7_000
  assert.equal(gate.secondsLeft('a'), undefined)
  gate.note('a', 429, { 'ratelimit-reset': '1795262400' })
  assert.equal(gate.secondsLeft('a'), 300)
  gate.note('b', 429, {})
  assert.equal(gate.secondsLeft('b'), 5)
  assert.equal(
    gate.note('c', 200, { 'ratelimit-remaining': '3', 'ratelimit-reset': '9' }),
    undefined,
  )
})

test('no error of a card call, nor its stack, contains the number or the ccv', async () => {
  const card = {
    holderName: 'ANA SOUZA',
    number: '5162306219378829',
    expiryMonth: '05',
    expiryYear: '2031',
    ccv: '319',
  }
  const { holderName: name } = card
  const holder = {
    name,
    email: 'a@b.co',
    taxId: '1',
    postalCode: '1',
    addressNumber: '1',
    phone: '1',
  }
  const echo: Script = (response, asked) => json(asked.body)(response, asked)
  const echoAsError: Script = (response, asked) => errors('x', asked.body)(response, asked)
  const echo500: Script = (response, asked) => json(asked.body, 500)(response, asked)
  for (const script of [CUT, HALF, HTML, echo, echoAsError, echo500]) {
    server.answer(script)
    const outcome = await server
      .open()
      .tokenizeCard({ processorCustomerId: 'cus_1', card, holder, remoteIp: '203.0.113.7' })
    assert.notEqual(outcome.kind, 'card_token')
    assert.doesNotMatch(JSON.stringify(outcome), /5162|8829|319|ANA/)
  }
})
