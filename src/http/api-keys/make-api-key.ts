import type { ApiKey, ApiKeyInput } from '../../customers/api-keys.ts'
import { lockCustomer } from '../../customers/customers.ts'
import { createKey } from '../../customers/key-acts.ts'
import { countKeysEver } from '../../customers/api-keys.ts'
import type { KeyRefusal } from '../../customers/key-makers.ts'
import type { Database } from '../../platform/db/open.ts'
import { actorOf, holdCaller, type Caller } from '../rest/authenticate.ts'
import { RestRefusal } from '../rest/rest-refusal.ts'

/** The most active keys of one customer, including their teams' keys: it bounds the work of revoking all of them. */
export const KEYS_MAX = 1_000
/**
 * The most API keys that one customer may ever have. Revoked ones count: their rows stay because usage refers to them.
 */
export const KEYS_EVER_MAX = 10_000

/**
 * Creates a key for the account that pays. `assertRoom` throws if the account has reached its limit of keys; no other
 * key is created meanwhile. Returns undefined if the caller's own key was revoked or the session ended: this node may
 * not know yet, and a revoked key must not create another one. Throws a `RestRefusal` for a key that the caller may not
 * make.
 */
export async function makeApiKey(
  trx: Database,
  caller: Caller,
  input: ApiKeyInput,
  assertRoom: () => Promise<void>,
): Promise<{ key: ApiKey; secret: string } | undefined> {
  await lockCustomer(trx, input.customerId)
  if (!(await holdCaller(trx, caller))) return undefined
  if ((await countKeysEver(trx, input.customerId)) >= KEYS_EVER_MAX)
    throw new RestRefusal(409, 'too_many_keys', `no máximo ${KEYS_EVER_MAX} com as revogadas`)
  await assertRoom()
  const made = await createKey(trx, actorOf(caller), input)
  if (made.kind === 'own_key_ended') return undefined
  if (made.kind !== 'created') throw refusalOfKey(made)
  return made
}

/** The codes of `refusalOfKey`. */
export const KEY_REFUSALS = ['proof_needed', 'beyond_own_key'] as const

export function refusalOfKey(refusal: Exclude<KeyRefusal, { kind: 'own_key_ended' }>): RestRefusal {
  if (refusal.kind === 'scope_of_team')
    return new RestRefusal(
      400,
      'invalid_request',
      'scope: a chave de uma equipe serve só para chamar modelos',
    )
  if (refusal.kind === 'scope_of_operator')
    return new RestRefusal(
      400,
      'invalid_request',
      'scope: uma chave operator não muda, e nenhuma outra passa a ser; crie uma nova',
    )
  return refusal.kind === 'proof_needed'
    ? new RestRefusal(
        403,
        refusal.kind,
        'scope: manage e operator só são dados em uma sessão do painel, depois de POST /auth/security/prove',
      )
    : new RestRefusal(
        403,
        refusal.kind,
        `${refusal.field}: não pode passar do que tem a chave que pede`,
      )
}
