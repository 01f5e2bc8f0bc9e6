/** The demo of sandbox mode: a customer with a balance and a working key. */
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { audited, SYSTEM } from '../platform/audit-log/audited.ts'
import { createApiKey, findApiKey } from '../customers/api-keys.ts'
import { createCustomer, findCustomer } from '../customers/customers.ts'
import type { Database } from '../platform/db/open.ts'
import { credit } from '../money/ledger/entries.ts'
import { sha256 } from '../platform/lib/ids.ts'
import { NANO_PER_BRL } from '../platform/lib/money.ts'

const DEMO_CUSTOMER_ID = '00000000-0000-7000-8000-000000000001'
const DEMO_CUSTOMER = { name: 'Cliente de demonstração', email: 'demo@example.com' }
const DEMO_BALANCE_NANO_BRL = 50n * NANO_PER_BRL
const KEY_FILE = 'demo-key'

/** Creates the demo if it does not exist. Returns the secret of its key, which is kept in a private file. */
export async function ensureDemo(db: Database, dataDir: string): Promise<string> {
  const customerId = await ensureDemoCustomer(db)
  await credit(db, {
    customerId,
    amountNanoBrl: DEMO_BALANCE_NANO_BRL,
    reason: 'sandbox',
    reference: customerId === DEMO_CUSTOMER_ID ? 'demo' : `demo ${customerId}`,
    note: 'Saldo de demonstração',
  })
  const path = join(dataDir, KEY_FILE)
  const kept = await readFile(path, 'utf8').catch(() => undefined)
  const known = kept && (await findApiKey(db, { secretHash: sha256(kept) }))
  if (kept && known && !known.revokedAt) return kept
  const { secret } = await audited(db, SYSTEM, async (trx, record) => {
    const made = await createApiKey(trx, {
      customerId,
      name: 'Chave de demonstração',
      requestsPerMinute: 120,
    })
    await record({ action: 'api_key.created', customerId, subjectId: made.key.id })
    return made
  })
  await mkdir(dataDir, { recursive: true })
  await writeFile(path, secret, { mode: 0o600 })
  return secret
}

/** The first start creates the customer, and later starts find it. If its account was deleted, a new one is created. */
async function ensureDemoCustomer(db: Database): Promise<string> {
  await createCustomer(db, { id: DEMO_CUSTOMER_ID, ...DEMO_CUSTOMER })
  const found = await findCustomer(db, DEMO_CUSTOMER.email)
  if (found) return found.id
  const made = await createCustomer(db, DEMO_CUSTOMER)
  if ('kind' in made) throw new Error('another process makes the demo customer at this moment')
  return made.id
}
