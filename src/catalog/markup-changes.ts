/**
 * Changes of markups: what a model costs instead of what the configuration says, from a time on. A change comes
 * behind all that there are for its model and is canceled before those in front of it: so what a change was
 * compared with when it was made is what it takes the place of, and no rise comes about without its notice.
 */
import { sql, type Selectable } from 'kysely'
import type { Database } from '../db/open.ts'
import type { Tables } from '../db/tables.ts'
import { createId, isUuid } from '../lib/ids.ts'

export interface MarkupChange {
  readonly id: string
  readonly modelId: string
  /** Times 10^4. */
  readonly markupE4: bigint
  /** What is in force until then. */
  readonly markupBeforeE4: bigint
  readonly startsAt: Date
  readonly reason: string
  readonly createdAt: Date
  /** Of a rise: when all customers had had the notice. */
  readonly noticedAt: Date | null
}

export interface MarkupInput {
  readonly modelId: string
  readonly markupE4: bigint
  /** Of the configuration: what is changed where nothing was before. */
  readonly configuredE4: bigint
  /** Undefined: at once. */
  readonly startsAt: Date | undefined
  readonly reason: string
  /** How long before a rise begins customers are told of it. */
  readonly noticeDays: number
}

export type MarkupOutcome =
  | { readonly kind: 'scheduled'; readonly change: MarkupChange }
  | { readonly kind: 'starts_in_the_past' }
  /** The first time at which this rise could begin. */
  | { readonly kind: 'notice_too_short'; readonly earliest: Date }
  | { readonly kind: 'later_change_scheduled' }
  | { readonly kind: 'markup_unchanged' }

const DAY_MS = 86_400_000

export async function scheduleMarkup(trx: Database, input: MarkupInput): Promise<MarkupOutcome> {
  const now = await lockModel(trx, input.modelId)
  const startsAt = input.startsAt ?? now
  if (startsAt < now) return { kind: 'starts_in_the_past' }
  const last = await findLastChange(trx, input.modelId)
  if (last && last.startsAt >= startsAt) return { kind: 'later_change_scheduled' }
  const markupBeforeE4 = last?.markupE4 ?? input.configuredE4
  if (input.markupE4 === markupBeforeE4) return { kind: 'markup_unchanged' }
  const earliest = new Date(now.getTime() + input.noticeDays * DAY_MS)
  if (input.markupE4 > markupBeforeE4 && startsAt < earliest)
    return { kind: 'notice_too_short', earliest }
  const row = await trx
    .insertInto('markup_changes')
    .values({
      id: createId(),
      model_id: input.modelId,
      markup_e4: Number(input.markupE4),
      markup_before_e4: Number(markupBeforeE4),
      starts_at: startsAt,
      reason: input.reason,
    })
    .returningAll()
    .executeTakeFirstOrThrow()
  return { kind: 'scheduled', change: toChange(row) }
}

export type CancelOutcome =
  | { readonly kind: 'canceled'; readonly change: MarkupChange }
  | { readonly kind: 'markup_change_not_found' }
  | { readonly kind: 'already_in_force' }
  | { readonly kind: 'later_change_scheduled' }

export async function cancelMarkup(
  trx: Database,
  { modelId, id }: { modelId: string; id: string },
): Promise<CancelOutcome> {
  if (!isUuid(id)) return { kind: 'markup_change_not_found' }
  const now = await lockModel(trx, modelId)
  const row = await trx
    .selectFrom('markup_changes')
    .selectAll()
    .where('id', '=', id)
    .where('model_id', '=', modelId)
    .where('canceled_at', 'is', null)
    .executeTakeFirst()
  if (!row) return { kind: 'markup_change_not_found' }
  if (row.starts_at <= now) return { kind: 'already_in_force' }
  const last = await findLastChange(trx, modelId)
  if (last?.id !== row.id) return { kind: 'later_change_scheduled' }
  await trx.updateTable('markup_changes').set({ canceled_at: now }).where('id', '=', id).execute()
  return { kind: 'canceled', change: toChange(row) }
}

/** All that are not canceled, the earliest first. */
export async function listMarkupChanges(db: Database): Promise<MarkupChange[]> {
  const rows = await db
    .selectFrom('markup_changes')
    .selectAll()
    .where('canceled_at', 'is', null)
    .orderBy('starts_at')
    .execute()
  return rows.map(toChange)
}

/** The database's clock, read behind the lock; to the millisecond, as the nodes compare it. */
async function lockModel(trx: Database, modelId: string): Promise<Date> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`markup ${modelId}`}, 0))`.execute(trx)
  const { rows } = await sql<{ now: Date }>`
    select date_trunc('milliseconds', clock_timestamp()) as now`.execute(trx)
  return (rows[0] as { now: Date }).now
}

async function findLastChange(trx: Database, modelId: string): Promise<MarkupChange | undefined> {
  const row = await trx
    .selectFrom('markup_changes')
    .selectAll()
    .where('model_id', '=', modelId)
    .where('canceled_at', 'is', null)
    .orderBy('starts_at', 'desc')
    .limit(1)
    .executeTakeFirst()
  return row && toChange(row)
}

function toChange(row: Selectable<Tables['markup_changes']>): MarkupChange {
  return {
    id: row.id,
    modelId: row.model_id,
    markupE4: BigInt(row.markup_e4),
    markupBeforeE4: BigInt(row.markup_before_e4),
    startsAt: row.starts_at,
    reason: row.reason,
    createdAt: row.created_at,
    noticedAt: row.noticed_at,
  }
}
