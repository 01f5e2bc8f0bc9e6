import type { Database } from '../db/open.ts'
import type { NanoBrl } from '../lib/money.ts'

/** What was charged for one session of a prompt. */
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

/** The session of a run that begins now. */
export function runSessionId(promptId: string, nowMs: number = Date.now()): string {
  return `prompt-${promptId}-${nowMs}`
}

/**
 * The runs of a prompt that were charged, newest first. Sessions are sorted by the bytes of their ids, and
 * those of one prompt differ in the time at their end: the newest are the last of one range of the key.
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
    // The character after the hyphen.
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
