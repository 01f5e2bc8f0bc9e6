import { sql } from 'kysely'
import type { Database } from '../../platform/db/open.ts'
import { jsonBrl } from '../../platform/lib/money.ts'

/** Returns the state of each account as one line of JSON: it differs whenever the balance or the charges do. */
export async function readLiveAccounts(
  db: Database,
  customerIds: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const { rows } = await sql<{ id: string; balance: bigint; charged: bigint }>`
    select customer_id as id, credited_nano_brl - debited_nano_brl - charged_nano_brl as balance,
      charged_nano_brl as charged
    from accounts where customer_id = any(${customerIds}::uuid[])`.execute(db)
  return new Map(
    rows.map(({ id, balance, charged }) => [
      id,
      JSON.stringify({
        customer_id: id,
        balance_brl: jsonBrl(balance),
        charged_brl: jsonBrl(charged),
      }),
    ]),
  )
}
