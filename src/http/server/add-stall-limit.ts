import type { FastifyInstance } from 'fastify'
import { LARGE_ANSWER_BYTES } from '../rest/count-unread.ts'

/** The time within which a client must read a part of an answer that waits for it. */
const STALL_MS = 60_000

/**
 * Disconnects clients that do not read their answers: while one waits, it occupies memory. Downloads, which may have
 * nothing to send for a while, set a limit of their own.
 */
export function addStallLimit(server: FastifyInstance, stallMs = STALL_MS): void {
  server.addHook('onSend', (_request, reply, payload, done) => {
    const isText = typeof payload === 'string' || Buffer.isBuffer(payload)
    if (isText ? payload.length > LARGE_ANSWER_BYTES : isStream(payload)) {
      // The platform counts from the last byte that the client took.
      if (!reply.raw.socket?.timeout) reply.raw.setTimeout(stallMs)
    }
    done()
  })
}

function isStream(payload: unknown): boolean {
  return typeof payload === 'object' && payload !== null && 'pipe' in payload
}
