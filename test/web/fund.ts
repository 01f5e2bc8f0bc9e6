/** Gives a new customer a balance and a key without the pages that other tests cover. */
import assert from 'node:assert/strict'
import { createApiKey, type ApiKey } from '../../src/customers/api-keys.ts'
import type { Database } from '../../src/platform/db/open.ts'
import { credit } from '../../src/money/ledger/entries.ts'
import { createId } from '../../src/platform/lib/ids.ts'
import { NANO_PER_BRL } from '../../src/platform/lib/money.ts'

export async function fund(
  db: Database,
  email: string,
): Promise<{ customerId: string; key: ApiKey; secret: string }> {
  const customer = await db
    .selectFrom('customers')
    .select('id')
    .where('email', '=', email)
    .executeTakeFirst()
  assert.ok(customer, email)
  const customerId = customer.id
  const amountNanoBrl = 1_000n * NANO_PER_BRL
  await credit(db, { customerId, amountNanoBrl, reason: 'top_up', reference: createId() })
  const made = await createApiKey(db, { customerId, name: 'Site', requestsPerMinute: 1_000 })
  return { customerId, ...made }
}
