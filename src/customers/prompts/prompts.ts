/**
 * Saved prompts: a customer's texts with placeholders, in immutable versions. Only a change of the text creates a new
 * version. Every function here accesses the prompts of the given customer alone. The routes run a prompt: a run is a
 * model call like any other.
 */
import { sql } from 'kysely'
import { audited, type Actor } from '../../platform/audit-log/audited.ts'
import { inTransaction, type Database } from '../../platform/db/open.ts'
import { createId, isUuid } from '../../platform/lib/ids.ts'
import { findPrompt, type Prompt, type PromptParameters } from './read-prompts.ts'
import { variablesOf, type VariablesFault } from './placeholders.ts'
import { lockCustomer } from '../customers.ts'

export const PROMPTS_MAX = 1_000
/**
 * The most bytes of the texts of all versions of a customer's prompts. History is append-only, so it would grow without
 * end.
 */
export const PROMPT_BYTES_MAX = 32 * 1024 * 1024
/** Counted for each version in addition to its text, so that the number of short versions is bounded too. */
const VERSION_BYTES = 1024

export interface PromptLimitReached {
  readonly kind: 'too_many_prompts' | 'prompts_too_large'
}

/** Locks the customer, so that concurrent writes are counted. Undefined if there is room for this text. */
async function findPromptExcess(
  trx: Database,
  customerId: string,
  { body, isNew }: { readonly body: string; readonly isNew: boolean },
): Promise<PromptLimitReached | undefined> {
  await lockCustomer(trx, customerId)
  const { rows } = await sql<{ prompts: bigint; bytes: bigint }>`
    select count(distinct p.id) as prompts,
      coalesce(sum(octet_length(v.body) + ${VERSION_BYTES}::int8), 0)::int8 as bytes
    from prompts p join prompt_versions v on v.prompt_id = p.id
    where p.customer_id = ${customerId}`.execute(trx)
  const { prompts = 0n, bytes = 0n } = rows[0] ?? {}
  if (isNew && prompts >= PROMPTS_MAX) return { kind: 'too_many_prompts' }
  const more = BigInt(Buffer.byteLength(body) + VERSION_BYTES)
  return bytes + more > PROMPT_BYTES_MAX ? { kind: 'prompts_too_large' } : undefined
}

export interface PromptInput {
  readonly name: string
  readonly body: string
  readonly description?: string | null | undefined
  /** Undefined: the placeholders of the body. */
  readonly variables?: readonly string[] | undefined
  readonly tags?: readonly string[] | undefined
  readonly defaultModel?: string | null | undefined
  readonly parameters?: PromptParameters | undefined
}

/** An undefined field stays unchanged. */
export interface PromptChange extends Partial<PromptInput> {
  /** Kept with the new version, if there is one. */
  readonly changeNote?: string | undefined
}

export const NAME_LENGTH_MAX = 120
const COPY_MARK = ' (cópia)'

/** The time of the statement and not of the transaction, so that a change that waited for another one is later. */
const NOW = sql<Date>`statement_timestamp()`

export async function createPrompt(
  db: Database,
  customerId: string,
  input: PromptInput,
): Promise<Prompt | VariablesFault | PromptLimitReached> {
  const variables = variablesOf(input.body, input.variables)
  if ('kind' in variables) return variables
  return insertPrompt(db, customerId, slugOf(input.name), { ...input, variables })
}

/** Creates an independent copy with the current text and no history. */
export async function clonePrompt(
  db: Database,
  customerId: string,
  id: string,
): Promise<Prompt | PromptLimitReached | undefined> {
  const source = await findPrompt(db, customerId, id)
  if (!source) return undefined
  const name = firstCharacters(source.name, NAME_LENGTH_MAX - COPY_MARK.length) + COPY_MARK
  return insertPrompt(db, customerId, copySlugOf(source.slug), { ...source, name })
}

/**
 * Changes a prompt. Concurrent changes of one prompt wait for each other, so that each new text gets its own version.
 */
export function changePrompt(
  db: Database,
  customerId: string,
  id: string,
  { changeNote, ...fields }: PromptChange,
): Promise<Prompt | VariablesFault | PromptLimitReached | undefined> {
  return inTransaction(db, async (trx) => {
    // The customer before the prompt, as in a deletion of the account.
    const excess =
      fields.body === undefined
        ? undefined
        : await findPromptExcess(trx, customerId, { body: fields.body, isNew: false })
    if (!(await lockPrompt(trx, customerId, id))) return undefined
    const current = (await findPrompt(trx, customerId, id)) as Prompt
    // The database stores only well-formed text.
    const body = fields.body?.toWellFormed() ?? current.body
    const hasNewBody = body !== current.body
    const variables = variablesAfter(fields, current, body)
    if ('kind' in variables) return variables
    const version = current.version + (hasNewBody ? 1 : 0)
    if (hasNewBody && excess) return excess
    if (hasNewBody) await insertVersion(trx, { id, version, body, changeNote })
    const changed = withoutUndefined(fields)
    if (Object.keys(changed).length > 0)
      await updatePrompt(trx, id, { ...current, ...changed, variables, version })
    return findPrompt(trx, customerId, id)
  })
}

/** Deletes the prompt with its versions. Returns false if there is no such prompt. */
export async function deletePrompt(
  db: Database,
  actor: Actor,
  { customerId, id }: { customerId: string; id: string },
): Promise<boolean> {
  if (!isUuid(id)) return false
  return audited(db, actor, async (trx, record) => {
    const { numDeletedRows } = await trx
      .deleteFrom('prompts')
      .where('customer_id', '=', customerId)
      .where('id', '=', id)
      .executeTakeFirst()
    if (numDeletedRows === 0n) return false
    await record({ action: 'prompt.deleted', customerId, subjectId: id })
    return true
  })
}

/** A separate statement, because after a wait the other rows of the same statement would be older than the locked one. */
async function lockPrompt(trx: Database, customerId: string, id: string): Promise<boolean> {
  if (!isUuid(id)) return false
  const row = await trx
    .selectFrom('prompts')
    .select('id')
    .where('customer_id', '=', customerId)
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst()
  return row !== undefined
}

/** Given variables win; otherwise a new text defines its own, and without a new text they stay. */
function variablesAfter(
  { variables }: Partial<PromptInput>,
  current: Prompt,
  body: string,
): readonly string[] | VariablesFault {
  if (variables === undefined && body === current.body) return current.variables
  return variablesOf(body, variables)
}

function insertPrompt(
  db: Database,
  customerId: string,
  slugBase: string,
  input: PromptInput & { readonly variables: readonly string[] },
): Promise<Prompt | PromptLimitReached> {
  return inTransaction(db, async (trx) => {
    const excess = await findPromptExcess(trx, customerId, { body: input.body, isNew: true })
    if (excess) return excess
    const id = createId()
    // Concurrent inserts may choose the same slug; the second one chooses again.
    for (let isThere = false; !isThere;) {
      const slug = await findFreeSlug(trx, customerId, slugBase)
      const { numInsertedOrUpdatedRows } = await trx
        .insertInto('prompts')
        .values({
          id,
          customer_id: customerId,
          slug,
          ...columnsOf(input),
          created_at: NOW,
          updated_at: NOW,
        })
        .onConflict((conflict) => conflict.columns(['customer_id', 'slug']).doNothing())
        .executeTakeFirst()
      isThere = numInsertedOrUpdatedRows === 1n
    }
    await insertVersion(trx, { id, version: 1, body: input.body })
    return (await findPrompt(trx, customerId, id)) as Prompt
  })
}

async function updatePrompt(
  trx: Database,
  id: string,
  prompt: PromptInput & { readonly variables: readonly string[]; readonly version: number },
): Promise<void> {
  await trx
    .updateTable('prompts')
    .set({ ...columnsOf(prompt), version: prompt.version, updated_at: NOW })
    .where('id', '=', id)
    .execute()
}

async function insertVersion(
  trx: Database,
  of: { id: string; version: number; body: string; changeNote?: string | undefined },
): Promise<void> {
  await trx
    .insertInto('prompt_versions')
    .values({
      prompt_id: of.id,
      version: of.version,
      body: of.body,
      change_note: of.changeNote ?? null,
      created_at: NOW,
    })
    .execute()
}

function columnsOf(input: PromptInput & { readonly variables: readonly string[] }) {
  return {
    name: input.name,
    description: input.description ?? null,
    variables: [...input.variables],
    tags: [...new Set(input.tags)],
    default_model: input.defaultModel ?? null,
    parameters: JSON.stringify(input.parameters ?? {}),
  }
}

function withoutUndefined<Fields extends object>(fields: Fields): Fields {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined),
  ) as Fields
}

/** Counts code points, as PostgreSQL does. */
function firstCharacters(text: string, count: number): string {
  return Array.from(text).slice(0, count).join('')
}

/** The most characters without the number at the end. Repeated copies must not grow without limit. */
const LENGTH_MAX = 100
const COPY_SUFFIX = '-copia'
/** The slug of a name without any ASCII letter or digit. */
const FALLBACK = 'prompt'

/** Returns the name in lower case without accents, its words joined by hyphens. */
export function slugOf(name: string): string {
  const words = name
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
  return cut(words.replace(/^-/, ''), LENGTH_MAX) || FALLBACK
}

export function copySlugOf(slug: string): string {
  return cut(slug, LENGTH_MAX - COPY_SUFFIX.length) + COPY_SUFFIX
}

/** Returns `base`, or the first of `base-2`, `base-3`, … that no prompt of the customer has now. */
async function findFreeSlug(db: Database, customerId: string, base: string): Promise<string> {
  const rows = await db
    .selectFrom('prompts')
    .select('slug')
    .where('customer_id', '=', customerId)
    .where('slug', 'like', `${base}%`)
    .execute()
  const taken = new Set(rows.map(({ slug }) => slug))
  let slug = base
  for (let number = 2; taken.has(slug); number++) slug = `${base}-${number}`
  return slug
}

function cut(slug: string, lengthMax: number): string {
  return slug.slice(0, lengthMax).replace(/-$/, '')
}
