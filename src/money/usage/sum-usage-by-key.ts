import { sql } from 'kysely'
import type { Database } from '../../platform/db/open.ts'
import type { ModelUsage } from './sum-usage-by-model.ts'
import {
  addUp,
  byCost,
  sumColumns,
  toSums,
  usageOfDays,
  type SumsRow,
  type UsageSums,
} from './usage-windows.ts'

export interface KeyUsage extends UsageSums {
  /** The most expensive first. */
  readonly models: readonly ModelUsage[]
}

/** Returns the usage by each key of the customer in the last days; keys without usage are left out. */
export async function sumUsageByKey(
  db: Database,
  customerId: string,
  days: number,
): Promise<Map<string, KeyUsage>> {
  const { rows } = await sql<SumsRow & { api_key_id: string; model_id: string }>`
    select u.api_key_id, u.model_id, ${sumColumns} from ${usageOfDays(customerId, days)}
    group by u.api_key_id, u.model_id order by u.model_id`.execute(db)
  return new Map(
    [...Map.groupBy(rows, (row) => row.api_key_id)].map(([keyId, ofKey]) => {
      const models = ofKey.map((row) => ({ modelId: row.model_id, ...toSums(row) })).sort(byCost)
      return [keyId, { ...addUp(models), models }]
    }),
  )
}
