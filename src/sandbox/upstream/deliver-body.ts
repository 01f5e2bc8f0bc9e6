import type { Exchange } from './open-exchange.ts'
import { ERROR_IN_STREAM } from './provider-refusals.ts'
import type { Delivery, Pace } from './sandbox-models.ts'
import { writeSplit } from './write-split.ts'

export interface BodyDelivery {
  readonly exchange: Exchange
  readonly body: string
  /** JSON by default. */
  readonly contentType?: string
  readonly headers: Readonly<Record<string, string>>
  readonly pace: Pace
  readonly tokens: number
  readonly delivery: Delivery
}

/** Sends a plain answer once its last token would be written, so it takes as long as a stream. */
export async function deliverBody(plain: BodyDelivery): Promise<void> {
  const { exchange, pace, tokens, delivery } = plain
  const { response } = exchange
  const writingMs = pace.tokensPerSecond === undefined ? 0 : (tokens * 1000) / pace.tokensPerSecond
  await exchange.pause(pace.firstTokenMs + writingMs)
  if (!exchange.isOpen) return

  const half = plain.body.slice(0, plain.body.length / 2)
  switch (delivery) {
    case 'split':
      response.writeHead(200, headersFor(plain))
      return writeSplit(exchange, Buffer.from(plain.body))
    case 'cut':
      response.writeHead(200, headersFor(plain, plain.body))
      return exchange.writeAndCut(half)
    case 'stall':
      response.writeHead(200, headersFor(plain, plain.body))
      return exchange.write(half)
    case 'garbage':
      return end(plain, 'broken', half)
    case 'error_in_stream':
      return end(plain, 'broken', ERROR_IN_STREAM)
    default:
      return end(plain, 'completed', plain.body)
  }
}

function end(plain: BodyDelivery, outcome: 'completed' | 'broken', body: string): void {
  plain.exchange.outcome = outcome
  plain.exchange.response.writeHead(200, headersFor(plain, body)).end(body)
}

/** Without a body, there is no content length and the answer is chunked. */
function headersFor(plain: BodyDelivery, body?: string): Record<string, string | number> {
  const headers = { ...plain.headers, 'content-type': plain.contentType ?? 'application/json' }
  return body === undefined ? headers : { ...headers, 'content-length': Buffer.byteLength(body) }
}
