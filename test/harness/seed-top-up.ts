import type { Database } from '../../src/platform/db/open.ts'
import { createId } from '../../src/platform/lib/ids.ts'
import { NANO_BRL_PER_CENTAVO, type TopUpMethod } from '../../src/money/payments/top-ups.ts'

export interface TopUpInTest {
  readonly customerId: string
  readonly cents: number | bigint
  readonly method?: TopUpMethod
  readonly processor?: string
}

/** A top-up that was asked for, of which no processor knows; returns its id. */
export async function seedTopUp(
  db: Database,
  { customerId, cents, method = 'pix', processor = 'asaas' }: TopUpInTest,
): Promise<string> {
  const id = createId()
  await db
    .insertInto('top_ups')
    .values({
      id,
      customer_id: customerId,
      amount_nano_brl: BigInt(cents) * NANO_BRL_PER_CENTAVO,
      method,
      processor,
    })
    .execute()
  return id
}
