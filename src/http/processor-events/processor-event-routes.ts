import { takeEvent } from '../../money/payments/take-event.ts'
import type { HttpParts } from '../rest/parts.ts'
import { hiddenRoute } from '../rest/route.ts'
import { restError, sendJson } from '../rest/rest-refusal.ts'

type Deps = Pick<HttpParts, 'db' | 'log' | 'payments'> & {
  /** The job that processes the stored events. */
  wakeProcessorEvents(): void
}

export const PROCESSOR_EVENTS_PATH = '/v1/inbound/payments/asaas'
const BODY_BYTES_MAX = 256 * 1024

/**
 * The webhook of the payment processor. An event is stored before the answer, which must be exactly 200: the processor
 * repeats the event after any other status, and holds back the later ones. A background job processes it.
 */
export const processorEventRoutes = [
  hiddenRoute({
    method: 'POST',
    url: PROCESSOR_EVENTS_PATH,
    access: 'signed',
    bodyBytesMax: BODY_BYTES_MAX,
    async handle(request, reply, deps: Deps) {
      const { db, log } = deps
      const { processor } = deps.payments
      if (!processor) return restError(reply, 401, 'invalid_token')
      const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0)
      const read = processor.readEvent(request.headers, body)
      if (read.kind === 'invalid_token') return restError(reply, 401, 'invalid_token')
      if (read.kind === 'unreadable_event') {
        log.error('processor_event_unreadable', { detail: read.detail })
        return sendJson(reply, { received: true })
      }
      if (await takeEvent(db, processor.id, read.event)) deps.wakeProcessorEvents()
      return sendJson(reply, { received: true })
    },
  }),
]
