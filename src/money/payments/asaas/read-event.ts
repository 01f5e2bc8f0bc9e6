import { timingSafeEqual } from 'node:crypto'
import { sha256 } from '../../../platform/lib/ids.ts'
import { isObject } from '../../../platform/lib/is-object.ts'
import type { Processor, ProcessorEventType, ReadEventOutcome } from '../processor.ts'

const TYPES = new Map<string, ProcessorEventType>([
  ['PAYMENT_CONFIRMED', 'paid'],
  ['PAYMENT_RECEIVED', 'paid'],
  ['PAYMENT_OVERDUE', 'overdue'],
  ['PAYMENT_DELETED', 'deleted'],
  ['PAYMENT_CREDIT_CARD_CAPTURE_REFUSED', 'failed'],
  ['PAYMENT_REPROVED_BY_RISK_ANALYSIS', 'failed'],
  ['PAYMENT_REFUND_IN_PROGRESS', 'refund_in_progress'],
  ['PAYMENT_REFUNDED', 'refunded'],
  ['PAYMENT_PARTIALLY_REFUNDED', 'refunded'],
  ['PAYMENT_CHARGEBACK_REQUESTED', 'chargeback'],
])

/** Ids are printable ASCII, so that any database stores them. Ids of events contain an `&`. */
const ID = /^[\x21-\x7e]{1,255}$/
const EVENT_NAME = /^[A-Z0-9_]{1,100}$/

export function createReadEvent(token: string | undefined): Processor['readEvent'] {
  const expected = token ? sha256(token) : undefined
  return (headers, body) => {
    const given = headers['asaas-access-token']
    // Comparing digests makes the lengths equal.
    if (!expected || typeof given !== 'string' || !timingSafeEqual(sha256(given), expected)) {
      return { kind: 'invalid_token' }
    }
    return parseEvent(body)
  }
}

/** Reads an event from any bytes. The caller has checked the token. */
export function parseEvent(
  body: string | Buffer,
): Exclude<ReadEventOutcome, { kind: 'invalid_token' }> {
  let content: unknown
  try {
    content = JSON.parse(body.toString())
  } catch {
    return unreadable('the body is not JSON')
  }
  if (!isObject(content)) return unreadable('the body is not an object')
  const { id, event, payment } = content
  if (typeof id !== 'string' || !ID.test(id)) return unreadable('the event has no id')
  if (typeof event !== 'string' || !EVENT_NAME.test(event))
    return unreadable('the event has no type')
  const paymentId = isObject(payment) ? idOf(payment.id) : undefined
  const type = TYPES.get(event) ?? 'other'
  if (type !== 'other' && paymentId === undefined) return unreadable(`${event} without a payment`)
  const reference = isObject(payment) ? idOf(payment.externalReference) : undefined
  return {
    kind: 'event',
    event: { eventId: id, type, processorType: event, paymentId, reference },
  }
}

function idOf(value: unknown): string | undefined {
  return typeof value === 'string' && ID.test(value) ? value : undefined
}

function unreadable(detail: string): { kind: 'unreadable_event'; detail: string } {
  return { kind: 'unreadable_event', detail }
}
