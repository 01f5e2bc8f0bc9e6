/**
 * What a new user finds in sandbox mode: a customer with money to spend and a key that works.
 */
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createApiKey, findApiKeyByHash } from './customers/api-keys.ts'
import { createCustomer } from './customers/customers.ts'
import type { Database } from './db/open.ts'
import { credit } from './ledger/entries.ts'
import { sha256 } from './lib/ids.ts'
import { NANO_PER_BRL } from './lib/money.ts'

const DEMO_CUSTOMER_ID = '00000000-0000-7000-8000-000000000001'
const DEMO_BALANCE_NANO_BRL = 50n * NANO_PER_BRL
const KEY_FILE = 'demo-key'

/** Makes them where they are missing; returns the demo key's secret, which is kept in a private file. */
export async function ensureDemo(db: Database, dataDir: string): Promise<string> {
  // Taken at the first start; every further start finds them.
  await createCustomer(db, {
    id: DEMO_CUSTOMER_ID,
    name: 'Cliente de demonstração',
    email: 'demo@example.com',
  })
  await credit(db, {
    customerId: DEMO_CUSTOMER_ID,
    amountNanoBrl: DEMO_BALANCE_NANO_BRL,
    reason: 'sandbox',
    reference: 'demo',
    note: 'Saldo de demonstração',
  })
  const path = join(dataDir, KEY_FILE)
  const kept = await readFile(path, 'utf8').catch(() => undefined)
  const known = kept && (await findApiKeyByHash(db, sha256(kept)))
  if (kept && known && !known.revokedAt) return kept
  const { secret } = await createApiKey(db, {
    customerId: DEMO_CUSTOMER_ID,
    name: 'Chave de demonstração',
    requestsPerMinute: 120,
  })
  await mkdir(dataDir, { recursive: true })
  await writeFile(path, secret, { mode: 0o600 })
  return secret
}
