import Type from 'typebox'
import { listOwnKeyIds, listUnrevokedKeyIds } from '../../customers/api-keys.ts'
import { revokeKey } from '../../customers/key-acts.ts'
import { actorOf, type Caller } from '../rest/authenticate.ts'
import { answer, count } from '../rest/values.ts'
import type { HttpParts } from '../rest/parts.ts'
import { restRoute } from '../rest/rest-route.ts'
import { RestRefusal } from '../rest/rest-refusal.ts'

type Deps = Pick<HttpParts, 'db' | 'log'>

const IDS_MAX = 100
/** A key may have created another one just before its revocation; each round revokes the keys created during the previous one. */
const ROUNDS_MAX = 10

interface Counts {
  revoked: number
  alreadyInactive: number
  /** Ids of keys that the database failed to revoke; the others are revoked nevertheless. */
  gatewayFailures: number
}

export const bulkRevokeRoutes = [
  restRoute({
    method: 'POST',
    path: '/api-keys/bulk-revoke',
    tag: 'Chaves',
    summary: 'Revoga várias chaves, ou todas',
    access: 'account',
    body: Type.Object(
      {
        all: Type.Optional(Type.Literal(true, { description: 'Todas; sem `ids`.' })),
        ids: Type.Optional(
          // Without the prefix `urn:uuid:`, which the format allows and the database does not.
          Type.Array(Type.String({ format: 'uuid', maxLength: 36 }), {
            maxItems: IDS_MAX,
            description: 'Só estas; sem `all`. Um id que não é da conta não conta.',
          }),
        ),
      },
      { additionalProperties: false },
    ),
    answer: answer({ revoked: count, alreadyInactive: count, gatewayFailures: count }),
    async handle({ caller, body: { all, ids } }, deps: Deps) {
      if ((all === undefined) === (ids === undefined))
        throw new RestRefusal(400, 'invalid_request', 'body: deve ter all ou ids')
      return ids ? revokeThese(deps, caller, ids) : revokeAll(deps, caller)
    },
  }),
]

/** An id that is no key of the caller's is not counted: nothing is said of it. */
async function revokeThese(deps: Deps, caller: Caller, ids: readonly string[]): Promise<Counts> {
  const wanted = [...new Set(ids.map((id) => id.toLowerCase()))]
  const counts: Counts = { revoked: 0, alreadyInactive: 0, gatewayFailures: 0 }
  for (const id of await listOwnKeyIds(deps.db, caller.customerId, wanted))
    await revokeOne(deps, caller, id, counts)
  return counts
}

async function revokeAll(deps: Deps, caller: Caller): Promise<Counts> {
  const counts: Counts = { revoked: 0, alreadyInactive: 0, gatewayFailures: 0 }
  const tried = new Set<string>()
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    const listed = await listUnrevokedKeyIds(deps.db, caller.customerId)
    const ids = listed.filter((id) => !tried.has(id))
    if (ids.length === 0) break
    for (const id of ids) {
      tried.add(id)
      await revokeOne(deps, caller, id, counts)
    }
  }
  return counts
}

/** Each in a separate transaction, so that a failure affects this key only. */
async function revokeOne(
  { db, log }: Deps,
  caller: Caller,
  id: string,
  counts: Counts,
): Promise<void> {
  const { customerId } = caller
  try {
    const outcome = await revokeKey(db, actorOf(caller), { keyId: id, customerId })
    if (outcome === 'revoked') counts.revoked += 1
    else counts.alreadyInactive += 1
  } catch (error) {
    log.error('key_revocation_failed', { apiKeyId: id, error })
    counts.gatewayFailures += 1
  }
}
