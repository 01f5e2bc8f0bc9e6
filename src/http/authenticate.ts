import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Actor } from '../audit-log/audited.ts'
import { plainIp } from '../customers/ip-allowlist.ts'
import { bearerOf } from '../gateway/admit.ts'
import type { HttpDeps } from './http-deps.ts'
import { RestRefusal } from './rest-refusal.ts'

/** Who acts: a key acts for its customer. */
export interface Caller {
  readonly customerId: string
  readonly keyId: string
  readonly ip: string
}

/** Who acts, as the audit log tells it. */
export function actorOf({ customerId, keyId, ip }: Caller): Actor {
  return { kind: 'customer', customerId, apiKeyId: keyId, ip }
}

/**
 * Who a REST call comes from. Where there is nobody the answer is sent (401 with no body) and the result
 * is undefined. Throws a `RestRefusal` for an address that the key does not allow, and for a team's key.
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
  const ip = plainIp(request.ip)
  if (key.ipMatcher && !key.ipMatcher.matches(ip))
    throw new RestRefusal(403, 'ip_blocked_by_allowlist')
  // A member of a team spends within its cap, and is not to see or manage the account that pays.
  if (key.teamId !== null)
    throw new RestRefusal(403, 'forbidden', 'a key of a team is for model calls only')
  return { customerId: key.customerId, keyId: key.id, ip }
}
