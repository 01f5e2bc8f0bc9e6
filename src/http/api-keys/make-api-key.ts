import type { ApiKey, ApiKeyInput } from '../../customers/api-keys.ts'
import { lockCustomer } from '../../customers/customers.ts'
import { createKey } from '../../customers/key-acts.ts'
import type { Database } from '../../db/open.ts'
import { actorOf, holdCaller, type Caller } from '../rest/authenticate.ts'

/** Unrevoked keys of one customer, with those of their teams: revoking them all must come to an end. */
export const KEYS_MAX = 1_000

/**
 * Makes a key for the account that pays. `assertRoom` throws when the account has as many keys as it may; no other
 * key is made meanwhile. Undefined when the caller's own key was revoked or the session ended: this node may not
 * have heard of it yet, and a revoked key must not make another one.
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
