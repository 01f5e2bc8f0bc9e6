import { timingSafeEqual } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import { sha256 } from '../../lib/ids.ts'

/** Who may read the pages for the operator's own machines: `/metrics` and the mailbox of the sandbox. */
export interface OperatorAccess {
  /** The token that callers need; undefined: callers on this machine need none. */
  readonly token: string | undefined
  /**
   * False if a proxy may stand before this server: then every caller seems to be on this machine, and only a token
   * proves who it is.
   */
  readonly trustsThisMachine: boolean
}

const LOOPBACK = /^(::ffff:)?127\.|^::1$/
const LOCAL_NAME = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])(:\d+)?$/i

/** Accepts the operator's token; without a configured token, accepts callers on this machine. */
export function isOperator(
  { headers, socket }: FastifyRequest,
  { token, trustsThisMachine }: OperatorAccess,
): boolean {
  if (token !== undefined) {
    // Hashes have equal lengths, so the time of the comparison reveals nothing.
    return timingSafeEqual(sha256(headers.authorization ?? ''), sha256(`Bearer ${token}`))
  }
  return (
    trustsThisMachine &&
    LOOPBACK.test(socket.remoteAddress ?? '') &&
    // A forwarded request only looks local.
    headers['x-forwarded-for'] === undefined &&
    headers.forwarded === undefined &&
    // A page of another site can reach this machine through a browser, under a host name that it controls (DNS rebinding).
    LOCAL_NAME.test(headers.host ?? '')
  )
}
