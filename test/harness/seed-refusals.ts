import type { Database } from '../../src/platform/db/open.ts'

export interface SeededRefusals {
  readonly at: Date
  readonly code: string
  readonly status: number
  readonly refusals: number
  readonly modelId?: string
  /** Default: that of all rows. */
  readonly apiKeyId?: string
}

/** Counts as a node writes them. */
export async function seedRefusals(
  db: Database,
  of: { customerId: string; apiKeyId: string; rows: readonly SeededRefusals[] },
): Promise<void> {
  await db
    .insertInto('usage_refusals')
    .values(
      of.rows.map(({ at, code, status, refusals, modelId, apiKeyId }) => ({
        customer_id: of.customerId,
        hour_at: new Date(at.getTime() - (at.getTime() % 3_600_000)),
        api_key_id: apiKeyId ?? of.apiKeyId,
        model_id: modelId ?? null,
        code,
        status,
        refusals: BigInt(refusals),
        first_at: at,
        last_at: at,
      })),
    )
    .execute()
}
