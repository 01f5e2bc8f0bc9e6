import type { Selectable } from 'kysely'
import type { Database } from '../../platform/db/open.ts'
import type { Tables } from '../../platform/db/tables.ts'
import { isUuid } from '../../platform/lib/ids.ts'

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
    version: row.version,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }
}
