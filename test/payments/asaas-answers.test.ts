/** The adapter against Asaas's published answers: the requests it sends, and how it reads the answers. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { Payment, PaymentOrder } from '../../src/money/payments/processor.ts'
import { errors, json, paymentBody, startScriptedServer } from './scripted-server.ts'

const server = await startScriptedServer()
const { processor } = server
after(() => server.close())

const PAYER = {
  ourId: 'customer-1',
  name: 'Ana Souza',
  taxId: '24971563792',
  email: 'ana@example.com',
  phone: '+55 (47) 99632-1478',
  postalCode: '01310-100',
}
const ORDER: PaymentOrder = {
  ourId: 'top-up-1',
  processorCustomerId: 'cus_000008392496',
  method: 'pix',
  amountCents: 10_000n,
  dueDate: '2026-07-19',
  description: 'Recarga',
}
const CARD_ORDER: PaymentOrder = {
  ...ORDER,
  method: 'card',
  cardToken: 'afbdb445-cee8-4d58-be3e-e179d754760a',
  remoteIp: '203.0.113.7',
}
const CARD = {
  processorCustomerId: 'cus_000008392496',
  card: {
    holderName: 'ANA SOUZA',
    number: '5162 3062 1937 8829',
    expiryMonth: '05',
    expiryYear: '2031',
    ccv: '318',
  },
  holder: {
    name: 'Ana Souza',
    email: 'ana@example.com',
    taxId: '24971563792',
    postalCode: '01310-100',
    addressNumber: '1578',
    phone: '(47) 99632-1478',
  },
  remoteIp: '203.0.113.7',
}
const LIST = { object: 'list', hasMore: false, totalCount: 0, limit: 100, offset: 0, data: [] }

async function paymentFor(more: object): Promise<Payment> {
  server.answer(json(paymentBody(more)))
  const found = await processor.findPayment('pay_ibvub5tu20v9lxr7')
  assert.ok(found.kind === 'payment', found.kind)
  return found.payment
}

test("a customer is looked up by our id before it is created, with Asaas's own notifications disabled", async () => {
  server.answer(json(LIST), json({ object: 'customer', id: 'cus_1', deleted: false }))
  const made = await processor.ensureCustomer(PAYER)
  assert.deepEqual(made, { kind: 'customer', customer: { id: 'cus_1' } })
  const [looked, created] = server.asked
  assert.equal(looked?.url, '/v3/customers?externalReference=customer-1&limit=100')
  assert.equal(looked?.body, '')
  assert.equal(created?.method, 'POST')
  assert.equal(created?.headers.access_token, '$aact_hmlg_000key-of-tests')
  assert.match(String(created?.headers['user-agent']), /catraca/)
  assert.deepEqual(JSON.parse(created?.body ?? ''), {
    name: 'Ana Souza',
    cpfCnpj: '24971563792',
    email: 'ana@example.com',
    mobilePhone: '47996321478',
    postalCode: '01310100',
    externalReference: 'customer-1',
    notificationDisabled: true,
  })
})

test('an existing customer is updated, not created again', async () => {
  const own = { id: 'cus_2', externalReference: 'customer-1', deleted: false }
  const other = { id: 'cus_9', externalReference: 'customer-9', deleted: false }
  server.answer(json({ ...LIST, data: [other, own] }), json({ id: 'cus_2', deleted: false }))
  const found = await processor.ensureCustomer(PAYER)
  assert.deepEqual(found, { kind: 'customer', customer: { id: 'cus_2' } })
  assert.deepEqual(
    server.asked.map(({ method, url }) => `${method} ${url.split('?')[0]}`),
    ['GET /v3/customers', 'PUT /v3/customers/cus_2'],
  )
})

test('a filter that Asaas ignored never yields another customer or payment', async () => {
  const data = [{ id: 'cus_9', externalReference: 'customer-9' }, { id: 'cus_8' }]
  server.answer(json({ ...LIST, data }), json({ id: 'cus_1' }))
  const made = await processor.ensureCustomer(PAYER)
  assert.deepEqual(made, { kind: 'customer', customer: { id: 'cus_1' } })
  server.answer(json({ ...LIST, data: [paymentBody({ externalReference: 'another' })] }))
  assert.deepEqual(await processor.findPaymentByReference('top-up-1'), {
    kind: 'payment_not_found',
  })
})

test('a known customer that was deleted at Asaas is created again', async () => {
  for (const gone of [
    errors('not_found', 'Cliente não encontrado.', 404),
    json({ id: 'cus_1', deleted: true }),
    errors('invalid_action', 'O cliente foi removido.'),
  ]) {
    server.answer(gone, json(LIST), json({ id: 'cus_3' }))
    const made = await processor.ensureCustomer(PAYER, 'cus_1')
    assert.deepEqual(made, { kind: 'customer', customer: { id: 'cus_3' } })
  }
})

test('every customer with our reference is removed', async () => {
  const dataOf = (id: string) => [{ id, externalReference: 'customer-1', deleted: false }]
  server.asked.length = 0
  server.answer(
    json({ ...LIST, data: dataOf('cus_1') }),
    json({ deleted: true, id: 'cus_1' }),
    json({ ...LIST, data: dataOf('cus_2') }),
    errors('not_found', 'Cliente não encontrado.', 404),
    json(LIST),
  )
  assert.deepEqual(await processor.removeCustomer('customer-1'), { kind: 'removed' })
  const list = 'GET /v3/customers?externalReference=customer-1&limit=100'
  assert.deepEqual(
    server.asked.map(({ method, url }) => `${method} ${url}`),
    [list, 'DELETE /v3/customers/cus_1', list, 'DELETE /v3/customers/cus_2', list],
  )
})

test('a refused removal is reported, and another customer is never removed', async () => {
  const own = { id: 'cus_1', externalReference: 'customer-1', deleted: false }
  server.answer(json({ ...LIST, data: [own] }), errors('invalid_action', 'Há disputas.'))
  assert.deepEqual(await processor.removeCustomer('customer-1'), {
    kind: 'refused',
    detail: 'Há disputas.',
  })
  server.answer(json({ ...LIST, data: [{ ...own, externalReference: 'customer-9' }] }))
  assert.deepEqual(await processor.removeCustomer('customer-1'), { kind: 'removed' })
})

test('a refused customer names the invalid field', async () => {
  for (const [code, description, field] of [
    ['invalid_object', 'O CPF/CNPJ informado é inválido.', 'tax_id'],
    ['invalid_cpfCnpj', 'CPF inválido.', 'tax_id'],
    ['invalid_mobilePhone', 'O celular informado é inválido.', 'phone'],
    ['invalid_email', 'O e-mail informado é inválido.', 'email'],
    ['invalid_postalCode', 'O CEP informado é inválido.', 'postal_code'],
    ['invalid_name', 'O nome deve ser informado.', 'name'],
    ['something_new', 'Outra coisa.', undefined],
  ] as const) {
    server.answer(json(LIST), errors(code, description))
    const outcome = await processor.ensureCustomer(PAYER)
    assert.deepEqual(outcome, { kind: 'invalid_customer', field, detail: description })
  }
  const letters = { ...PAYER, taxId: '12ABC34501DE35' }
  server.answer(json(LIST), errors('invalid_object', 'O CPF/CNPJ informado é inválido.'))
  assert.equal((await processor.ensureCustomer(letters)).kind, 'cnpj_not_supported')
})

test('an amount is sent to the centavo with our reference, and returned unchanged', async () => {
  server.answer(json(paymentBody({ value: 123456.78 })))
  const outcome = await processor.createPayment({ ...ORDER, amountCents: 12_345_678n })
  assert.ok(outcome.kind === 'payment')
  assert.equal(
    server.asked[0]?.body,
    '{"customer":"cus_000008392496","billingType":"PIX","value":123456.78,"dueDate":"2026-07-19","description":"Recarga","externalReference":"top-up-1"}',
  )
  assert.deepEqual(outcome.payment, {
    id: 'pay_ibvub5tu20v9lxr7',
    ourId: 'top-up-1',
    processorCustomerId: 'cus_000008392496',
    method: 'pix',
    status: 'pending',
    processorStatus: 'PENDING',
    hasBeenPaid: false,
    amountCents: 12_345_678n,
    netAmountCents: 9_801n,
    dueDate: '2026-07-19',
    refunds: [],
    refundedCents: 0n,
    card: undefined,
    pageUrl: 'https://sandbox.asaas.com/i/ibvub5tu20v9lxr7',
    boletoUrl: undefined,
    receiptUrl: undefined,
  })
})

test("a card charge sends only the card's token and the buyer's IP address", async () => {
  const creditCard = {
    creditCardNumber: '8829',
    creditCardBrand: 'MASTERCARD',
    creditCardToken: 't',
  }
  server.answer(
    json(
      paymentBody({
        billingType: 'CREDIT_CARD',
        status: 'CONFIRMED',
        creditCard,
        refunds: undefined,
      }),
    ),
  )
  const outcome = await processor.createPayment(CARD_ORDER)
  assert.ok(outcome.kind === 'payment')
  assert.deepEqual(outcome.payment.card, { brand: 'MASTERCARD', lastFour: '8829' })
  assert.equal(outcome.payment.hasBeenPaid, true)
  const body = JSON.parse(String(server.asked[0]?.body)) as object
  assert.deepEqual(Object.keys(body).slice(-2), ['creditCardToken', 'remoteIp'])
})

test('a payment with an amount or a reference that was not requested is not passed on', async () => {
  for (const more of [
    { value: 50 },
    { value: 100.01 },
    { externalReference: 'top-up-2' },
    { externalReference: null },
  ]) {
    server.answer(json(paymentBody(more)))
    const outcome = await processor.createPayment(ORDER)
    assert.ok(outcome.kind === 'unavailable' && outcome.mayHaveHappened, JSON.stringify(more))
  }
})

test('a refused payment states whose fault it is', async () => {
  const unauthorised =
    'Transação não autorizada. Verifique os dados do cartão de crédito e tente novamente.'
  for (const [order, code, description, kind, status] of [
    [CARD_ORDER, 'invalid_action', unauthorised, 'declined', 400],
    [
      CARD_ORDER,
      'invalid_creditCard',
      'CreditCardToken nao-existe não encontrado.',
      'card_not_found',
      400,
    ],
    [CARD_ORDER, 'invalid_creditCard', 'O cartão está vencido.', 'declined', 400],
    [CARD_ORDER, 'invalid_billingType', 'Cartão não habilitado.', 'refused', 400],
    [ORDER, 'invalid_customer', 'Customer inválido ou não informado.', 'invalid_customer', 400],
    [ORDER, 'not_found', 'Cliente não encontrado.', 'invalid_customer', 404],
    [ORDER, 'invalid_value', 'O valor é menor que o mínimo.', 'refused', 400],
    [ORDER, 'invalid_action', 'Não autorizado.', 'refused', 400],
  ] as const) {
    server.answer(errors(code, description, status))
    assert.equal((await processor.createPayment(order)).kind, kind, `${code} ${description}`)
    assert.equal(server.asked.length, 1)
  }
})

test('every published status maps to one of ours, and a new one is unknown and unpaid', async () => {
  const expected = {
    PENDING: ['pending', false],
    AUTHORIZED: ['pending', false],
    AWAITING_RISK_ANALYSIS: ['in_review', false],
    CONFIRMED: ['confirmed', true],
    RECEIVED: ['received', true],
    RECEIVED_IN_CASH: ['received', true],
    DUNNING_RECEIVED: ['received', true],
    DUNNING_REQUESTED: ['overdue', false],
    OVERDUE: ['overdue', false],
    REFUND_REQUESTED: ['refund_in_progress', true],
    REFUND_IN_PROGRESS: ['refund_in_progress', true],
    REFUNDED: ['refunded', true],
    CHARGEBACK_REQUESTED: ['chargeback', true],
    CHARGEBACK_DISPUTE: ['chargeback', true],
    AWAITING_CHARGEBACK_REVERSAL: ['chargeback', true],
    SOMETHING_NEW: ['unknown', false],
  }
  for (const [status, [ours, hasBeenPaid]] of Object.entries(expected)) {
    const payment = await paymentFor({ status })
    assert.deepEqual([payment.status, payment.hasBeenPaid], [ours, hasBeenPaid], status)
  }
  assert.equal((await paymentFor({ deleted: true })).status, 'deleted')
  assert.equal((await paymentFor({ billingType: 'constructor' })).method, undefined)
})

test('only completed refunds count, and a refund without a list is the whole amount', async () => {
  const refunds = [
    { status: 'DONE', value: 10.1, description: 'Reembolso 1' },
    { status: 'PENDING', value: 20, description: null },
    { status: 'CANCELLED', value: 5 },
    { status: 'NEW_WORD', value: 1 },
  ]
  const payment = await paymentFor({ status: 'RECEIVED', refunds })
  assert.equal(payment.status, 'partially_refunded')
  assert.equal(payment.refundedCents, 1_010n)
  assert.deepEqual(
    payment.refunds.map(({ status }) => status),
    ['done', 'pending', 'canceled', 'unknown'],
  )
  assert.equal(payment.refunds[0]?.description, 'Reembolso 1')
  assert.equal((await paymentFor({ status: 'REFUNDED' })).refundedCents, 10_000n)
  assert.equal((await paymentFor({ status: 'RECEIVED', refunds: [] })).status, 'received')
})

test('missing optional fields and new fields change nothing, and required fields are validated', async () => {
  const small = {
    id: 'pay_ibvub5tu20v9lxr7',
    status: 'RECEIVED',
    value: 0.29,
    novo: { value: 1e300 },
  }
  server.answer(json(small))
  const found = await processor.findPayment('pay_ibvub5tu20v9lxr7')
  assert.ok(found.kind === 'payment')
  assert.equal(found.payment.amountCents, 29n)
  for (const more of [
    { id: undefined },
    { id: 'pay_other' },
    { status: undefined },
    { value: undefined },
    { value: -5 },
    { value: 1.001 },
    { refunds: 'none' },
    { refunds: [{ status: 'DONE' }] },
  ]) {
    server.answer(json(paymentBody(more)))
    const found = await processor.findPayment('pay_ibvub5tu20v9lxr7')
    assert.equal(found.kind, 'unavailable', JSON.stringify(more))
  }
})

test('of several payments with one reference, the paid one comes first, and deleted ones are ignored', async () => {
  const data = [
    paymentBody({ id: 'pay_deleted', deleted: true }),
    paymentBody({ id: 'pay_overdue', status: 'OVERDUE' }),
    paymentBody({ id: 'pay_pending' }),
    paymentBody({ id: 'pay_paid', status: 'RECEIVED' }),
  ]
  server.answer(json({ ...LIST, data }))
  const found = await processor.findPaymentByReference('top-up-1')
  assert.ok(found.kind === 'payment')
  assert.equal(found.payment.id, 'pay_paid')
  assert.deepEqual(
    found.others.map(({ id }) => id),
    ['pay_pending', 'pay_overdue'],
  )
  server.answer(json({ ...LIST, data: [paymentBody({ value: 'x' })] }))
  assert.equal((await processor.findPaymentByReference('top-up-1')).kind, 'unavailable')
})

test('ids and references are escaped in URLs', async () => {
  server.answer(errors('not_found', 'Cobrança não encontrada.', 404))
  await processor.findPayment('../customers?x=1#')
  assert.equal(server.asked[0]?.url, '/v3/payments/..%2Fcustomers%3Fx%3D1%23')
  server.answer(json(LIST))
  await processor.findPaymentByReference('a&limit=1')
  assert.equal(server.asked[0]?.url, '/v3/payments?externalReference=a%26limit%3D1&limit=100')
})

test('a Pix code is returned with its expiry in Brasília time, and one with a wrong checksum is not returned', async () => {
  const payload =
    '00020101021226770014BR.GOV.BCB.PIX2555pix.example.com/qr/93598be0-1bd0-4997-8318-81776a1d8a995204000053039865802BR5907EMPRESA6009SAO PAULO62070503***6304EEAB'
  const body = {
    success: true,
    encodedImage: 'iVBORw==',
    payload,
    expirationDate: '2027-07-19 23:59:59',
  }
  server.answer(json(body))
  assert.deepEqual(await processor.pixCode('pay_1'), {
    kind: 'pix_code',
    payload,
    qrCodeBase64: 'iVBORw==',
    expiresAt: new Date('2027-07-20T02:59:59Z'),
  })
  for (const more of [
    { payload: payload.slice(0, -1) },
    { payload: payload.replace('EMPRESA', 'EMPRESO') },
    { payload: null },
    { encodedImage: '' },
    { expirationDate: '2027-13-45 99:00:00' },
    { expirationDate: null },
  ]) {
    server.answer(json({ ...body, ...more }))
    assert.equal((await processor.pixCode('pay_1')).kind, 'unavailable', JSON.stringify(more))
  }
  server.answer(errors('not_found', 'Não encontrado.', 404))
  assert.equal((await processor.pixCode('pay_1')).kind, 'payment_not_found')
  server.answer(errors('invalid_action', 'Não está disponível.'))
  assert.equal((await processor.pixCode('pay_1')).kind, 'refused')
})

test('a boleto is returned with its line and its document', async () => {
  const bankSlipUrl = 'https://sandbox.asaas.com/b/pdf/x'
  const line = '46190000000000000000000000000000000000000000000'
  server.answer(
    json(paymentBody({ id: 'pay_1', billingType: 'BOLETO', bankSlipUrl })),
    json({ identificationField: line, nossoNumero: '1', barCode: '46191' }),
  )
  assert.deepEqual(await processor.boleto('pay_1'), {
    kind: 'boleto',
    url: bankSlipUrl,
    line,
    barCode: '46191',
  })
})

test('a payment can be canceled twice, and a paid one cannot be canceled', async () => {
  server.answer(json({ deleted: true, id: 'pay_ibvub5tu20v9lxr7' }))
  assert.deepEqual(await processor.cancelPayment('pay_ibvub5tu20v9lxr7'), { kind: 'canceled' })
  const refusal = errors('invalid_action', 'Não é possível remover.')
  server.answer(refusal, json(paymentBody({ deleted: true })))
  assert.deepEqual(await processor.cancelPayment('pay_ibvub5tu20v9lxr7'), { kind: 'canceled' })
  server.answer(refusal, json(paymentBody({ status: 'RECEIVED' })))
  assert.deepEqual(await processor.cancelPayment('pay_ibvub5tu20v9lxr7'), {
    kind: 'not_cancelable',
    detail: 'Não é possível remover.',
  })
})

test('a card becomes a token, and no answer contains its number or its ccv', async () => {
  const token = 'afbdb445-cee8-4d58-be3e-e179d754760a'
  server.answer(
    json({ creditCardNumber: '8829', creditCardBrand: 'MASTERCARD', creditCardToken: token }),
  )
  assert.deepEqual(await processor.tokenizeCard(CARD), {
    kind: 'card_token',
    token,
    brand: 'MASTERCARD',
    lastFour: '8829',
  })
  const sent = JSON.parse(String(server.asked[0]?.body)) as { creditCard: { number: string } }
  assert.equal(sent.creditCard.number, '5162306219378829')
  for (const [code, kind] of [
    ['invalid_action', 'declined'],
    ['invalid_creditCard', 'declined'],
    ['invalid_cpfCnpj', 'invalid_customer'],
    ['invalid_creditCardHolderInfo', 'invalid_customer'],
    ['invalid_remoteIp', 'refused'],
  ]) {
    const echo = `Cartão 5162 3062 1937 8829 (5162306219378829, 5162.3062.1937.8829), código 318, de ANA SOUZA, CPF 249.715.637-92, ana@example.com`
    server.answer(errors(String(code), echo))
    const outcome = await processor.tokenizeCard(CARD)
    assert.equal(outcome.kind, kind)
    assert.doesNotMatch(JSON.stringify(outcome), /5162|8829|318|ANA|249|ana@/)
  }
})

test('a refused refund states the reason', async () => {
  const request = {
    paymentId: 'pay_ibvub5tu20v9lxr7',
    amountCents: 1_050n,
    description: 'Reembolso 1',
  }
  const refunds = [{ status: 'PENDING', value: 10.5, description: 'Reembolso 1' }]
  server.answer(json(paymentBody({ status: 'RECEIVED', refunds })))
  const accepted = await processor.refund(request)
  assert.ok(accepted.kind === 'refund_accepted')
  assert.equal(accepted.payment.refundedCents, 0n)
  assert.equal(server.asked[0]?.body, '{"value":10.5,"description":"Reembolso 1"}')
  for (const [code, description, kind, status] of [
    [
      'invalid_object',
      'Somente é possível estornar cobranças recebidas ou confirmadas.',
      'not_refundable',
      400,
    ],
    [
      'invalid_action',
      'Saldo insuficiente para realizar o estorno.',
      'insufficient_processor_balance',
      400,
    ],
    [
      'invalid_action',
      'Você não possui saldo para esta operação.',
      'insufficient_processor_balance',
      400,
    ],
    ['not_found', 'Cobrança não encontrada.', 'payment_not_found', 404],
  ] as const) {
    server.answer(errors(code, description, status))
    assert.equal((await processor.refund(request)).kind, kind, description)
  }
})
