import type { FastifyRequest } from 'fastify'
import type { Actor } from '../../platform/audit-log/audited.ts'
import { plainIp } from '../../customers/ip-allowlist.ts'
import type { Session } from '../../identity/sign-in/sessions.ts'
import { actorOf } from '../rest/authenticate.ts'

export function actorOfSession(
  { id: sessionId, ...session }: Session,
  request: FastifyRequest,
): Actor {
  return actorOf({ ...session, sessionId, ip: plainIp(request.ip) })
}
