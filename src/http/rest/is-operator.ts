import { timingSafeEqual } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import { sha256 } from '../../lib/ids.ts'

const LOOPBACK = /^(::ffff:)?127\.|^::1$/

/** Whoever has the operator's token; where there is none, whoever is on this machine. */
export function isOperator(request: FastifyRequest, token: string | undefined): boolean {
  if (token !== undefined) {
    // Hashing first makes the lengths equal, so that the comparison tells nothing by its time.
    return timingSafeEqual(sha256(request.headers.authorization ?? ''), sha256(`Bearer ${token}`))
  }
  // A forwarded request only looks local.
  return (
    LOOPBACK.test(request.socket.remoteAddress ?? '') &&
    request.headers['x-forwarded-for'] === undefined
  )
}
