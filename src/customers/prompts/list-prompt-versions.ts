import type { Database } from '../../platform/db/open.ts'

export interface PromptVersion {
  readonly version: number
  readonly body: string
  readonly changeNote: string | null
  readonly createdAt: Date
}

/** Returns the versions below `below`, the newest first. The caller has checked that the prompt is the customer's. */
export async function listPromptVersions(
  db: Database,
  promptId: string,
  { below, limit }: { below: number | undefined; limit: number },
): Promise<PromptVersion[]> {
  let query = db
    .selectFrom('prompt_versions')
    .selectAll()
    .where('prompt_id', '=', promptId)
    .orderBy('version', 'desc')
    .limit(limit)
  if (below !== undefined) query = query.where('version', '<', below)
  const rows = await query.execute()
  return rows.map((row) => ({
    version: row.version,
    body: row.body,
    changeNote: row.change_note,
    createdAt: row.created_at,
  }))
}
