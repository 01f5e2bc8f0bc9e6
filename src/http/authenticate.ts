import type { FastifyReply, FastifyRequest } from 'fastify'
import { plainIp } from '../customers/ip-allowlist.ts'
import type { ActiveKey } from '../customers/key-cache.ts'
import { bearerOf } from '../gateway/admit.ts'
import type { HttpDeps } from './http-deps.ts'
import { restError } from './rest-error.ts'

/**
 * The key of a REST call, which acts for its customer. Where there is none the answer is sent (401
 * with no body, 403 for an address that the key does not allow) and the result is undefined.
 */
export async function authenticate(
  deps: Pick<HttpDeps, 'keys'>,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<ActiveKey | undefined> {
  const secret = bearerOf(request.headers.authorization)
  const key = secret === undefined ? undefined : await deps.keys.find(secret)
  if (!key) {
    await reply.code(401).send()
    return undefined
  }
  if (key.ipMatcher && !key.ipMatcher.matches(plainIp(request.ip))) {
    await restError(reply, 403, 'ip_blocked_by_allowlist')
    return undefined
  }
  return key
}
