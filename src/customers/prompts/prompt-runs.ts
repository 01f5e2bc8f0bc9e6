import type { Database } from '../../platform/db/open.ts'
import type { NanoBrl } from '../../platform/lib/money.ts'

/** The charges of one run of a prompt. */
export interface PromptRun {
  readonly sessionId: string
  readonly requests: number
  readonly modelIds: readonly string[]
  readonly promptTokens: number
  readonly completionTokens: number
  readonly costBilledNanoBrl: NanoBrl
  readonly firstRequestAt: Date
  readonly lastRequestAt: Date
}

/** Returns the usage session of a run that begins now. */
export function runSessionId(promptId: string, nowMs: number = Date.now()): string {
  return `prompt-${promptId}-${nowMs}`
}

/**
 * Returns the charged runs of a prompt, newest first. The index sorts session ids by bytes, and the ids of one prompt
 * differ only in the time at their end, so the newest runs are the last of one range of the index.
 */
export async function listPromptRuns(
  db: Database,
  customerId: string,
  promptId: string,
  limit: number,
): Promise<PromptRun[]> {
  const rows = await db
    .selectFrom('usage_sessions')
    .selectAll()
    .where('customer_id', '=', customerId)
    .where('session_id', '>=', `prompt-${promptId}-`)
    // `.` is the character after `-`.
    .where('session_id', '<', `prompt-${promptId}.`)
    .orderBy('session_id', 'desc')
    .limit(limit)
    .execute()
  return rows.map((row) => ({
    sessionId: row.session_id,
    requests: Number(row.requests),
    modelIds: row.model_ids,
    promptTokens: Number(row.prompt_tokens),
    completionTokens: Number(row.completion_tokens),
    costBilledNanoBrl: row.cost_billed_nano_brl,
    firstRequestAt: row.first_request_at,
    lastRequestAt: row.last_request_at,
  }))
}
