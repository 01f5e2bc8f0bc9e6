import type { FastifyReply, FastifyRequest } from 'fastify'
import { plainIp } from '../customers/ip-allowlist.ts'
import { bearerOf } from '../gateway/admit.ts'
import type { HttpDeps } from './http-deps.ts'
import { RestRefusal } from './rest-refusal.ts'

/** Who acts: a key acts for its customer. */
export interface Caller {
  readonly customerId: string
  readonly keyId: string
}

/**
 * Who a REST call comes from. Where there is nobody the answer is sent (401 with no body) and the result
 * is undefined. Throws a `RestRefusal` for an address that the key does not allow.
 */
export async function authenticate(
  deps: Pick<HttpDeps, 'keys'>,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<Caller | undefined> {
  const secret = bearerOf(request.headers.authorization)
  const key = secret === undefined ? undefined : await deps.keys.find(secret)
  if (!key) {
    await reply.code(401).send()
    return undefined
  }
  if (key.ipMatcher && !key.ipMatcher.matches(plainIp(request.ip)))
    throw new RestRefusal(403, 'ip_blocked_by_allowlist')
  return { customerId: key.customerId, keyId: key.id }
}
