import { sql } from 'kysely'
import type { Database } from '../../platform/db/open.ts'
import {
  byCost,
  sumColumns,
  toSums,
  usageOfDays,
  type SumsRow,
  type UsageSums,
} from './usage-windows.ts'

export interface ModelUsage extends UsageSums {
  readonly modelId: string
}

/** Returns the customer's usage of each model in the last days, the most expensive first. */
export async function sumUsageByModel(
  db: Database,
  customerId: string,
  days: number,
): Promise<ModelUsage[]> {
  const { rows } = await sql<SumsRow & { model_id: string }>`
    select u.model_id, ${sumColumns} from ${usageOfDays(customerId, days)}
    group by u.model_id order by u.model_id`.execute(db)
  return rows.map((row) => ({ modelId: row.model_id, ...toSums(row) })).sort(byCost)
}
