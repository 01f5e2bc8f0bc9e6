import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Actor } from '../../platform/audit-log/audited.ts'
import { holdActiveKey } from '../../customers/api-keys.ts'
import type { KeyCache } from '../../customers/key-cache.ts'
import type { KeyScope } from '../../customers/key-scopes.ts'
import { plainIp } from '../../customers/ip-allowlist.ts'
import type { Database } from '../../platform/db/open.ts'
import { bearerOf } from '../../gateway/calls/admit.ts'
import { refusals } from '../../gateway/calls/refusal.ts'
import type { SignIn } from '../../identity/sign-in/create-sign-in.ts'
import { holdActiveSession } from '../../identity/sign-in/sessions.ts'
import { accessFacts } from '../server/access-log.ts'
import { isRead } from './access.ts'
import { authorizationOf } from './request-headers.ts'
import { clientErrorsOf } from './error-formats.ts'
import type { RestLimits } from './rest-limits.ts'
import { RestRefusal } from './rest-refusal.ts'

export interface AuthenticateDeps {
  readonly keys: KeyCache
  readonly signIn: SignIn
  readonly restLimits: RestLimits
}

/** The caller that acts for a customer: an API key, or the customer in a login session. */
export type Caller = {
  readonly customerId: string
  readonly ip: string
} & (
  | { readonly keyId: string; readonly scope: KeyScope; readonly sessionId?: undefined }
  | {
      readonly sessionId: string
      /** Whether the user proved their identity within the last ten minutes. */
      readonly isProved: boolean
      /** Whether the user has shown a second factor in this session. */
      readonly hasFactor: boolean
      /** In lower case. */
      readonly email: string
      readonly keyId?: undefined
    }
)

export const CSRF_HEADER = 'x-csrf-token'

/** Returns the caller as the audit log records it. */
export function actorOf(caller: Caller): Actor {
  const { customerId, ip } = caller
  return caller.keyId === undefined
    ? { kind: 'customer', customerId, sessionId: caller.sessionId, isProved: caller.isProved, ip }
    : { kind: 'customer', customerId, apiKeyId: caller.keyId, ip }
}

/**
 * Whether the caller may still act, even if this node has not been notified of a change yet. Until the end of the
 * transaction the key cannot be revoked, and the session cannot end.
 */
export function holdCaller(trx: Database, caller: Caller): Promise<boolean> {
  return caller.keyId === undefined
    ? holdActiveSession(trx, caller.sessionId)
    : holdActiveKey(trx, caller.keyId)
}

/**
 * Identifies the caller of a REST request and counts the request. Without a valid key or session it sends the answer
 * (401 with no body) and returns undefined. Throws a `RestRefusal` for an address that the key does not allow, for a
 * paused key, for a team's key, for a page of another site that uses the browser's session, and for too many requests.
 */
export async function authenticate(
  deps: AuthenticateDeps,
  request: FastifyRequest,
  reply: FastifyReply,
  { takesTeamKeys = false }: { readonly takesTeamKeys?: boolean | undefined } = {},
): Promise<Caller | undefined> {
  const ip = plainIp(request.ip)
  // Browsers never send a key by themselves, so it wins over any cookie.
  const authorization = authorizationOf(request.headers)
  if (authorization === undefined) return ofSession(deps, request, reply, ip)
  const secret = bearerOf(authorization)
  // A key in use is not refused for the wrong keys of others behind its address.
  if (secret !== undefined && !deps.keys.isKnown(secret)) deps.restLimits.assertMayTryKeys(request)
  const key = secret === undefined ? undefined : await deps.keys.find(secret)
  if (!key) return refuseStranger(deps, request, reply)
  const facts = accessFacts.get(request)
  if (facts) facts.keyId = key.id
  if (key.ipMatcher && !key.ipMatcher.matches(ip)) {
    // Not the key's count: its owner may be elsewhere.
    deps.restLimits.countStranger(request)
    throw new RestRefusal(403, 'ip_blocked_by_allowlist')
  }
  const caller = { customerId: key.customerId, keyId: key.id, scope: key.scope, ip }
  deps.restLimits.countCaller(request, caller)
  if (key.pausedReason) throw new RestRefusal(403, 'key_paused', key.pausedReason)
  // A member of a team spends within its cap, and must not see or manage the account that pays.
  if (key.teamId !== null && !takesTeamKeys)
    throw new RestRefusal(403, 'forbidden', 'a chave de uma equipe serve só para chamar modelos')
  return caller
}

async function refuseStranger(
  { restLimits }: AuthenticateDeps,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<undefined> {
  const { headers } = request
  if (authorizationOf(headers) === undefined && headers.cookie === undefined)
    restLimits.countStranger(request)
  else restLimits.countWrongKey(request)
  const errors = clientErrorsOf(request.routeOptions.url ?? '')
  if (!errors) await reply.code(401).send()
  else {
    const isMissing = authorizationOf(headers) === undefined
    const refused = isMissing ? refusals.keyMissing() : refusals.authenticationFailed()
    const body = errors.bodyOf(refused, request.id)
    await reply.code(401).type('application/json; charset=utf-8').send(body)
  }
  return undefined
}

async function ofSession(
  deps: AuthenticateDeps,
  request: FastifyRequest,
  reply: FastifyReply,
  ip: string,
): Promise<Caller | undefined> {
  const { signIn, restLimits } = deps
  const session = await signIn.findSession(request.headers.cookie)
  if (!session) return refuseStranger(deps, request, reply)
  // The browser sends the cookie for any site; only our own pages can read the token. A read needs none, but one of
  // another session is refused: a tab must not show the data of whoever signed in in another tab.
  const token = request.headers[CSRF_HEADER]
  if ((!isRead(request.method) || token !== undefined) && !signIn.isCsrfToken(session.id, token))
    throw new RestRefusal(
      403,
      'csrf_token_missing',
      `${CSRF_HEADER}: deve ser o csrf_token de GET /v1/session`,
    )
  reply.header('cache-control', 'no-store')
  const { id: sessionId, customerId, email, isProved, hasFactor } = session
  const caller = { customerId, sessionId, email, isProved, hasFactor, ip }
  restLimits.countCaller(request, caller)
  return caller
}
