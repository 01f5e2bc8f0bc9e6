import type { FastifyRequest } from 'fastify'
import type { Actor } from '../../audit-log/audited.ts'
import { plainIp } from '../../customers/ip-allowlist.ts'
import type { Session } from '../../sign-in/sessions.ts'
import { actorOf } from '../rest/authenticate.ts'

export function actorOfSession(
  { id, customerId, isProved }: Session,
  request: FastifyRequest,
): Actor {
  return actorOf({ customerId, sessionId: id, isProved, ip: plainIp(request.ip) })
}
