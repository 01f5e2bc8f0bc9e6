/** The operator's report: recent discrepancies, all that are not gone, and when the last comparison finished. */
import { sql } from 'kysely'
import type { Database } from '../../platform/db/open.ts'
import { jsonBrl, jsonUsd, type ExactNumber } from '../../platform/lib/money.ts'
import type { DiscrepancyRow } from './discrepancies.ts'
import { findLastRuns, type RunRow } from './runs.ts'

/** The most entries of each list in a report. The totals count all entries. */
export const REPORT_ENTRIES_MAX = 1_000
/** The comparison runs every night; if the last one is older than this, one was missed. */
const CURRENT_HOURS = 36

export async function readReport(db: Database, days: number) {
  const listed = await listDiscrepancies(db, days)
  const { last, lastFinished } = await findLastRuns(db)
  const finishedMs = lastFinished?.finished_at?.getTime() ?? 0
  return {
    days,
    payments: {
      is_current: Date.now() - finishedMs < CURRENT_HOURS * 3_600_000,
      last_finished_at: lastFinished?.finished_at ?? null,
      last_run: last ? runBody(last) : null,
    },
    sums: sumsOf(await sumByStatus(db, days)),
    differences: listed.map(discrepancyBody),
    upstream_days: await listUpstreamDays(db, days),
  }
}

export type Report = Awaited<ReturnType<typeof readReport>>

export function discrepancyBody(row: DiscrepancyRow) {
  const brl = amounts(row.ours_nano_brl, row.theirs_nano_brl, jsonBrl)
  const usd = amounts(row.ours_pico_usd, row.theirs_pico_usd, jsonUsd)
  return {
    id: row.id,
    kind: row.kind,
    status: row.status,
    processor: row.processor,
    processor_payment_id: row.processor_payment_id,
    topup_id: row.top_up_id,
    upstream: row.upstream_id,
    day: row.day,
    ours_brl: brl.ours,
    theirs_brl: brl.theirs,
    difference_brl: brl.difference,
    ours_usd: usd.ours,
    theirs_usd: usd.theirs,
    difference_usd: usd.difference,
    difference_percent: percentOf(row.ours_pico_usd, row.theirs_pico_usd),
    first_seen_at: row.first_seen_at,
    last_seen_at: row.last_seen_at,
    resolved_at: row.resolved_at,
    explanation: row.explanation,
    explained_by: row.explainer,
    explained_at: row.explained_at,
  }
}

function amounts(
  ours: bigint | null,
  theirs: bigint | null,
  json: (value: bigint) => ExactNumber,
): Record<'ours' | 'theirs' | 'difference', ExactNumber | null> {
  if (ours === null || theirs === null) return { ours: null, theirs: null, difference: null }
  return { ours: json(ours), theirs: json(theirs), difference: json(ours - theirs) }
}

/** `(ours - theirs) / theirs` in percent, with two decimals; null if theirs is zero. */
function percentOf(ours: bigint | null, theirs: bigint | null): number | null {
  if (ours === null || theirs === null || theirs === 0n) return null
  return Number(((ours - theirs) * 10_000n) / (theirs < 0n ? -theirs : theirs)) / 100
}

function runBody(run: RunRow) {
  return {
    processor: run.processor,
    from: run.from_day,
    to: run.to_day,
    started_at: run.started_at,
    finished_at: run.finished_at,
    failure: run.failure,
    payments: run.payments,
    topups: run.top_ups,
    mended: run.mended,
  }
}

/** Discrepancies that are not gone, of any age, and recent ones that are; open ones first, then the newest. */
async function listDiscrepancies(db: Database, days: number): Promise<DiscrepancyRow[]> {
  const { rows } = await sql<DiscrepancyRow>`
    select * from reconciliation_discrepancies
    where status <> 'gone' or last_seen_at > now() - make_interval(days => ${days})
    order by array_position(array['open', 'explained', 'gone'], status), last_seen_at desc, id desc
    limit ${REPORT_ENTRIES_MAX}`.execute(db)
  return rows
}

interface StatusSum {
  readonly status: DiscrepancyRow['status']
  readonly count: bigint
  readonly nano_brl: bigint
  readonly pico_usd: bigint
}

/** Sums absolute amounts, so that opposite discrepancies do not cancel out. */
async function sumByStatus(db: Database, days: number): Promise<StatusSum[]> {
  const { rows } = await sql<StatusSum>`
    select status, count(*), coalesce(sum(abs(ours_nano_brl - theirs_nano_brl)), 0)::int8 as nano_brl,
      coalesce(sum(abs(ours_pico_usd - theirs_pico_usd)), 0)::int8 as pico_usd
    from reconciliation_discrepancies
    where status <> 'gone' or last_seen_at > now() - make_interval(days => ${days})
    group by 1`.execute(db)
  return rows
}

function sumsOf(rows: readonly StatusSum[]) {
  const sumOf = (status: DiscrepancyRow['status']) => {
    const row = rows.find((one) => one.status === status)
    return {
      count: Number(row?.count ?? 0n),
      difference_brl: jsonBrl(row?.nano_brl ?? 0n),
      difference_usd: jsonUsd(row?.pico_usd ?? 0n),
    }
  }
  return { open: sumOf('open'), explained: sumOf('explained'), gone: sumOf('gone') }
}

async function listUpstreamDays(db: Database, days: number) {
  const rows = await db
    .selectFrom('upstream_cost_days')
    .selectAll()
    .where('day', '>', sql<string>`(now() at time zone 'UTC')::date - ${days}::int4`)
    .orderBy('day', 'desc')
    .orderBy('upstream_id')
    .limit(REPORT_ENTRIES_MAX)
    .execute()
  return rows.map((row) => ({
    upstream: row.upstream_id,
    day: row.day,
    ours_usd: jsonUsd(row.ours_pico_usd),
    theirs_usd: jsonUsd(row.theirs_pico_usd),
    difference_usd: jsonUsd(row.ours_pico_usd - row.theirs_pico_usd),
    difference_percent: percentOf(row.ours_pico_usd, row.theirs_pico_usd),
    compared_at: row.compared_at,
  }))
}
