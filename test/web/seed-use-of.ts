import { createApiKey } from '../../src/customers/api-keys.ts'
import { findCustomer } from '../../src/customers/customers.ts'
import type { Database } from '../../src/platform/db/open.ts'
import { credit } from '../../src/money/ledger/entries.ts'
import { createId } from '../../src/platform/lib/ids.ts'
import { NANO_PER_BRL } from '../../src/platform/lib/money.ts'
import { seedUsage, type SeededUse } from '../harness/seed-usage.ts'

const MODELS = ['gpt-4o', 'claude-haiku-4-5', 'gpt-5-nano', 'whisper-1']
const DAYS = 45
const DAY_MS = 86_400_000

/** Gives a new customer BRL 200 and six weeks of calls to several models, some of which failed. */
export async function seedUseOf(db: Database, email: string): Promise<{ calls: number }> {
  const customer = await findCustomer(db, email)
  if (!customer) throw new Error(`${email} is no customer`)
  const customerId = customer.id
  await credit(db, {
    customerId,
    amountNanoBrl: 200n * NANO_PER_BRL,
    reason: 'top_up',
    reference: createId(),
  })
  const { key } = await createApiKey(db, { customerId, name: 'Loja', requestsPerMinute: 60 })
  const events = Array.from({ length: DAYS * 4 }, (_, place): SeededUse => ({
    at: new Date(Date.now() - Math.floor(place / 4) * DAY_MS - (place % 4) * 60_000),
    modelId: MODELS[(place * 7 + (place >> 3)) % MODELS.length] as string,
    promptTokens: 800 + ((place * 389) % 4_000),
    completionTokens: 200 + ((place * 97) % 900),
    costPicoUsd: 1_000_000_000n * BigInt(20 + ((place * 137) % 90)),
    sessionId: place % 3 === 0 ? `pedido-${place % 5}` : null,
    outcome: place % 17 === 5 ? 'released' : 'charged',
  }))
  await seedUsage(db, { customerId, apiKeyId: key.id, events })
  return { calls: events.filter(({ outcome }) => outcome === 'charged').length }
}
