import type { ApiKey, ApiKeyInput } from '../../customers/api-keys.ts'
import { lockCustomer } from '../../customers/customers.ts'
import { createKey } from '../../customers/key-acts.ts'
import type { Database } from '../../db/open.ts'
import { actorOf, holdCaller, type Caller } from '../rest/authenticate.ts'

/** Active keys of one customer, including their teams' keys: bounds the work of revoking all of them. */
export const KEYS_MAX = 1_000

/**
 * Creates a key for the account that pays. `assertRoom` throws if the account has reached its limit of keys; no other
 * key is created meanwhile. Returns undefined if the caller's own key was revoked or the session ended: this node may
 * not know yet, and a revoked key must not create another one.
 */
export async function makeApiKey(
  trx: Database,
  caller: Caller,
  input: ApiKeyInput,
  assertRoom: () => Promise<void>,
): Promise<{ key: ApiKey; secret: string } | undefined> {
  await lockCustomer(trx, input.customerId)
  if (!(await holdCaller(trx, caller))) return undefined
  await assertRoom()
  return createKey(trx, actorOf(caller), input)
}
