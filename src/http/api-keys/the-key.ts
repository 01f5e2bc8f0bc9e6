import { findApiKeyDetails, type ApiKeyDetails } from '../../customers/api-key-details.ts'
import type { Database } from '../../platform/db/open.ts'
import type { Caller } from '../rest/authenticate.ts'
import { RestRefusal } from '../rest/rest-refusal.ts'

/** Throws a 404 for an id that is not a key of the caller. */
export async function theKey(db: Database, caller: Caller, keyId: string): Promise<ApiKeyDetails> {
  const key = await findApiKeyDetails(db, caller.customerId, keyId)
  if (!key) throw new RestRefusal(404, 'key_not_found')
  return key
}
