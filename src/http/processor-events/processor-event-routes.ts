import { takeEvent } from '../../payments/take-event.ts'
import type { ProcessorEventDeps } from './processor-event-deps.ts'
import { hiddenRoute } from '../rest/route.ts'
import { restError, sendJson } from '../rest/rest-error.ts'

export const PROCESSOR_EVENTS_PATH = '/v1/inbound/payments/asaas'
const BODY_BYTES_MAX = 256 * 1024

/**
 * Where the payment processor tells of payments. Stored before it is answered with exactly 200, for anything
 * else is told again and keeps back what comes after it; looked into by a worker.
 */
export const processorEventRoutes = [
  hiddenRoute({
    method: 'POST',
    url: PROCESSOR_EVENTS_PATH,
    bodyBytesMax: BODY_BYTES_MAX,
    async handle(request, reply, { db, payments, log }: ProcessorEventDeps) {
      const { processor } = payments
      if (!processor) return restError(reply, 401, 'invalid_token')
      const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0)
      const read = processor.readEvent(request.headers, body)
      if (read.kind === 'invalid_token') return restError(reply, 401, 'invalid_token')
      if (read.kind === 'unreadable_event') {
        log.error('processor_event_unreadable', { detail: read.detail })
        return sendJson(reply, { received: true })
      }
      if (await takeEvent(db, processor.id, read.event)) payments.onEvent()
      return sendJson(reply, { received: true })
    },
  }),
]
