/** Rates that an operator sets by hand, and takes back. */
import { sql } from 'kysely'
import { audited, type Actor } from '../../platform/audit-log/audited.ts'
import type { Database } from '../../platform/db/open.ts'
import { dayInBrasilia } from '../../platform/lib/days.ts'
import { decimalE4 } from '../../platform/lib/money.ts'
import {
  findCurrentFxRate,
  findOfficialFxRate,
  FX_CHANNEL,
  MANUAL_SOURCE,
  SANDBOX_SOURCE,
  storeFxRate,
  toFxRate,
  type FxRate,
  isFarFrom,
} from './fx-rates.ts'

export interface RateByHand {
  readonly mode: 'sandbox' | 'live'
  readonly rateE4: bigint
  /** The business day of the rate, `YYYY-MM-DD`; without it today in Brasília. */
  readonly rateDate?: string | undefined
  readonly note: string | undefined
  /** The operator has confirmed a rate that looks like a slip. */
  readonly isConfirmed: boolean
}

export type SetFxRate =
  | { readonly kind: 'stored'; readonly stored: FxRate; readonly inForce: FxRate }
  | { readonly kind: 'date_in_future'; readonly today: string }
  /** Far from the rate in force or the last official one, or if there is none, from any rate of the last decades. */
  | { readonly kind: 'not_confirmed'; readonly inForce: FxRate | undefined }

/** Between these, a first rate needs no confirmation: the dollar cost BRL 1.5 to 6.3 in this century. */
const FIRST_RATE_E4 = { min: 10_000n, max: 200_000n }

/** Stores a rate that an operator sets; the next official rate of a later day replaces it. */
export async function setFxRate(db: Database, actor: Actor, input: RateByHand): Promise<SetFxRate> {
  const { mode, rateE4, note, isConfirmed } = input
  const today = dayInBrasilia(new Date())
  const rateDate = input.rateDate ?? today
  if (rateDate > today) return { kind: 'date_in_future', today }
  const before = await findCurrentFxRate(db, mode)
  // Many small steps are one large step away from the official rate.
  const official = mode === 'live' ? await findOfficialFxRate(db) : undefined
  const known = [before, official].filter((each) => each !== undefined)
  const isUnlikely =
    known.length > 0
      ? known.some((each) => isFarFrom(rateE4, each.rateE4))
      : rateE4 < FIRST_RATE_E4.min || rateE4 > FIRST_RATE_E4.max
  if (isUnlikely && !isConfirmed) return { kind: 'not_confirmed', inForce: before }
  const source = mode === 'sandbox' ? SANDBOX_SOURCE : MANUAL_SOURCE
  return audited(db, actor, async (trx, record) => {
    await lockRatesByHand(trx)
    const stored = await storeFxRate(trx, { rateE4, rateDate, source, bulletinAt: null })
    await record({
      action: 'fx_rate.set',
      customerId: null,
      subjectId: String(stored.id),
      details: { rate: decimalE4(rateE4), date: rateDate, source, note: note ?? null },
    })
    return { kind: 'stored', stored, inForce: (await findCurrentFxRate(trx, mode)) ?? stored }
  })
}

export type WithdrawFxRate =
  | { readonly kind: 'withdrawn'; readonly withdrawn: FxRate; readonly inForce: FxRate }
  /** No rate that was set by hand, and not withdrawn before, has this id. */
  | { readonly kind: 'not_found' }
  | { readonly kind: 'only_rate' }

/**
 * Takes back a rate that was set by hand. If it was in force, the rate before it is stored again, so that the public
 * list shows from when to when each was applied. Charges that used it keep it.
 */
export function withdrawFxRate(
  db: Database,
  actor: Actor,
  {
    mode,
    id,
    note,
  }: { readonly mode: 'sandbox' | 'live'; readonly id: number; readonly note: string | undefined },
): Promise<WithdrawFxRate> {
  return audited<WithdrawFxRate>(db, actor, async (trx, record, undo) => {
    await lockRatesByHand(trx)
    const wasInForce = (await findCurrentFxRate(trx, mode))?.id === id
    const row = await trx
      .updateTable('fx_rates')
      .set({ withdrawn_at: sql<Date>`now()` })
      .where('id', '=', id)
      .where('source', '=', mode === 'sandbox' ? SANDBOX_SOURCE : MANUAL_SOURCE)
      .where('withdrawn_at', 'is', null)
      .returningAll()
      .executeTakeFirst()
    if (!row) return { kind: 'not_found' }
    const next = await findCurrentFxRate(trx, mode)
    if (!next) return undo({ kind: 'only_rate' })
    const inForce = wasInForce ? await storeFxRate(trx, next) : next
    await sql`select pg_notify(${FX_CHANNEL}, ${String(id)})`.execute(trx)
    const withdrawn = toFxRate(row)
    await record({
      action: 'fx_rate.withdrawn',
      customerId: null,
      subjectId: String(id),
      details: {
        rate: decimalE4(withdrawn.rateE4),
        date: withdrawn.rateDate,
        in_force: inForce.id,
        note: note ?? null,
      },
    })
    return { kind: 'withdrawn', withdrawn, inForce }
  })
}

/** One act after another: a withdrawal must not store again a rate that is withdrawn at the same time. */
async function lockRatesByHand(trx: Database): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended('fx rates by hand', 0))`.execute(trx)
}
