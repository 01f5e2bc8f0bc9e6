import { type Selectable, sql, type RawBuilder } from 'kysely'
import type { Database } from '../../platform/db/open.ts'
import type { Tables } from '../../platform/db/tables.ts'
import { isUuid } from '../../platform/lib/ids.ts'
import { exactTime, isBefore } from '../../platform/db/exact-time.ts'

/** What a prompt sets for calls that name it as their model, as the API has it. */
export interface PromptParameters {
  /** The most, also for a caller that sets a limit. */
  readonly max_tokens?: number
  readonly temperature?: number
  readonly top_p?: number
  readonly provider?: Readonly<Record<string, unknown>>
}

export interface Prompt {
  readonly id: string
  /** Made from the first name; it stays when the name changes. */
  readonly slug: string
  readonly name: string
  readonly description: string | null
  /** The text of the newest version. */
  readonly body: string
  readonly variables: readonly string[]
  readonly tags: readonly string[]
  readonly defaultModel: string | null
  readonly parameters: PromptParameters
  readonly version: number
  readonly createdAt: Date
  readonly updatedAt: Date
}

export async function findPrompt(
  db: Database,
  customerId: string,
  id: string,
): Promise<Prompt | undefined> {
  if (!isUuid(id)) return undefined
  const row = await selectPrompts(db, customerId).where('p.id', '=', id).executeTakeFirst()
  return row && toPrompt(row)
}

/** Returns the customer's prompt with this slug. */
export async function findPromptBySlug(
  db: Database,
  customerId: string,
  slug: string,
): Promise<Prompt | undefined> {
  const row = await selectPrompts(db, customerId).where('p.slug', '=', slug).executeTakeFirst()
  return row && toPrompt(row)
}

/** Returns the customer's prompts with their newest text. */
export function selectPrompts(db: Database, customerId: string) {
  return db
    .selectFrom('prompts as p')
    .innerJoin('prompt_versions as v', (join) =>
      join.onRef('v.prompt_id', '=', 'p.id').onRef('v.version', '=', 'p.version'),
    )
    .selectAll('p')
    .select('v.body')
    .where('p.customer_id', '=', customerId)
}

export function toPrompt(row: Selectable<Tables['prompts']> & { body: string }): Prompt {
  return {
    id: row.id,
    slug: row.slug,
    name: row.name,
    description: row.description,
    body: row.body,
    variables: row.variables,
    tags: row.tags,
    defaultModel: row.default_model,
    parameters: row.parameters,
    version: row.version,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }
}

interface PromptFilter {
  readonly tag?: string | undefined
  /** Matches anywhere in the name or the description, ignoring case and accents. */
  readonly text?: string | undefined
  /** Start after this position. */
  readonly after?: { readonly at: string; readonly id: string } | undefined
  readonly limit: number
}

interface ListedPrompt extends Prompt {
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
    query = query.where(isBefore(after, 'p.updated_at', 'p.id'))
  }
  const rows = await query.execute()
  return rows.map((row) => ({ ...toPrompt(row), updatedAtExact: row.updated_at_exact }))
}

/** Lower case without accents. It must work in any locale of the database: some convert ASCII letters only. */
function plain(text: RawBuilder<unknown>): RawBuilder<string> {
  return sql<string>`lower(regexp_replace(normalize(${text}, nfkd), '[\u0300-\u036f]', '', 'g'))`
}

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
