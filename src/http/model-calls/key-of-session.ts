import type { FastifyRequest } from 'fastify'
import type { ActiveKey } from '../../customers/key-cache.ts'
import { CSRF_HEADER } from '../rest/authenticate.ts'
import { authorizationOf } from '../rest/request-headers.ts'
import type { HttpParts } from '../rest/parts.ts'

export const KEY_ID_HEADER = 'x-svc-api-key-id'

/**
 * A customer in a login session has no secret, and calls a model by naming one of their keys, whose limits apply to the
 * call. Undefined if the request names no key or contains a secret. The returned function finds no key for a page of
 * another site that uses the browser's session, nor a key of another account.
 */
export function keyOfSession(
  { keys, signIn }: Pick<HttpParts, 'keys' | 'signIn'>,
  { headers }: FastifyRequest,
): (() => Promise<ActiveKey | undefined>) | undefined {
  const keyId = headers[KEY_ID_HEADER]
  if (authorizationOf(headers) !== undefined || typeof keyId !== 'string') return undefined
  return async () => {
    const session = await signIn.findSession(headers.cookie)
    if (!session || !signIn.isCsrfToken(session.id, headers[CSRF_HEADER])) return undefined
    const key = await keys.findOwn(session.customerId, keyId)
    return key && withoutConversations(key)
  }
}

/**
 * A team's key pays for its owner's call, but what it stored is read by its program alone: such a call neither continues
 * nor stores a response.
 */
function withoutConversations(key: ActiveKey): ActiveKey {
  return key.teamId === null ? key : { ...key, storedResponsesDays: null }
}
