import { sql, type RawBuilder } from 'kysely'

export interface RefusalFilter {
  readonly modelId?: string | undefined
  readonly apiKeyId?: string | undefined
  readonly code?: string | undefined
  /** Exact times; hours that begin from the one until before the other. */
  readonly fromAt: string
  readonly untilAt: string
}

/** Returns the condition on rows of `usage_refusals`. */
export function isCounted(
  customerId: string,
  { modelId, apiKeyId, code, fromAt, untilAt }: RefusalFilter,
): RawBuilder<unknown> {
  const conditions = [
    sql`customer_id = ${customerId}`,
    sql`hour_at >= ${fromAt}::timestamptz`,
    sql`hour_at < ${untilAt}::timestamptz`,
    modelId === undefined ? undefined : sql`model_id = ${modelId}`,
    apiKeyId === undefined ? undefined : sql`api_key_id = ${apiKeyId}`,
    code === undefined ? undefined : sql`code = ${code}`,
  ].filter((condition) => condition !== undefined)
  return sql.join(conditions, sql` and `)
}
