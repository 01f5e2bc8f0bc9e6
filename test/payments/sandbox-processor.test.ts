/** The adapter against the sandbox, over HTTP: everything that a top-up needs, and every fault. */
import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { readBrCode } from '../../src/platform/lib/br-code.ts'
import type { CardToTokenize, Payment } from '../../src/money/payments/processor.ts'
import { orderOf, startTestSandbox, TOKEN, until } from '../harness/sandbox-processor.ts'

const under = await startTestSandbox()
const { sandbox, processor } = under
after(() => under.close())

function cardOf(processorCustomerId: string, number = '5162306219378829'): CardToTokenize {
  return {
    processorCustomerId,
    card: { holderName: 'JOAO SILVA', number, expiryMonth: '05', expiryYear: '2099', ccv: '318' },
    holder: {
      name: 'João da Silva',
      email: 'joao@example.com',
      taxId: '24971563792',
      postalCode: '01310-100',
      addressNumber: '1578',
      phone: '47996321478',
    },
    remoteIp: '203.0.113.7',
  }
}

async function find(id: string): Promise<Payment> {
  const found = await processor.findPayment(id)
  return found.kind === 'payment' ? found.payment : assert.fail(found.kind)
}

async function tokenOf(payerId: string): Promise<string> {
  const made = await processor.tokenizeCard(cardOf(payerId))
  return made.kind === 'card_token' ? made.token : assert.fail(made.kind)
}

test('a Pix is paid on its page: a code, an image, an event, and the money', async () => {
  const payment = await under.createPix(5_010n)
  assert.equal(payment.status, 'pending')
  const code = await processor.pixCode(payment.id)
  assert.ok(code.kind === 'pix_code')
  const read = readBrCode(code.payload)
  assert.equal(read?.amountCents, 5_010n)
  assert.match(read?.target.kind === 'url' ? read.target.url : '', /\.invalid\//)
  assert.equal(Buffer.from(code.qrCodeBase64, 'base64').subarray(1, 4).toString(), 'PNG')
  assert.equal(code.expiresAt.toISOString(), '2101-01-01T02:59:59.000Z')

  assert.equal(payment.pageUrl, sandbox.pageUrlOf(payment.id))
  const page = await fetch(payment.pageUrl)
  const html = await page.text()
  assert.match(html, /Ambiente de testes/)
  assert.match(html, /R\$ 50,10/)
  assert.match(html, /&lt;b&gt;&amp; crédito/)
  assert.doesNotMatch(html, /<script/)
  assert.match(String(page.headers.get('content-security-policy')), /default-src 'none'/)
  assert.equal((await under.act(payment.id, 'pagar')).status, 303)

  const paid = await find(payment.id)
  assert.deepEqual([paid.status, paid.hasBeenPaid, paid.netAmountCents], ['received', true, 4_811n])
  await sandbox.webhooks.settled()
  assert.deepEqual(under.typesOf(payment.id), ['PAYMENT_CREATED', 'PAYMENT_RECEIVED'])
  assert.equal((await processor.pixCode(payment.id)).kind, 'refused')
  const again = await under.act(payment.id, 'pagar')
  assert.equal(again.status, 400)
  assert.match(await again.text(), /role="alert"/)
})

test('a boleto is confirmed, then received, and the check digits of its line are valid', async () => {
  const payerId = await under.createPayer()
  const made = await processor.createPayment({
    ...orderOf(payerId),
    ourId: 'b-1',
    method: 'boleto',
  })
  assert.ok(made.kind === 'payment')
  const { id } = made.payment
  const boleto = await processor.boleto(id)
  assert.ok(boleto.kind === 'boleto')
  assert.match(boleto.line, /^461\d{44}$/)
  assert.ok(boleto.line.endsWith('0000005000'))
  const { barCode = '' } = boleto
  assert.equal(barCode.length, 44)
  // Modulo 11 over all digits, the check digit weighing 1, leaves 0, unless it stands for 0 or 10.
  const rest = barCode.slice(0, 4) + barCode.slice(5)
  const sum = rest
    .split('')
    .toReversed()
    .reduce((all, digit, at) => all + Number(digit) * (2 + (at % 8)), 0)
  const check = 11 - (sum % 11)
  assert.equal(barCode[4], String(check > 9 ? 1 : check))
  assert.equal((await fetch(boleto.url)).status, 200)
  await under.act(id, 'pagar')
  await until(async () => (await find(id)).status === 'received')
  await sandbox.webhooks.settled()
  assert.deepEqual(under.typesOf(id), ['PAYMENT_CREATED', 'PAYMENT_CONFIRMED', 'PAYMENT_RECEIVED'])
  const refused = await processor.refund({ paymentId: id, amountCents: 1n, description: 'x' })
  assert.equal(refused.kind, 'not_refundable')
})

test('published test cards are accepted or declined, and a token is valid for its customer only', async () => {
  const payerId = await under.createPayer()
  for (const number of ['5162306219378829', '4444 4444 4444 4444', '4111111111111111']) {
    const made = await processor.tokenizeCard(cardOf(payerId, number))
    assert.equal(made.kind === 'card_token' && made.lastFour, number.slice(-4))
  }
  for (const number of ['5184019740373151', '4916561358240741', '4111111111111112', '1']) {
    assert.equal((await processor.tokenizeCard(cardOf(payerId, number))).kind, 'declined', number)
  }
  const order = {
    ...orderOf(payerId),
    ourId: 'c-1',
    method: 'card',
    remoteIp: '203.0.113.7',
  } as const
  const cardToken = await tokenOf(payerId)
  const charged = await processor.createPayment({ ...order, cardToken })
  assert.ok(charged.kind === 'payment')
  assert.deepEqual(
    [charged.payment.status, charged.payment.card],
    ['confirmed', { brand: 'MASTERCARD', lastFour: '8829' }],
  )
  const others = {
    ...order,
    ourId: 'c-2',
    processorCustomerId: await under.createPayer(),
    cardToken,
  }
  assert.equal((await processor.createPayment(others)).kind, 'card_not_found')
  const bare = await processor.createPayment({
    ...order,
    ourId: 'c-3',
    cardToken,
    remoteIp: undefined,
  })
  assert.equal(bare.kind, 'refused')
})

test('a card under review is accepted or refused, and its status says so', async () => {
  const payerId = await under.createPayer()
  const cardToken = await tokenOf(payerId)
  const order = {
    ...orderOf(payerId),
    method: 'card',
    cardToken,
    remoteIp: '203.0.113.7',
    amountCents: 5_098n,
  } as const
  for (const [act, status, type] of [
    ['pagar', 'confirmed', 'PAYMENT_CONFIRMED'],
    ['recusar', 'pending', 'PAYMENT_REPROVED_BY_RISK_ANALYSIS'],
  ] as const) {
    const made = await processor.createPayment({ ...order, ourId: `review-${act}` })
    assert.ok(made.kind === 'payment')
    assert.equal(made.payment.status, 'in_review')
    await under.act(made.payment.id, act)
    assert.equal((await find(made.payment.id)).status, status)
    await sandbox.webhooks.settled()
    assert.equal(under.typesOf(made.payment.id).at(-1), type)
  }
})

test('refunds are partial or full, and never exceed the payment', async () => {
  const { id } = await under.createPix(5_000n)
  const refund = (amountCents: bigint) =>
    processor.refund({ paymentId: id, amountCents, description: `Reembolso ${amountCents}` })
  assert.equal((await refund(1n)).kind, 'not_refundable')
  await under.act(id, 'pagar')
  assert.equal((await refund(5_001n)).kind, 'not_refundable')
  assert.equal((await refund(2_000n)).kind, 'refund_accepted')
  assert.equal((await refund(3_001n)).kind, 'not_refundable')
  await until(async () => (await find(id)).refundedCents === 2_000n)
  assert.equal((await find(id)).status, 'partially_refunded')
  assert.equal((await refund(3_000n)).kind, 'refund_accepted')
  await until(async () => (await find(id)).status === 'refunded')
  const done = await find(id)
  assert.equal(done.refundedCents, 5_000n)
  assert.deepEqual(
    done.refunds.map(({ description }) => description),
    ['Reembolso 2000', 'Reembolso 3000'],
  )
  await sandbox.webhooks.settled()
  assert.deepEqual(under.typesOf(id).slice(2), [
    'PAYMENT_PARTIALLY_REFUNDED',
    'PAYMENT_REFUND_IN_PROGRESS',
    'PAYMENT_REFUNDED',
  ])
  const nothing = { paymentId: 'pay_none', amountCents: 1n, description: 'x' }
  assert.equal((await processor.refund(nothing)).kind, 'payment_not_found')
})

test('two concurrent refunds never exceed the payment', async () => {
  const { id } = await under.createPix(5_000n)
  await under.act(id, 'pagar')
  const request = { paymentId: id, amountCents: 3_000n, description: 'x' }
  const outcomes = await Promise.all([processor.refund(request), processor.refund(request)])
  assert.deepEqual(outcomes.map(({ kind }) => kind).toSorted(), [
    'not_refundable',
    'refund_accepted',
  ])
})

test('the fee is not refunded, so an account without other money refunds less than the payment', async () => {
  const poor = await startTestSandbox({ balanceCents: 0n })
  try {
    const { id } = await poor.createPix(5_000n)
    await poor.act(id, 'pagar')
    const refund = (amountCents: bigint) =>
      poor.processor.refund({ paymentId: id, amountCents, description: 'x' })
    assert.equal((await refund(5_000n)).kind, 'insufficient_processor_balance')
    assert.equal((await refund(4_801n)).kind, 'refund_accepted')
  } finally {
    await poor.close()
  }
})

test('a payment becomes overdue and is paid late; a deleted one cannot be paid; a charge-back is visible', async () => {
  const late = await under.createPix(5_000n)
  await under.act(late.id, 'vencer')
  assert.equal((await find(late.id)).status, 'overdue')
  await under.act(late.id, 'pagar')
  assert.equal((await find(late.id)).status, 'received')
  assert.equal((await processor.cancelPayment(late.id)).kind, 'not_cancelable')
  await under.act(late.id, 'contestar')
  const back = await find(late.id)
  assert.deepEqual([back.status, back.hasBeenPaid], ['chargeback', true])

  const left = await under.createPix(5_000n, 'left-1')
  assert.equal((await processor.cancelPayment(left.id)).kind, 'canceled')
  assert.equal((await processor.cancelPayment(left.id)).kind, 'canceled')
  assert.equal((await find(left.id)).status, 'deleted')
  assert.equal((await under.act(left.id, 'pagar')).status, 400)
  assert.equal((await processor.findPaymentByReference('left-1')).kind, 'payment_not_found')
  assert.equal((await processor.cancelPayment('pay_none')).kind, 'payment_not_found')
  await sandbox.webhooks.settled()
  assert.equal(under.typesOf(left.id).at(-1), 'PAYMENT_DELETED')
})

test('the endpoints of Asaas’s own sandbox do the same as the page', async () => {
  const { id } = await under.createPix(5_000n)
  const ask = async (path: string, headers = { access_token: 'sandbox-key' }) =>
    (await fetch(`${sandbox.baseUrl}/sandbox/payment/${id}/${path}`, { method: 'POST', headers }))
      .status
  assert.equal(await ask('overdue', { access_token: 'another' }), 401)
  assert.equal(await ask('overdue'), 200)
  assert.equal(await ask('overdue'), 400)
  assert.equal(await ask('confirm'), 200)
  assert.equal((await find(id)).status, 'received')
  assert.equal(await ask('nothing'), 404)
})

test('the sandbox refuses the requests that Asaas refuses', async () => {
  const details = { ourId: 'x', name: 'A', taxId: '24971563792', email: 'a@example.com' }
  for (const [more, kind] of [
    [{ taxId: '11111111111' }, 'invalid_customer'],
    [{ taxId: '12ABC34501DE35' }, 'cnpj_not_supported'],
    [{ phone: '11999999999' }, 'invalid_customer'],
    [{ email: 'nobody' }, 'invalid_customer'],
    [{ name: '' }, 'invalid_customer'],
    [{ taxId: '11222333000181' }, 'customer'],
  ] as const) {
    assert.equal((await processor.ensureCustomer({ ...details, ...more })).kind, kind)
  }
  const payerId = await under.createPayer()
  for (const [more, kind] of [
    [{ processorCustomerId: 'cus_none' }, 'invalid_customer'],
    [{ amountCents: 0n }, 'refused'],
    [{ dueDate: '2020-01-01' }, 'refused'],
    [{ dueDate: '2099-02-30' }, 'refused'],
  ] as const) {
    assert.equal((await processor.createPayment({ ...orderOf(payerId), ...more })).kind, kind)
  }
})

test('ensuring the same customer again updates it and creates no second one', async () => {
  const details = { ourId: 'same', name: 'A', taxId: '24971563792', email: 'a@example.com' }
  const first = await processor.ensureCustomer(details)
  const second = await processor.ensureCustomer({ ...details, name: 'B' })
  assert.ok(first.kind === 'customer')
  assert.deepEqual(second, first)
  assert.deepEqual(await processor.ensureCustomer(details, first.customer.id), first)
  assert.deepEqual(await processor.ensureCustomer(details, 'cus_none'), first)
})

test('an answer that is lost after the creation leaves a payment that is found by our reference', async () => {
  const payerId = await under.createPayer()
  const impatient = under.openProcessor(1_000)
  for (const kind of ['answer_lost', 'no_answer'] as const) {
    sandbox.failNext({ kind, endpoint: 'POST /v3/payments' })
    const order = { ...orderOf(payerId), ourId: kind }
    const lost = await impatient.createPayment(order)
    assert.ok(lost.kind === 'unavailable' && lost.mayHaveHappened)
    const found = await processor.findPaymentByReference(kind)
    assert.ok(found.kind === 'payment')
    assert.deepEqual([found.payment.amountCents, found.others], [5_000n, []])
  }
})

test('faults before the creation leave nothing behind', async () => {
  const payerId = await under.createPayer()
  for (const kind of ['cut', 'error_500', 'maintenance', 'maintenance_200'] as const) {
    sandbox.failNext({ kind, endpoint: 'POST /v3/payments' })
    const lost = await processor.createPayment({ ...orderOf(payerId), ourId: kind })
    assert.equal(lost.kind, 'unavailable', kind)
    assert.equal((await processor.findPaymentByReference(kind)).kind, 'payment_not_found', kind)
  }
  sandbox.failNext({ kind: 'slow', endpoint: 'POST /v3/payments' })
  assert.equal(
    (await processor.createPayment({ ...orderOf(payerId), ourId: 'slow' })).kind,
    'payment',
  )
  sandbox.failNext({ kind: 'other_amount', endpoint: 'POST /v3/payments' })
  const other = await processor.createPayment({ ...orderOf(payerId), ourId: 'other' })
  assert.equal(other.kind, 'unavailable')
})

test('centavos trigger the faults without code, once for each reference', async () => {
  const other = await startTestSandbox()
  try {
    const payerId = await other.createPayer()
    for (const cents of [91n, 92n, 99n, 93n]) {
      const order = { ...orderOf(payerId), ourId: `magic-${cents}`, amountCents: 5_000n + cents }
      const failed = await other.processor.createPayment(order)
      assert.equal(failed.kind, 'unavailable', String(cents))
      const found = await other.processor.findPaymentByReference(order.ourId)
      assert.equal(found.kind, cents === 91n ? 'payment' : 'payment_not_found')
    }
    const limited = await other.processor.createPayment({ ...orderOf(payerId), ourId: 'after' })
    assert.ok(limited.kind === 'unavailable' && limited.retryAfterSeconds === 1)
  } finally {
    await other.close()
  }
})

test('centavos make events arrive twice, out of order or not at all', async () => {
  const [twice, swapped, never, lying] = await Promise.all(
    [5_094n, 5_095n, 5_089n, 5_096n].map((cents) => under.createPix(cents)),
  )
  assert.ok(twice && swapped && never && lying)
  for (const { id } of [twice, swapped, never, lying]) await under.act(id, 'pagar')
  await sandbox.webhooks.settled()
  assert.deepEqual(under.typesOf(twice.id), [
    'PAYMENT_CREATED',
    'PAYMENT_CREATED',
    'PAYMENT_RECEIVED',
    'PAYMENT_RECEIVED',
  ])
  const ids = under.received.flatMap((one) =>
    one.kind === 'event' && one.event.paymentId === twice.id ? [one.event.eventId] : [],
  )
  assert.equal(new Set(ids).size, 2)
  assert.deepEqual(under.typesOf(swapped.id), ['PAYMENT_RECEIVED', 'PAYMENT_CREATED'])
  assert.deepEqual(under.typesOf(never.id), [])
  assert.equal((await find(never.id)).status, 'received')
  assert.equal((await find(lying.id)).amountCents, 2_548n)
})

test('only a 200 ends the deliveries of an event, which keeps its id', async () => {
  under.answerWith(204, 500, 301)
  const { id } = await under.createPix(5_000n)
  await sandbox.webhooks.settled()
  const events = under.received.flatMap((one) =>
    one.kind === 'event' && one.event.paymentId === id ? [one.event.eventId] : [],
  )
  assert.equal(events.length, 4)
  assert.equal(new Set(events).size, 1)
  assert.equal(sandbox.webhooks.waiting, 0)
})

test('after the last attempt the queue stops, and continues in order when it is resumed', async () => {
  under.answerWith(...Array<number>(4).fill(500))
  const first = await under.createPix(5_000n)
  await sandbox.webhooks.settled()
  assert.equal(sandbox.webhooks.isInterrupted, true)
  const second = await under.createPix(5_000n)
  assert.deepEqual(under.typesOf(second.id), [])
  assert.equal(sandbox.webhooks.waiting, 2)
  sandbox.webhooks.resume()
  await sandbox.webhooks.settled()
  assert.equal(under.typesOf(first.id).length, 5)
  assert.deepEqual(under.typesOf(second.id), ['PAYMENT_CREATED'])
})

test('forged events are distinguished from unusual ones', async () => {
  const event = { id: 'evt_1&1', event: 'PAYMENT_RECEIVED', payment: { id: 'pay_nobody' } }
  const body = JSON.stringify(event)
  assert.equal(await sandbox.webhooks.post(body, undefined), 401)
  assert.equal(await sandbox.webhooks.post(body, `${TOKEN}x`), 401)
  assert.equal(await sandbox.webhooks.post(body, TOKEN), 200)
  const read = under.received.at(-1)
  assert.ok(read?.kind === 'event')
  assert.equal(
    (await processor.findPayment(String(read.event.paymentId))).kind,
    'payment_not_found',
  )
})

test('with a file, a restart loses neither payments nor events, and the file contains no card', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'catraca-sandbox-'))
  const stateFile = join(dir, 'sandbox.json')
  try {
    const before = await startTestSandbox({ stateFile })
    // From here on no webhook is delivered.
    before.answerWith(...Array<number>(100).fill(500))
    const payment = await before.createPix(5_000n, 'kept')
    await before.act(payment.id, 'pagar')
    const payerId = await before.createPayer()
    await before.processor.tokenizeCard(cardOf(payerId))
    const request = { paymentId: payment.id, amountCents: 1_000n, description: 'x' }
    await before.processor.refund(request)
    await before.close()
    assert.doesNotMatch(await readFile(stateFile, 'utf8'), /5162306219378829|318"/)

    const later = await startTestSandbox({ stateFile })
    const found = await later.processor.findPaymentByReference('kept')
    assert.ok(found.kind === 'payment')
    assert.equal(found.payment.hasBeenPaid, true)
    await until(async () => {
      const again = await later.processor.findPayment(payment.id)
      return again.kind === 'payment' && again.payment.refundedCents === 1_000n
    })
    await later.sandbox.webhooks.settled()
    assert.deepEqual(later.typesOf(payment.id), [
      'PAYMENT_CREATED',
      'PAYMENT_RECEIVED',
      'PAYMENT_PARTIALLY_REFUNDED',
    ])
    await later.close()
  } finally {
    await rm(dir, { recursive: true })
  }
})

test('the page of an unknown payment explains it', async () => {
  const page = await fetch(sandbox.pageUrlOf('pay_gone'))
  assert.equal(page.status, 404)
  assert.match(await page.text(), /crie uma nova recarga/)
})
