/**
 * Scheduled markup changes, which override the markup of the configuration from a given time. A new change must start
 * after all others of its model, and only the last one can be canceled. So a change always replaces the markup that it
 * was compared with when it was made, and no increase takes effect without its notice.
 */
import { sql, type Selectable } from 'kysely'
import { audited, type Actor } from '../../platform/audit-log/audited.ts'
import type { Database } from '../../platform/db/open.ts'
import type { Tables } from '../../platform/db/tables.ts'
import { createId, isUuid } from '../../platform/lib/ids.ts'
import { decimalE4 } from '../../platform/lib/money.ts'

export interface MarkupChange {
  readonly id: string
  readonly modelId: string
  /** The multiplier times 10^4. */
  readonly markupE4: bigint
  /** The markup in force until `startsAt`. */
  readonly markupBeforeE4: bigint
  readonly startsAt: Date
  readonly reason: string
  readonly createdAt: Date
  /** For an increase: when the last customer was notified. */
  readonly noticedAt: Date | null
}

export interface MarkupInput {
  readonly modelId: string
  readonly markupE4: bigint
  /** The markup of the configuration, which the first change of a model replaces. */
  readonly configuredE4: bigint
  /** Undefined to start at once. */
  readonly startsAt: Date | undefined
  readonly reason: string
  /** How many days before an increase customers must be notified. */
  readonly noticeDays: number
}

export type MarkupOutcome =
  | { readonly kind: 'scheduled'; readonly change: MarkupChange }
  | { readonly kind: 'starts_in_the_past' }
  /** `earliest` is the first time at which this increase may start. */
  | { readonly kind: 'notice_too_short'; readonly earliest: Date }
  | { readonly kind: 'later_change_scheduled' }
  | { readonly kind: 'markup_unchanged' }

const DAY_MS = 86_400_000

export function scheduleMarkup(
  db: Database,
  actor: Actor,
  input: MarkupInput,
): Promise<MarkupOutcome> {
  return audited(db, actor, async (trx, record) => {
    const outcome = await insertChange(trx, input)
    if (outcome.kind !== 'scheduled') return outcome
    const { change } = outcome
    const details = {
      id: change.id,
      from: decimalE4(change.markupBeforeE4),
      to: decimalE4(change.markupE4),
      starts_at: change.startsAt.toISOString(),
      reason: input.reason,
    }
    const act = { action: 'model.markup_scheduled', customerId: null } as const
    await record({ ...act, subjectId: input.modelId, details })
    return outcome
  })
}

export interface MarkupsInput extends Omit<MarkupInput, 'modelId' | 'configuredE4'> {
  readonly models: readonly Pick<MarkupInput, 'modelId' | 'configuredE4'>[]
  /** The maker whose models these are; null: of all. */
  readonly vendor: string | null
}

export type MarkupsOutcome =
  | { readonly kind: 'scheduled'; readonly changes: readonly MarkupChange[] }
  | (Exclude<MarkupOutcome, { kind: 'scheduled' | 'markup_unchanged' }> & {
      readonly modelId: string
    })

/** Changes the markups of all these models or of none; those that have the markup already stay as they are. */
export function scheduleMarkups(
  db: Database,
  actor: Actor,
  { models, vendor, ...of }: MarkupsInput,
): Promise<MarkupsOutcome> {
  return audited<MarkupsOutcome>(db, actor, async (trx, record, undo) => {
    const changes: MarkupChange[] = []
    // In one order, so that two such acts wait for each other.
    const sorted = models.toSorted((one, other) => (one.modelId < other.modelId ? -1 : 1))
    for (const model of sorted) {
      const outcome = await scheduleMarkup(trx, actor, { ...of, ...model })
      if (outcome.kind === 'scheduled') changes.push(outcome.change)
      else if (outcome.kind !== 'markup_unchanged')
        return undo({ ...outcome, modelId: model.modelId })
    }
    if (changes.length === 0) return { kind: 'scheduled', changes }
    const details = {
      vendor,
      to: decimalE4(of.markupE4),
      models: changes.map(({ modelId }) => modelId),
      reason: of.reason,
    }
    await record({ action: 'model.markups_scheduled', customerId: null, subjectId: null, details })
    return { kind: 'scheduled', changes }
  })
}

async function insertChange(trx: Database, input: MarkupInput): Promise<MarkupOutcome> {
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

export function cancelMarkup(
  db: Database,
  actor: Actor,
  input: { modelId: string; id: string },
): Promise<CancelOutcome> {
  return audited(db, actor, async (trx, record) => {
    const outcome = await cancelChange(trx, input)
    if (outcome.kind === 'canceled') {
      const act = { action: 'model.markup_canceled', customerId: null } as const
      await record({ ...act, subjectId: input.modelId, details: { id: outcome.change.id } })
    }
    return outcome
  })
}

async function cancelChange(
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

/** Returns all changes that are not canceled, the earliest first. */
export async function listMarkupChanges(db: Database): Promise<MarkupChange[]> {
  const rows = await db
    .selectFrom('markup_changes')
    .selectAll()
    .where('canceled_at', 'is', null)
    .orderBy('starts_at')
    .execute()
  return rows.map(toChange)
}

/**
 * Locks the changes of a model, and returns the database's time, read after the lock was granted. It is truncated to
 * milliseconds, the precision of the nodes' clocks.
 */
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
