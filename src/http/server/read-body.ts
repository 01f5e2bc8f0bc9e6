import type { FastifyRequest } from 'fastify'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { ArrivalWatch } from './arrival-watch.ts'
import type { ByteBudget, ByteExcess } from '../../lib/byte-budget.ts'
import { declaredBytes } from './request-head.ts'
import { createRequestSlot } from './request-slot.ts'

/** Bodies up to this size are not counted: the number of connections bounds them. */
const UNCOUNTED_BYTES = 16 * 1024

/** The memory for bodies is used up; the error handler answers in the format of the route. */
export class BodyRefused extends Error {
  readonly excess: ByteExcess
  constructor(excess: ByteExcess) {
    super(`the limit of bytes in flight is reached: ${excess}`)
    this.excess = excess
  }
}

/** The status is read by the framework's error handling. */
class BodyTooLarge extends Error {
  readonly statusCode = 413
}

class BodyCut extends Error {
  readonly statusCode = 400
}

interface BodyOwner {
  /** The caller whose limit the bytes of the body count for. */
  readonly subject: string
  /** Until it closes, the body counts. */
  readonly response: ServerResponse
}

/** The owner of each body that is counted. */
const owners = createRequestSlot<BodyOwner>('body owner')

/** `subjectOf` is called only if the body will be counted. */
export function setBodyOwner(
  request: FastifyRequest,
  response: ServerResponse,
  subjectOf: () => string,
): void {
  const bytes = declaredBytes(request)
  if (bytes === undefined || bytes > UNCOUNTED_BYTES)
    owners.set(request, { subject: subjectOf(), response })
}

type Done = (error: Error | null, body?: Buffer) => void

/**
 * Reads a body into memory as its parts arrive. Each part is counted before it is kept, so a client that declares much
 * and sends little occupies little.
 */
export function createReadBody(
  budget: ByteBudget,
  arrivals: Pick<ArrivalWatch, 'end'>,
): (request: FastifyRequest, payload: IncomingMessage, done: Done) => void {
  return function readBody(request, payload, done) {
    const bytesMax = request.routeOptions.bodyLimit
    if ((declaredBytes(request) ?? 0) > bytesMax)
      return done(new BodyTooLarge('the body is too large'))
    const owner = owners.get(request)
    const chunks: Buffer[] = []
    let bytes = 0
    let counted = 0
    let hasEnded = false

    const onData = (chunk: Buffer): void => {
      bytes += chunk.length
      if (bytes > bytesMax) return end(new BodyTooLarge('the body is too large'))
      chunks.push(chunk)
      if (bytes <= UNCOUNTED_BYTES || !owner) return
      const excess = budget.take(owner.subject, bytes - counted)
      if (excess !== 'taken') return end(new BodyRefused(excess))
      if (counted === 0) owner.response.once('close', () => budget.release(owner.subject, counted))
      counted = bytes
    }
    const onEnd = (): void => end(null)
    const onClose = (): void => end(new BodyCut('the request ended early'))
    function end(error: Error | null): void {
      if (hasEnded) return
      hasEnded = true
      payload.off('data', onData)
      payload.off('end', onEnd)
      payload.off('close', onClose)
      if (error) {
        chunks.length = 0
        return done(error)
      }
      arrivals.end(payload)
      done(null, chunks.length === 1 ? chunks[0] : Buffer.concat(chunks, bytes))
    }
    payload.on('data', onData)
    payload.on('end', onEnd)
    payload.on('close', onClose)
    payload.on('error', onClose)
  }
}
