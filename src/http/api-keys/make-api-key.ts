import type { RecordAct } from '../../audit-log/audited.ts'
import { createApiKey, type ApiKey, type ApiKeyInput } from '../../customers/api-keys.ts'
import { lockCustomer } from '../../customers/customers.ts'
import { keyAct, keyEvent } from '../../customers/key-act.ts'
import type { Database } from '../../db/open.ts'
import { recordEvent } from '../../events/record-event.ts'
import { holdCaller, type Caller } from '../rest/authenticate.ts'

/**
 * Makes a key for the account that pays, and tells the audit log and the customer. `assertRoom` throws where there are enough,
 * while no other can be made. Undefined where the caller's own key was revoked, or the
 * session ended: this node may not have heard of it yet, and no key must outlive it that way.
 */
export async function makeApiKey(
  trx: Database,
  record: RecordAct,
  caller: Caller,
  input: ApiKeyInput,
  assertRoom: () => Promise<void>,
): Promise<{ key: ApiKey; secret: string } | undefined> {
  await lockCustomer(trx, input.customerId)
  if (!(await holdCaller(trx, caller))) return undefined
  await assertRoom()
  const made = await createApiKey(trx, input)
  await record(keyAct('created', made.key))
  await recordEvent(trx, keyEvent('created', made.key))
  return made
}
