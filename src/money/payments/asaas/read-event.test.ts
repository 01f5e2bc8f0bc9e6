import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc, { anyCharacter } from '../../../../test/harness/fast-check.ts'
import { createReadEvent, parseEvent } from './read-event.ts'

const TOKEN = 'a9f3c1d7-7e52-4c08-9b6d-token-of-tests'
const ID = 'evt_05b708f961d739ea7eba7e4db318f621&368604920'

function bodyOf(more: object = {}): string {
  return JSON.stringify({
    id: ID,
    event: 'PAYMENT_RECEIVED',
    dateCreated: '2026-06-12 16:45:03',
    payment: {
      object: 'payment',
      id: 'pay_080225913252',
      value: 50,
      externalReference: 'top-up-1',
    },
    ...more,
  })
}

test('an event with the token is read, and its id keeps its &', () => {
  const readEvent = createReadEvent(TOKEN)
  const event = {
    eventId: ID,
    type: 'paid',
    processorType: 'PAYMENT_RECEIVED',
    paymentId: 'pay_080225913252',
    reference: 'top-up-1',
  }
  const headers = { 'asaas-access-token': TOKEN }
  assert.deepEqual(readEvent(headers, bodyOf()), { kind: 'event', event })
  assert.deepEqual(readEvent(headers, Buffer.from(bodyOf())), { kind: 'event', event })
})

test('a missing, wrong, doubled or truncated token is refused, and any token where none is configured', () => {
  const refused = { kind: 'invalid_token' }
  const readEvent = createReadEvent(TOKEN)
  for (const token of [undefined, '', 'x', TOKEN.slice(1), `${TOKEN} `, `${TOKEN}, ${TOKEN}`]) {
    assert.deepEqual(readEvent({ 'asaas-access-token': token }, bodyOf()), refused)
  }
  for (const none of [undefined, '']) {
    for (const token of [undefined, '', 'undefined', TOKEN]) {
      assert.deepEqual(
        createReadEvent(none)({ 'asaas-access-token': token }, bodyOf()),
        refused,
        `${none} ${token}`,
      )
    }
  }
})

test('every published event is mapped to its type', () => {
  const expected: Record<string, string> = {
    CONFIRMED: 'paid',
    RECEIVED: 'paid',
    OVERDUE: 'overdue',
    DELETED: 'deleted',
    CREDIT_CARD_CAPTURE_REFUSED: 'failed',
    REPROVED_BY_RISK_ANALYSIS: 'failed',
    REFUND_IN_PROGRESS: 'refund_in_progress',
    REFUNDED: 'refunded',
    PARTIALLY_REFUNDED: 'refunded',
    CHARGEBACK_REQUESTED: 'chargeback',
  }
  const others =
    'CREATED AWAITING_RISK_ANALYSIS APPROVED_BY_RISK_ANALYSIS AUTHORIZED UPDATED ANTICIPATED RESTORED REFUND_DENIED RECEIVED_IN_CASH_UNDONE CHARGEBACK_DISPUTE AWAITING_CHARGEBACK_REVERSAL DUNNING_RECEIVED DUNNING_REQUESTED BANK_SLIP_VIEWED BANK_SLIP_CANCELLED CHECKOUT_VIEWED NEVER_HEARD_OF'
  for (const name of [...Object.keys(expected), ...others.split(' ')]) {
    const read = parseEvent(bodyOf({ event: `PAYMENT_${name}` }))
    assert.ok(read.kind === 'event', name)
    assert.equal(read.event.type, expected[name] ?? 'other', name)
  }
})

test('an event that is not about a payment has no payment id', () => {
  const read = parseEvent(
    JSON.stringify({ id: ID, event: 'INVOICE_CREATED', invoice: { id: 'inv_1' } }),
  )
  assert.deepEqual(read.kind === 'event' && read.event.paymentId, undefined)
  assert.equal(read.kind === 'event' && read.event.type, 'other')
})

test('a malformed body is unreadable', () => {
  for (const body of [
    '',
    'null',
    '[]',
    '"x"',
    '{',
    '<html>',
    bodyOf({ id: undefined }),
    bodyOf({ id: 7 }),
    bodyOf({ id: '' }),
    bodyOf({ id: 'evt_\u0000' }),
    bodyOf({ id: 'e'.repeat(256) }),
    bodyOf({ event: undefined }),
    bodyOf({ event: 'payment received' }),
    bodyOf({ payment: undefined }),
    bodyOf({ payment: null }),
    bodyOf({ payment: 'pay_1' }),
    bodyOf({ payment: { id: 'pay_\u0000' } }),
  ]) {
    assert.equal(parseEvent(body).kind, 'unreadable_event', body)
  }
})

test('the parser accepts any bytes, and its output can be stored', () => {
  const text = fc.oneof(
    fc.string({ unit: anyCharacter }),
    fc.constantFrom('evt_1&2', 'PAYMENT_RECEIVED', 'PAYMENT_', '__proto__', 'constructor', 'pay_1'),
  )
  const event = fc.record(
    {
      id: fc.oneof(text, fc.jsonValue()),
      event: fc.oneof(text, fc.jsonValue()),
      payment: fc.oneof(
        fc.record({
          id: fc.oneof(text, fc.jsonValue()),
          externalReference: fc.oneof(text, fc.jsonValue()),
        }),
        fc.jsonValue(),
      ),
    },
    { requiredKeys: [] },
  )
  const body = fc.oneof(
    fc.uint8Array().map((bytes) => Buffer.from(bytes)),
    fc.string({ unit: anyCharacter }),
    fc.json(),
    event.map((value) => JSON.stringify(value)),
  )
  fc.assert(
    fc.property(body, (given) => {
      const read = parseEvent(given)
      if (read.kind !== 'event') return
      const { eventId, paymentId = 'x', reference = 'x', processorType, type } = read.event
      for (const value of [eventId, paymentId, reference, processorType]) {
        assert.match(value, /^[\x21-\x7e]{1,255}$/)
      }
      assert.equal(typeof type, 'string')
    }),
    { numRuns: 150 },
  )
})
