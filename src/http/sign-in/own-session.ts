import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Session } from '../../identity/sign-in/sessions.ts'
import { CSRF_HEADER, actorOf } from '../rest/authenticate.ts'
import type { HttpParts } from '../rest/parts.ts'
import { originOf } from '../rest/request-headers.ts'
import type { Actor } from '../../platform/audit-log/audited.ts'
import { plainIp } from '../../customers/ip-allowlist.ts'
import type { Auth } from '../../identity/sign-in/create-auth.ts'
import { PASSWORD_MAX } from '../../identity/sign-in/sign-in-terms.ts'

/** What a route needs of a login session. `proof` means that its user must have proved their identity recently. */
export type Needs = 'session' | 'proof'

/**
 * Returns the login session of a request that requires one. Undefined means that the request was refused, and the
 * answer is sent. A cookie alone allows no change, because any site can make the browser send it.
 */
export async function ownSession(
  deps: Pick<HttpParts, 'signIn' | 'config'>,
  request: FastifyRequest,
  reply: FastifyReply,
  needs: Needs,
): Promise<Session | undefined> {
  const refuse = async (status: number, code: string, message: string): Promise<undefined> => {
    await sendFault(reply, status, code, message)
  }
  const session = await deps.signIn.findSession(request.headers.cookie)
  if (!session) return refuse(401, 'UNAUTHORIZED', 'nobody is signed in')
  const isRead = request.method === 'GET'
  const token = request.headers[CSRF_HEADER]
  if (!isRead || token !== undefined) {
    if (!isRead && !isFromOwnPage(deps, request))
      return refuse(403, 'INVALID_ORIGIN', 'the request comes from a page of another site')
    if (!deps.signIn.isCsrfToken(session.id, token))
      return refuse(
        403,
        'CSRF_TOKEN_MISSING',
        `${CSRF_HEADER}: deve ser o csrf_token de GET /v1/session`,
      )
  }
  if (needs === 'proof' && !session.isProved)
    return refuse(403, 'PROOF_NEEDED', 'prove first to be who you are: POST /auth/security/prove')
  return session
}

export function isFromOwnPage(
  { config: { publicUrl } }: Pick<HttpParts, 'config'>,
  request: FastifyRequest,
): boolean {
  return request.headers.origin === originOf(request, publicUrl)
}

/** Sends an error in better-auth's format. */
export function sendFault(
  reply: FastifyReply,
  status: number,
  code: string,
  message: string,
): FastifyReply {
  return sendAuthJson(reply, status, JSON.stringify({ code, message }))
}

export function sendTooMany(reply: FastifyReply, retryAfter: number): FastifyReply {
  reply.header('retry-after', retryAfter)
  return sendFault(reply, 429, 'TOO_MANY_REQUESTS', `tente de novo em ${retryAfter} s`)
}

export function sendAuthJson(reply: FastifyReply, status: number, json: string): FastifyReply {
  return reply
    .code(status)
    .header('cache-control', 'no-store')
    .type('application/json; charset=utf-8')
    .send(json)
}

export function actorOfSession(
  { id: sessionId, ...session }: Session,
  request: FastifyRequest,
): Actor {
  return actorOf({ ...session, sessionId, ip: plainIp(request.ip) })
}

export async function isPasswordOf(auth: Auth, userId: string, password: string): Promise<boolean> {
  const { internalAdapter, password: passwords } = await auth.$context
  const accounts = await internalAdapter.findAccounts(userId)
  const hash = accounts.find(({ providerId }) => providerId === 'credential')?.password
  return (
    typeof hash === 'string' &&
    password.length <= PASSWORD_MAX &&
    (await passwords.verify({ hash, password }))
  )
}
