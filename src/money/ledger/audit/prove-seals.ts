/**
 * Proves that the seals are a chain, and that rows are unchanged since they were sealed: those of all seals, or of a
 * share of them, which is another one every day.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import type { Database } from '../../../platform/db/open.ts'
import type { Checks } from './audit-event-checks.ts'
import {
  chargesRoot,
  EVENTS_MAX,
  eventsOf,
  findBreaches,
  sliceChecks,
  sumsHash,
  type Slice,
} from './audit-seals.ts'
import { ROWS, sealDiffers, TREE } from './seal-differs.ts'

const SEALS_AT_ONCE = 100
const DAY_MS = 86_400_000
const CHAIN = 'the seals are a chain without a gap'
const SUMS = 'the sums of a seal are as they were sealed'

interface Seal {
  readonly number: bigint
  readonly from_at: string
  readonly to_at: string
  readonly events: bigint
  readonly charges_root: Buffer
  /** Its rows are in files, which `prove-archived.ts` reads. */
  readonly is_archived: boolean
}

export interface ProveSealsOptions {
  /** How many sealed events are read again, about. */
  readonly eventsAgain: number
  readonly share: number
  readonly run: (db: Database, checks: Checks) => Promise<void>
}

export async function proveSeals(
  db: Database,
  { eventsAgain, share, run }: ProveSealsOptions,
): Promise<void> {
  await run(db, {
    [CHAIN]: sql`
      select s.number, s.from_at, s.to_at from (
        select s, lag(s.hash) over by_number as previous_hash, lag(s.to_at) over by_number as previous_to_at,
          lag(s.charges_head) over by_number as previous_head, row_number() over by_number as place
        from audit_seals s window by_number as (order by number)
      ) chained
      cross join lateral (select (chained.s).*) s
      where s.number <> place or s.from_at <> coalesce(previous_to_at, s.from_at)
        or s.hash <> seal_hash(previous_hash, chained.s)
        or s.charges_head <> charges_head(previous_head, chained.s)`,
  })
  const { rows: faults } = await sql<{ breaches: Record<string, unknown[]> }>`
    select breaches from audit_seals where breaches <> '{}' order by number limit 100`.execute(db)
  for (const { breaches } of faults)
    for (const [name, rows] of Object.entries(breaches))
      await run(db, {
        [name]: sql`select * from jsonb_array_elements(${JSON.stringify(rows)}::jsonb) as sealed(breach)`,
      })
  const days = await daysToReadAll(db, eventsAgain)
  const today = BigInt(Math.floor(Date.now() / DAY_MS))
  const isOfToday = ({ number, is_archived: isArchived }: Seal): boolean =>
    !isArchived && days !== undefined && number % days === today % days
  for (let after = 0n; ;) {
    const { rows: seals } = await sql<Seal>`
      select number, from_at::text, to_at::text, events, charges_root, to_at <= archived_until() as is_archived
      from audit_seals where number > ${after} order by number limit ${SEALS_AT_ONCE}`.execute(db)
    const last = seals.at(-1)
    if (!last) break
    await paced(share, () =>
      run(db, {
        [SUMS]: sql`
        select s.number from audit_seals s
        where s.number > ${after} and s.number <= ${last.number} and s.sums_hash <> ${sumsHash(sql`s.number`)}`,
      }),
    )
    const ofToday = seals.filter(isOfToday)
    for (const seal of ofToday) await paced(share, () => proveRows(db, seal, run))
    for (const slice of joinAdjacent(ofToday))
      await paced(share, () => proveCharges(db, slice, run))
    after = last.number
  }
  if (days === 1n)
    await run(db, {
      [ROWS]: sql`
        select e.id, e.settled_at from usage_events e
        where e.settled_at < (select min(from_at) from audit_seals)`,
    })
}

/** Returns in how many days audits of so many events read every seal again; undefined means never. */
async function daysToReadAll(db: Database, eventsAgain: number): Promise<bigint | undefined> {
  if (eventsAgain === 0) return undefined
  const { rows } = await sql<{ days: bigint }>`
    select greatest(1, ceil(coalesce(sum(events), 0) / ${eventsAgain}::float8))::int8 as days from audit_seals
    where to_at > archived_until()`.execute(db)
  return (rows[0] as { days: bigint }).days
}

/** Waits after the work, so that the work takes this share of the time. */
export async function paced(share: number, work: () => Promise<void>): Promise<void> {
  const startedMs = performance.now()
  await work()
  await sleep((performance.now() - startedMs) * (1 / share - 1))
}

/** Reads a sealed slice again and compares its rows and sums. */
async function proveRows(
  db: Database,
  { number, from_at: fromAt, to_at: toAt, charges_root: root }: Seal,
  run: (db: Database, checks: Checks) => Promise<void>,
): Promise<void> {
  const slice = { fromAt, toAt }
  await run(db, { [ROWS]: sealDiffers(number, slice, eventsOf(slice)) })
  if (!root.equals(await chargesRoot(db, slice)))
    await run(db, { [TREE]: sql`select ${number}::int8 as number` })
  else await run(db, { [TREE]: sql`select 1 where false` })
}

/** Checks each row of a slice again. */
async function proveCharges(
  db: Database,
  slice: Slice,
  run: (db: Database, checks: Checks) => Promise<void>,
): Promise<void> {
  for (const [name, rows] of Object.entries(await findBreaches(db, sliceChecks(slice))))
    await run(db, {
      [name]: sql`select * from jsonb_array_elements(${JSON.stringify(rows)}::jsonb) as found(breach)`,
    })
}

/**
 * Joins adjacent seals into slices of at most `EVENTS_MAX` events, as when events are sealed: to plan the checks takes
 * longer than to run them for a few events.
 */
function joinAdjacent(seals: readonly Seal[]): Slice[] {
  const joined: { fromAt: string; toAt: string; events: bigint }[] = []
  for (const { from_at: fromAt, to_at: toAt, events } of seals) {
    const last = joined.at(-1)
    if (last?.toAt === fromAt && last.events + events <= EVENTS_MAX) {
      last.toAt = toAt
      last.events += events
    } else joined.push({ fromAt, toAt, events })
  }
  return joined
}
