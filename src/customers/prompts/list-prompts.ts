import { sql, type RawBuilder } from 'kysely'
import { exactTime } from '../../platform/db/exact-time.ts'
import type { Database } from '../../platform/db/open.ts'
import { selectPrompts, toPrompt, type Prompt } from './find-prompt.ts'

export interface PromptFilter {
  readonly tag?: string | undefined
  /** Matches anywhere in the name or the description, ignoring case and accents. */
  readonly text?: string | undefined
  /** Start after this position. */
  readonly after?: { readonly at: string; readonly id: string } | undefined
  readonly limit: number
}

export interface ListedPrompt extends Prompt {
  readonly updatedAtExact: string
}

/** Returns the customer's prompts, the most recently changed first. */
export async function listPrompts(
  db: Database,
  customerId: string,
  { tag, text, after, limit }: PromptFilter,
): Promise<ListedPrompt[]> {
  let query = selectPrompts(db, customerId)
    .select(exactTime('p.updated_at').as('updated_at_exact'))
    .orderBy('p.updated_at', 'desc')
    .orderBy('p.id', 'desc')
    .limit(limit)
  if (tag !== undefined) query = query.where(sql<boolean>`p.tags @> array[${tag}]`)
  if (text !== undefined) {
    const words = plain(sql`concat(p.name, ' ', p.description)`)
    query = query.where(sql<boolean>`strpos(${words}, ${plain(sql`${text}::text`)}) > 0`)
  }
  if (after) {
    query = query.where(
      sql<boolean>`(p.updated_at, p.id) < (${after.at}::timestamptz, ${after.id}::uuid)`,
    )
  }
  const rows = await query.execute()
  return rows.map((row) => ({ ...toPrompt(row), updatedAtExact: row.updated_at_exact }))
}

/** Lower case without accents. It must work in any locale of the database: some convert ASCII letters only. */
function plain(text: RawBuilder<unknown>): RawBuilder<string> {
  return sql<string>`lower(regexp_replace(normalize(${text}, nfkd), '[\u0300-\u036f]', '', 'g'))`
}
