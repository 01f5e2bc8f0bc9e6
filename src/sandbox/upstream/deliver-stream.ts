import type { Exchange } from './open-exchange.ts'
import { ERROR_IN_STREAM } from './provider-refusals.ts'
import type { AnswerEvent } from './render-answer.ts'
import type { Delivery, Pace } from './sandbox-models.ts'
import { writeSplit } from './write-text.ts'

export interface StreamDelivery {
  readonly exchange: Exchange
  readonly events: Iterable<AnswerEvent>
  /** What follows the last event of a whole stream. */
  readonly ending: string
  readonly headers: Readonly<Record<string, string>>
  readonly pace: Pace
  readonly delivery: Delivery
}

/** Events before a fault: the opening and a few tokens, so that the client has started to show the answer. */
const EVENTS_BEFORE_FAULT = 5
/** Events that are due at the same time share one write, which is many times cheaper. */
const WRITE_CHARACTERS_MAX = 16_384

export async function deliverStream(stream: StreamDelivery): Promise<void> {
  const { exchange, headers, pace, delivery } = stream
  const { response } = exchange
  await exchange.pause(pace.firstTokenMs)
  if (!exchange.isOpen) return
  response.writeHead(200, {
    ...headers,
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-cache',
  })
  if (delivery === 'whole') return deliverWhole(stream)
  if (delivery === 'split') return deliverSplit(stream)

  const begun = [...stream.events].slice(0, EVENTS_BEFORE_FAULT).map(renderEvent)
  if (delivery === 'cut') return exchange.writeAndCut(begun.join(''))
  if (delivery === 'stall') return exchange.write(begun[0] as string)
  exchange.outcome = 'broken'
  if (delivery === 'garbage')
    begun.push('data: {"id":"chatcmpl-\u{fffd}","choices":[{"ind\n\n', stream.ending)
  else begun.push(renderFault(stream))
  response.end(begun.join(''))
}

async function deliverWhole({ exchange, events, ending, pace }: StreamDelivery): Promise<void> {
  const startedAt = performance.now()
  let due = ''
  let tokensSent = 0
  for (const event of events) {
    if (pace.tokensPerSecond !== undefined) {
      // Measured from the start and not from the last token, so that late timers do not add up.
      const waitMs = startedAt + (tokensSent * 1000) / pace.tokensPerSecond - performance.now()
      if (waitMs > 1) {
        await exchange.write(due)
        due = ''
        await exchange.pause(waitMs)
      }
    }
    due += renderEvent(event)
    tokensSent += event.tokens
    if (due.length > WRITE_CHARACTERS_MAX) {
      await exchange.write(due)
      due = ''
    }
    if (!exchange.isOpen) return
  }
  exchange.outcome = 'completed'
  exchange.response.end(due + ending)
}

async function deliverSplit({ exchange, events, ending }: StreamDelivery): Promise<void> {
  const pieces = [...[...events].map(renderEvent), ending].map((piece) => `: ping\n\n${piece}`)
  const bytes = Buffer.from(pieces.join('').replaceAll('\n', '\r\n'))
  await writeSplit(exchange, bytes)
}

function renderEvent({ name, data }: AnswerEvent): string {
  return `${name === undefined ? '' : `event: ${name}\n`}data: ${data}\n\n`
}

/** Formats with named events have one for errors. */
function renderFault({ ending }: StreamDelivery): string {
  if (ending !== '') return renderEvent({ data: ERROR_IN_STREAM, tokens: 0 })
  const data = `{"type":"error",${ERROR_IN_STREAM.slice(1)}`
  return renderEvent({ name: 'error', data, tokens: 0 })
}

interface BodyDelivery {
  readonly exchange: Exchange
  readonly body: string | Buffer
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

  const half =
    typeof plain.body === 'string'
      ? plain.body.slice(0, plain.body.length / 2)
      : plain.body.subarray(0, plain.body.length / 2)
  switch (delivery) {
    case 'split':
      response.writeHead(200, headersFor(plain))
      return writeSplit(exchange, asBuffer(plain.body))
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

function asBuffer(body: string | Buffer): Buffer {
  return typeof body === 'string' ? Buffer.from(body) : body
}

function end(plain: BodyDelivery, outcome: 'completed' | 'broken', body: string | Buffer): void {
  plain.exchange.outcome = outcome
  plain.exchange.response.writeHead(200, headersFor(plain, body)).end(body)
}

/** Without a body, there is no content length and the answer is chunked. */
function headersFor(plain: BodyDelivery, body?: string | Buffer): Record<string, string | number> {
  const headers = { ...plain.headers, 'content-type': plain.contentType ?? 'application/json' }
  return body === undefined ? headers : { ...headers, 'content-length': Buffer.byteLength(body) }
}
