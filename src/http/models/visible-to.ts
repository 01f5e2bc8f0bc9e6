import type { FastifyRequest } from 'fastify'
import { plainIp } from '../../customers/ip-allowlist.ts'
import type { KeyCache } from '../../customers/key-cache.ts'
import { bearerOf, mayUse } from '../../gateway/calls/admit.ts'
import type { Model } from '../../money/catalog/model.ts'
import { authorizationOf } from '../rest/authorization-of.ts'
import type { RestLimits } from '../rest/rest-limits.ts'
import { accessFacts } from '../server/access-log.ts'
import { RestRefusal } from '../rest/rest-refusal.ts'

export interface CallerOfCatalogDeps {
  readonly keys: Pick<KeyCache, 'find' | 'isKnown'>
  readonly restLimits: Pick<RestLimits, 'assertMayTryKeys' | 'countWrongKey'>
}

/**
 * Which models a caller of the public catalog sees: without a key all, with a key those that it may call. Undefined for
 * a wrong key, so that a client's test of its settings fails. Throws a `RestRefusal` for an address that the key does not
 * allow, and for too many wrong keys.
 */
export async function visibleTo(
  { keys, restLimits }: CallerOfCatalogDeps,
  request: FastifyRequest,
): Promise<((model: Model) => boolean) | undefined> {
  const authorization = authorizationOf(request.headers)
  if (authorization === undefined) return () => true
  const secret = bearerOf(authorization)
  // A key in use is not refused for the wrong keys of others behind its address.
  if (secret !== undefined && !keys.isKnown(secret)) restLimits.assertMayTryKeys(request)
  const key = secret === undefined ? undefined : await keys.find(secret)
  if (!key) {
    restLimits.countWrongKey(request)
    return undefined
  }
  const facts = accessFacts.get(request)
  if (facts) facts.keyId = key.id
  if (key.ipMatcher && !key.ipMatcher.matches(plainIp(request.ip)))
    throw new RestRefusal(403, 'ip_blocked_by_allowlist')
  return (model) => mayUse(key, model)
}
