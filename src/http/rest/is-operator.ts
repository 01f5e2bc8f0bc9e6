import { timingSafeEqual } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import { sha256 } from '../../lib/ids.ts'

const LOOPBACK = /^(::ffff:)?127\.|^::1$/

/** Accepts the operator's token; without a configured token, accepts callers on this machine. */
export function isOperator(request: FastifyRequest, token: string | undefined): boolean {
  if (token !== undefined) {
    // Hashes have equal lengths, so the time of the comparison reveals nothing.
    return timingSafeEqual(sha256(request.headers.authorization ?? ''), sha256(`Bearer ${token}`))
  }
  // A forwarded request only looks local.
  return (
    LOOPBACK.test(request.socket.remoteAddress ?? '') &&
    request.headers['x-forwarded-for'] === undefined
  )
}
