/**
 * The public chain of all charges: one head for each finished UTC day. A head covers every event of its day and all
 * days before it, so a copy that is kept elsewhere shows a later change of any of them.
 */
import { sql } from 'kysely'
import type { Database } from '../../platform/db/open.ts'

export interface ChainSeal {
  readonly number: bigint
  /** Seconds since 1970, with six decimals: as the head covers them. */
  readonly from: string
  readonly to: string
  /** Hashes are in hexadecimal. */
  readonly root: string
}

export interface DayHead {
  /** `2026-11-24`, in UTC. */
  readonly day: string
  /** The last seal of the day. */
  readonly number: bigint
  readonly head: string
}

export interface ChainOfDay extends DayHead {
  /** The head before the first seal of the day; empty at the beginning of the chain. */
  readonly before: string
  readonly seals: readonly ChainSeal[]
}

/** The last seal of a day ends with it. */
const ENDS_A_DAY = sql`s.to_at = date_trunc('day', s.to_at, 'UTC')`
const DAY = sql<string>`to_char((s.from_at at time zone 'UTC'), 'YYYY-MM-DD')`

/** Returns the heads of finished days, newest first. */
export async function listDayHeads(
  db: Database,
  page: { limit: number; beforeDay?: string | undefined },
): Promise<DayHead[]> {
  const { limit, beforeDay } = page
  const { rows } = await sql<DayHead>`
    select ${DAY} as day, s.number, encode(s.charges_head, 'hex') as head from audit_seals s
    where ${ENDS_A_DAY}
      ${beforeDay === undefined ? sql`` : sql`and s.from_at < ${beforeDay}::date::timestamp at time zone 'UTC'`}
    order by s.from_at desc limit ${limit}`.execute(db)
  return rows
}

/** Returns the chains of those of these days (`2026-11-24`) that are over and sealed. */
export async function readChainsOfDays(
  db: Database,
  days: readonly string[],
): Promise<Map<string, ChainOfDay>> {
  const { rows } = await sql<SealRow>`
    select ${DAY} as day, s.number, extract(epoch from s.from_at)::text as "from",
      extract(epoch from s.to_at)::text as "to", encode(s.charges_root, 'hex') as root,
      encode(s.charges_head, 'hex') as head, (${ENDS_A_DAY}) as "endsDay",
      coalesce((select encode(p.charges_head, 'hex') from audit_seals p where p.number = s.number - 1), '') as before
    from unnest(${days}::date[]) as asked (day)
    join audit_seals s on s.from_at >= asked.day::timestamp at time zone 'UTC'
      and s.from_at < (asked.day + 1)::timestamp at time zone 'UTC'
    order by s.number`.execute(db)
  const chains = new Map<string, ChainOfDay>()
  for (const [day, seals] of Map.groupBy(rows, (row) => row.day)) {
    const [first, last] = [seals[0], seals.at(-1)]
    if (!first || !last?.endsDay) continue
    chains.set(day, {
      day,
      number: last.number,
      head: last.head,
      before: first.before,
      seals: seals.map(({ number, from, to, root }) => ({ number, from, to, root })),
    })
  }
  return chains
}

/** Seals of one number follow those of the number before, so their first and last number tell how many a day has. */
export async function countSealsOfDays(
  db: Database,
  days: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const { rows } = await sql<{ day: string; seals: number }>`
    select asked.day::text as day, coalesce((
      select s.number from audit_seals s where s.from_at < (asked.day + 1)::timestamp at time zone 'UTC'
      order by s.from_at desc limit 1) - (
      select s.number from audit_seals s where s.from_at >= asked.day::timestamp at time zone 'UTC'
      order by s.from_at limit 1) + 1, 0)::int4 as seals
    from unnest(${days}::date[]) as asked (day)`.execute(db)
  return new Map(rows.map(({ day, seals }) => [day, seals]))
}

interface SealRow extends ChainSeal {
  readonly day: string
  readonly head: string
  readonly before: string
  readonly endsDay: boolean
}
