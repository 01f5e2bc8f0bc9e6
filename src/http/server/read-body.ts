import type { FastifyRequest } from 'fastify'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { TOO_MANY_PARTS } from './bounded-request.ts'
import { BlockJoiner } from '../../platform/lib/block-joiner.ts'
import type { Excess, Held, Share } from '../../platform/admission/share.ts'
import { codingOf, decompress } from './decompress.ts'
import { declaredBytes } from './request-head.ts'
import { createRequestSlot } from './serve-in-turn.ts'

/**
 * Disconnects clients whose request body does not arrive in time. The server's own timeout is as long as the longest
 * upload needs; this one applies to every other body. Checking all of them at intervals costs less than a timer for
 * each.
 */
interface ArrivalWatch {
  begin(request: IncomingMessage): void
  /** The body is complete. */
  end(request: IncomingMessage): void
  stop(): void
}

const LOOK_EVERY_MS = 5_000

export function createArrivalWatch(
  timeoutMs: number,
  onLate: (request: IncomingMessage) => void,
): ArrivalWatch {
  const arriving = new Map<IncomingMessage, number>()
  const timer = setInterval(() => {
    const latest = performance.now() - timeoutMs
    for (const [request, sinceMs] of arriving) {
      const isOver = request.complete || request.destroyed
      if (!isOver && sinceMs > latest) continue
      arriving.delete(request)
      if (!isOver) onLate(request)
    }
  }, LOOK_EVERY_MS)
  timer.unref()
  return {
    begin: (request) => void arriving.set(request, performance.now()),
    end: (request) => void arriving.delete(request),
    stop: () => clearInterval(timer),
  }
}

/** Bodies up to this size are not counted: the number of connections bounds them. */
const UNCOUNTED_BYTES = 16 * 1024

/** Thrown when the memory for bodies is used up; the error handler answers in the format of the route. */
export class BodyRefused extends Error {
  readonly excess: Excess
  constructor(excess: Excess) {
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

class BodyUndecodable extends Error {
  readonly statusCode = 400
}

/** Thrown when the body is compressed in a way that this route does not read. */
export class CodingRefused extends Error {
  readonly statusCode = 415
}

interface BodyOwner {
  /** The caller whose limit the bytes of the body count for. */
  readonly subject: string
  /** Until it closes, the body counts; longer if it is used. */
  readonly response: ServerResponse
  /** The caller is known, so a compressed body is decompressed. */
  readonly mayCompress: boolean
  /** A call or the decompressor has the body in memory, whether or not its client is still there. */
  isUsed: boolean
  /** What the body holds, if the response closed while it was used. */
  held?: Held
}

/** The owner of each body that is counted. */
const owners = createRequestSlot<BodyOwner>('body owner')

/** `subjectOf` is called only if the body will be counted. */
export function setBodyOwner(
  request: FastifyRequest,
  response: ServerResponse,
  subjectOf: () => string,
  mayCompress = false,
): void {
  const bytes = declaredBytes(request)
  const isCompressed = codingOf(request.headers) !== undefined
  if (isCompressed || bytes === undefined || bytes > UNCOUNTED_BYTES)
    owners.set(request, { subject: subjectOf(), response, mayCompress, isUsed: false })
}

/** The body of this request counts until the returned function is called, also if its client leaves before. */
export function useBody(request: FastifyRequest): () => void {
  const owner = owners.get(request)
  return owner ? useBy(owner) : () => {}
}

function useBy(owner: BodyOwner): () => void {
  owner.isUsed = true
  return () => {
    owner.isUsed = false
    owner.held?.[Symbol.dispose]()
    delete owner.held
  }
}

type Done = (error: Error | null, body?: Buffer) => void

/**
 * Reads a body into memory as its parts arrive. Each part is counted before it is kept, so a client that declares much
 * and sends little occupies little. A compressed body counts twice: as it arrived, and decompressed.
 */
export function createReadBody(
  budget: Share,
  arrivals: Pick<ArrivalWatch, 'end'>,
): (request: FastifyRequest, payload: IncomingMessage, done: Done) => void {
  return function readBody(request, payload, done) {
    const bytesMax = request.routeOptions.bodyLimit
    if ((declaredBytes(request) ?? 0) > bytesMax)
      return done(new BodyTooLarge('the body is too large'))
    const owner = owners.get(request)
    const coding = codingOf(request.headers)
    if (coding === 'unknown' || (coding && !owner?.mayCompress))
      return done(new CodingRefused('this coding of the body is not read'))
    const chunks: Buffer[] = []
    const joiner = new BlockJoiner()
    const keep = (block: Buffer): void => void chunks.push(block)
    let bytes = 0
    let hasEnded = false
    let held: Held | undefined

    const onData = (chunk: Buffer): void => {
      bytes += chunk.length
      if (bytes > bytesMax) return end(new BodyTooLarge('the body is too large'))
      joiner.add(chunk, keep)
      const excess = count(bytes)
      if (excess) end(excess)
    }
    /** Counts bytes up to this total. */
    function count(total: number): BodyRefused | undefined {
      if (total <= UNCOUNTED_BYTES || !owner) return undefined
      held ??= budget.open(owner.subject)
      const isFirst = held.amount === 0
      const excess = held.take(total - held.amount)
      if (excess) return new BodyRefused(excess)
      if (isFirst) owner.response.once('close', () => giveBack(owner))
      return undefined
    }
    function giveBack(owner: BodyOwner): void {
      if (owner.isUsed && held) owner.held = held
      else held?.[Symbol.dispose]()
    }
    function mayKeep(decompressed: number): void {
      // What is counted after the end of the response is never released.
      if (owner?.response.closed) throw new BodyCut('the client left')
      if (decompressed > bytesMax) throw new BodyTooLarge('the decompressed body is too large')
      const excess = count(bytes + decompressed)
      if (excess) throw excess
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
      joiner.flush(keep)
      const body = chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks, bytes)
      if (!coding || coding === 'unknown' || !owner) return done(null, body)
      // The compressed body stays in memory until its turn, even if its client leaves before.
      const endUse = useBy(owner)
      decompress(body, coding, owner.subject, mayKeep)
        .finally(endUse)
        .then(
          (whole) => (whole ? done(null, whole) : done(new BodyRefused('own'))),
          (error: unknown) =>
            done(isOwnError(error) ? error : new BodyUndecodable('no such coding')),
        )
    }
    payload.on('data', onData)
    payload.on('end', onEnd)
    payload.on('close', onClose)
    payload.on('error', onClose)
    payload.on(TOO_MANY_PARTS, () => end(new BodyTooLarge('the body comes in too many parts')))
  }
}

function isOwnError(error: unknown): error is Error {
  return error instanceof BodyRefused || error instanceof BodyTooLarge || error instanceof BodyCut
}
