/** Compares the costs that upstreams report for UTC days with the upstream costs of our charges. */
import { sql } from 'kysely'
import { audited, type Actor } from '../../platform/audit-log/audited.ts'
import { inTransaction, type Database } from '../../platform/db/open.ts'
import type { Log } from '../../platform/lib/log.ts'
import { decimalUsd, type PicoUsd } from '../../platform/lib/money.ts'
import { recordFindings } from './discrepancies.ts'
import type { DayCost } from './parse-cost-export.ts'

/** Both limits must be exceeded: rounding by cents does not matter, and neither does a percentage of almost nothing. */
const TOLERANCE_PERCENT = 1n
const TOLERANCE_PICO_USD = 10_000_000_000n

/**
 * Stores the costs of an export. It is complete for the days from its first to its last one: it replaces earlier
 * imports of these days, and a day that it does not name cost nothing. Returns the days.
 */
export function importUpstreamCosts(
  db: Database,
  actor: Actor,
  { upstreamId, costs, format }: { upstreamId: string; costs: readonly DayCost[]; format: string },
): Promise<string[]> {
  return audited(db, actor, async (trx, record) => {
    const days = await replaceCosts(trx, upstreamId, costs)
    await record({
      action: 'upstream_costs.imported',
      customerId: null,
      subjectId: upstreamId,
      details: {
        format,
        from: days[0],
        to: days.at(-1),
        total_usd: decimalUsd(sumCosts(costs)),
      },
    })
    return days
  })
}

export function sumCosts(costs: readonly DayCost[]): PicoUsd {
  return costs.reduce((sum, { costPicoUsd }) => sum + costPicoUsd, 0n)
}

async function replaceCosts(
  trx: Database,
  upstreamId: string,
  costs: readonly DayCost[],
): Promise<string[]> {
  const days = daysOf(costs)
  const named = new Set(costs.map(({ day }) => day))
  const silent = days
    .filter((day) => !named.has(day))
    .map((day) => ({ day, model: '', costPicoUsd: 0n }))
  await trx
    .deleteFrom('upstream_costs')
    .where('upstream_id', '=', upstreamId)
    .where('day', '>=', days[0] as string)
    .where('day', '<=', days.at(-1) as string)
    .execute()
  const rows = [...costs, ...silent].map(({ day, model, costPicoUsd }) => ({
    day,
    model,
    cost: costPicoUsd.toString(),
  }))
  await sql`
      insert into upstream_costs (upstream_id, day, model, cost_pico_usd)
      select ${upstreamId}, day, model, cost
      from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as given(day date, model text, cost int8)
      on conflict (upstream_id, day, model) do update set
        cost_pico_usd = excluded.cost_pico_usd, imported_at = now()`.execute(trx)
  return days
}

export interface ComparedDay {
  readonly upstreamId: string
  readonly day: string
  readonly oursPicoUsd: PicoUsd
  readonly theirsPicoUsd: PicoUsd
}

/**
 * Compares the imported days from `fromDay` to `toDay` that are over, for one upstream or all of them. Each day is one
 * short query over the charges of that day.
 */
export async function compareUpstreamCosts(
  db: Database,
  {
    fromDay,
    toDay = 'infinity',
    upstreamId,
    now,
  }: { fromDay: string; toDay?: string; upstreamId?: string; now: Date },
  log: Log,
): Promise<ComparedDay[]> {
  let imported = db
    .selectFrom('upstream_costs')
    .select(['day', 'upstream_id', sql<bigint>`sum(cost_pico_usd)::int8`.as('theirs')])
    .where('day', '>=', fromDay)
    .where('day', '<=', toDay)
    // Until the day is over, neither its charges nor its costs are complete.
    .where('day', '<', now.toISOString().slice(0, 10))
    .groupBy(['day', 'upstream_id'])
    .orderBy('day')
    .orderBy('upstream_id')
  if (upstreamId !== undefined) imported = imported.where('upstream_id', '=', upstreamId)
  const compared: ComparedDay[] = []
  let ours: { day: string; costs: ReadonlyMap<string, PicoUsd> } | undefined
  for (const { day, upstream_id, theirs } of await imported.execute()) {
    if (ours?.day !== day) ours = { day, costs: await sumDay(db, day) }
    const one = {
      upstreamId: upstream_id,
      day,
      oursPicoUsd: ours.costs.get(upstream_id) ?? 0n,
      theirsPicoUsd: theirs,
    }
    await storeComparison(db, one, log)
    compared.push(one)
  }
  return compared
}

export function isBeyondTolerance(oursPicoUsd: PicoUsd, theirsPicoUsd: PicoUsd): boolean {
  const size = (value: bigint): bigint => (value < 0n ? -value : value)
  const difference = size(oursPicoUsd - theirsPicoUsd)
  return (
    difference > TOLERANCE_PICO_USD && difference * 100n > size(theirsPicoUsd) * TOLERANCE_PERCENT
  )
}

/** Costs by upstream of the calls that began on the day. A released call cost us nothing. */
async function sumDay(db: Database, day: string): Promise<ReadonlyMap<string, PicoUsd>> {
  const { rows } = await sql<{ upstream_id: string; cost: bigint }>`
    select upstream_id, sum(cost)::int8 as cost from (
      select upstream_id, created_at as at, cost_upstream_pico_usd as cost from usage_events
      where settled_at >= archived_until()
      union all
      select upstream_id, hour_at, cost_pico_usd from archived_hours where month < archived_until()
    ) e
    where at >= ${`${day}T00:00:00Z`}::timestamptz and at < ${`${day}T00:00:00Z`}::timestamptz + interval '24 hours'
      and upstream_id is not null
    group by 1`.execute(db)
  return new Map(rows.map(({ upstream_id, cost }) => [upstream_id, cost]))
}

function storeComparison(db: Database, compared: ComparedDay, log: Log): Promise<void> {
  const { upstreamId, day, oursPicoUsd, theirsPicoUsd } = compared
  return inTransaction(db, async (trx) => {
    await sql`
      insert into upstream_cost_days (upstream_id, day, ours_pico_usd, theirs_pico_usd)
      values (${upstreamId}, ${day}, ${oursPicoUsd}, ${theirsPicoUsd})
      on conflict (upstream_id, day) do update set
        ours_pico_usd = excluded.ours_pico_usd, theirs_pico_usd = excluded.theirs_pico_usd,
        compared_at = now()`.execute(trx)
    const found = { subject: `upstream:${day}:${upstreamId}`, upstreamId, day }
    const finding = { kind: 'upstream_cost', oursPicoUsd, theirsPicoUsd } as const
    const findings = isBeyondTolerance(oursPicoUsd, theirsPicoUsd) ? [finding] : []
    await recordFindings(trx, found, findings, log)
  })
}

/** All days from the first to the last one. */
function daysOf(costs: readonly DayCost[]): string[] {
  const sorted = costs.map(({ day }) => day).toSorted()
  const [first, last] = [sorted[0], sorted.at(-1)]
  if (first === undefined || last === undefined) throw new Error('the export has no day')
  const days: string[] = []
  for (let ms = Date.parse(first); ms <= Date.parse(last); ms += 86_400_000)
    days.push(new Date(ms).toISOString().slice(0, 10))
  return days
}
