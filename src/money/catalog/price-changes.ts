/**
 * Prices that an operator sets while servers run. From its time on a change replaces all prices of its model, also of
 * routes that have none of their own in the configuration. A call that holds money keeps the prices of its hold.
 */
import { isDeepStrictEqual } from 'node:util'
import { sql } from 'kysely'
import { audited, type Actor } from '../../platform/audit-log/audited.ts'
import type { Database } from '../../platform/db/open.ts'
import type { StoredPriceSchedule } from '../../platform/db/tables.ts'
import { describeAmounts, highestRiseE2, isFarFromAll } from './compare-amounts.ts'
import type { ConfiguredModel } from './model.ts'
import {
  momentsOf,
  priceAt,
  pricesBetween,
  type PriceSchedule,
  type ScheduledPrice,
} from './price-schedule.ts'
import type { Price, PriceTerms } from './prices.ts'
import { unitNames } from './read-price-schedule.ts'
import { findPrices, storePrices } from './register-prices.ts'
import { scheduleOf, withPriceChanges, type PriceChange } from './with-price-changes.ts'

export interface NewPrices {
  readonly modelId: string
  readonly schedule: PriceSchedule<PriceTerms>
}

export interface PricesInput {
  /** The models of the configuration. */
  readonly models: readonly ConfiguredModel[]
  readonly prices: readonly NewPrices[]
  /** Undefined to start at once. */
  readonly startsAt: Date | undefined
  readonly note: string | undefined
  /** The operator has confirmed prices that look like a slip. */
  readonly isConfirmed: boolean
  /** Check and describe everything, and store nothing. */
  readonly isDryRun: boolean
  /**
   * Set for prices of the price data. Customers get a notice of a rise, which starts so many days later. What the data
   * said before, and did not start yet, is withdrawn.
   */
  readonly noticeDays?: number
}

/** The effect of a change on one model. */
export interface PriceEffect {
  /** Undefined after a dry run. */
  readonly id: number | undefined
  readonly modelId: string
  readonly startsAt: Date
  /** The changed amounts, for people. */
  readonly text: string
}

export type SetPrices =
  | { readonly kind: 'set' | 'would_set'; readonly effects: readonly PriceEffect[] }
  | { readonly kind: 'starts_in_the_past' }
  | { readonly kind: 'starts_too_late'; readonly latest: Date }
  | { readonly kind: 'unknown_model'; readonly modelId: string }
  /** A call is billed by the units of the model's first price, so every price has the same ones. */
  | { readonly kind: 'other_units'; readonly modelId: string; readonly units: string }
  | { readonly kind: 'nothing_changes' }
  /** Amounts more than twice or less than half of those in force. */
  | { readonly kind: 'not_confirmed'; readonly effects: readonly PriceEffect[] }

const DAY_MS = 86_400_000
/** Within a week, each window of a daily price has begun. */
const WINDOWS_MS = 7 * DAY_MS
/** A later start is a slip in the year. */
const AHEAD_MS_MAX = 366 * DAY_MS

/** Sets the prices of several models, of all or of none. */
export function setPrices(db: Database, actor: Actor, input: PricesInput): Promise<SetPrices> {
  return audited<SetPrices>(db, actor, async (trx, record, undo) => {
    const now = await lockPrices(trx)
    const wanted = input.startsAt ?? now
    if (wanted < now) return { kind: 'starts_in_the_past' }
    const latest = new Date(now.getTime() + AHEAD_MS_MAX)
    if (wanted > latest) return { kind: 'starts_too_late', latest }
    const wantedPrices =
      input.noticeDays === undefined
        ? input.prices
        : await replacePlanned(trx, actor, input.prices, now)
    const changes = await listPriceChanges(trx)
    const effects: PriceEffect[] = []
    let isFar = false
    for (const { modelId, schedule } of wantedPrices) {
      const model = input.models.find(({ id }) => id === modelId)
      if (!model) return undo({ kind: 'unknown_model', modelId })
      const units = unitNames(model.price)
      if (schedule.some(({ price }) => unitNames(price) !== units))
        return undo({ kind: 'other_units', modelId, units: units || 'tokens' })
      const changed = withPriceChanges<PriceTerms>(model, changes)
      const inForce = pricesInForce(changed, wanted)
      const text = describeAmounts(inForce[0] as PriceTerms, schedule)
      if (text === undefined && schedule.length === 1 && inForce.length === 1) continue
      isFar ||= schedule.some(({ price }) => isFarFromAll(price, inForce))
      const notice =
        input.noticeDays === undefined ? null : riseE2(scheduleOf(changed), schedule, now)
      const startsAt = notice ? daysAfter(now, input.noticeDays ?? 0) : wanted
      const change = { modelId, schedule, startsAt, note: input.note, notice }
      const { id, stored } = await insertChange(trx, change)
      await record({
        action: 'model.prices_set',
        customerId: null,
        subjectId: modelId,
        details: {
          id,
          starts_at: startsAt.toISOString(),
          amounts: text,
          note: input.note ?? null,
          schedule: stored,
        },
      })
      effects.push({ id, modelId, startsAt, text: text ?? 'the same amounts at all times' })
    }
    if (effects.length === 0) return { kind: 'nothing_changes' }
    const unstored = effects.map((effect) => ({ ...effect, id: undefined }))
    if (isFar && !input.isConfirmed) return undo({ kind: 'not_confirmed', effects: unstored })
    if (input.isDryRun) return undo({ kind: 'would_set', effects: unstored })
    return { kind: 'set', effects }
  })
}

/** The distinct prices of the model within a week from then on; the first is the one of that moment. */
function pricesInForce(model: ConfiguredModel, from: Date): PriceTerms[] {
  return pricesBetween(scheduleOf(model), from.getTime(), from.getTime() + WINDOWS_MS)
}

export type WithdrawPrices =
  | { readonly kind: 'withdrawn'; readonly change: PriceChange }
  /** No change in use has this id. */
  | { readonly kind: 'not_found' }

/** Takes a change back: the prices before it are in force again at once. Charges that used its prices keep them. */
export function withdrawPrices(
  db: Database,
  actor: Actor,
  { id, note }: { readonly id: number; readonly note: string | undefined },
): Promise<WithdrawPrices> {
  return audited<WithdrawPrices>(db, actor, async (trx, record) => {
    await lockPrices(trx)
    const change = (await listPriceChanges(trx)).find((each) => each.id === id)
    if (!change) return { kind: 'not_found' }
    await trx
      .updateTable('price_changes')
      .set({ withdrawn_at: sql<Date>`now()` })
      .where('id', '=', id)
      .execute()
    await record({
      action: 'model.prices_withdrawn',
      customerId: null,
      subjectId: change.modelId,
      details: { id, starts_at: change.startsAt.toISOString(), note: note ?? null },
    })
    return { kind: 'withdrawn', change }
  })
}

/** Returns all changes that are not withdrawn, the earliest start first; of one start, the last one stored counts. */
export async function listPriceChanges(db: Database): Promise<PriceChange[]> {
  const rows = await db
    .selectFrom('price_changes')
    .selectAll()
    .where('withdrawn_at', 'is', null)
    .orderBy('starts_at')
    .orderBy('id')
    .execute()
  const ids = rows.flatMap(({ schedule }) => schedule.map(({ price_id }) => price_id))
  const prices = await findPrices(db, ids)
  return rows.map((row) => ({
    id: row.id,
    modelId: row.model_id,
    startsAt: row.starts_at,
    schedule: row.schedule.map((stored) => toScheduled(stored, prices)) as never,
    note: row.note,
  }))
}

function toScheduled(
  { price_id, starts_at, window }: StoredPriceSchedule,
  prices: ReadonlyMap<number, Price>,
): ScheduledPrice<Price> {
  const price = prices.get(price_id)
  if (!price) throw new Error(`the price ${price_id} of a price change is not stored`)
  return {
    ...(starts_at !== undefined && { startsAt: new Date(starts_at) }),
    ...(window && { window }),
    price,
  }
}

/** The most that a token or a unit costs more at any moment, in hundredths of a per cent. */
function riseE2(
  ours: PriceSchedule<PriceTerms>,
  theirs: PriceSchedule<PriceTerms>,
  now: Date,
): number {
  const rises = momentsOf([...ours, ...theirs], now.getTime()).map((at) =>
    highestRiseE2(priceAt(ours, at), priceAt(theirs, at)),
  )
  return Math.max(0, ...rises)
}

function daysAfter(date: Date, days: number): Date {
  return new Date(date.getTime() + days * DAY_MS)
}

/**
 * Withdraws what the data said before and did not start yet: it would otherwise replace what it says now. Returns the
 * prices that are not planned already.
 */
async function replacePlanned(
  trx: Database,
  actor: Actor,
  prices: readonly NewPrices[],
  now: Date,
): Promise<readonly NewPrices[]> {
  const wanted: NewPrices[] = []
  for (const each of prices) {
    const stored = await storeSchedule(trx, each)
    const planned = await trx
      .selectFrom('price_changes')
      .select(['id', 'schedule'])
      .where('model_id', '=', each.modelId)
      .where('withdrawn_at', 'is', null)
      .where('notice_percent_e2', 'is not', null)
      .where('starts_at', '>', now)
      .execute()
    if (planned.some(({ schedule }) => isDeepStrictEqual(schedule, stored))) continue
    wanted.push(each)
    for (const { id } of planned) await withdrawPrices(trx, actor, { id, note: 'other price data' })
  }
  return wanted
}

/** The scheduled prices as they are stored. */
export async function storeSchedule(
  db: Database,
  { modelId, schedule }: NewPrices,
): Promise<StoredPriceSchedule[]> {
  const prices = await storePrices(
    db,
    modelId,
    schedule.map(({ price }) => price),
  )
  return schedule.map(({ startsAt: begins, window }, index) => ({
    price_id: (prices[index] as Price).id,
    ...(begins && { starts_at: begins.toISOString() }),
    ...(window && { window }),
  }))
}

export async function readStoredSchedule(
  db: Database,
  stored: readonly StoredPriceSchedule[],
): Promise<PriceSchedule<Price>> {
  const ids = stored.map(({ price_id }) => price_id)
  const prices = await findPrices(db, ids)
  return stored.map((each) => toScheduled(each, prices)) as never
}

async function insertChange(
  trx: Database,
  {
    startsAt,
    note,
    notice,
    ...prices
  }: NewPrices & {
    readonly startsAt: Date
    readonly note: string | undefined
    readonly notice: number | null
  },
): Promise<{ readonly id: number; readonly stored: readonly StoredPriceSchedule[] }> {
  const stored = await storeSchedule(trx, prices)
  const row = await trx
    .insertInto('price_changes')
    .values({
      model_id: prices.modelId,
      starts_at: startsAt,
      schedule: JSON.stringify(stored),
      note: note?.toWellFormed() ?? null,
      notice_percent_e2: notice,
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  return { id: row.id, stored }
}

/** One change of prices at a time. The database's time after the lock was granted, in the precision of the nodes' clocks. */
async function lockPrices(trx: Database): Promise<Date> {
  await sql`select pg_advisory_xact_lock(hashtextextended('prices', 0))`.execute(trx)
  const { rows } = await sql<{ now: Date }>`
    select date_trunc('milliseconds', clock_timestamp()) as now`.execute(trx)
  return (rows[0] as { now: Date }).now
}
