/**
 * Twelve months of usage in a database that is kept: generated once, month by month, and continued up to now
 * by every later run, so that the last hour is never empty. An interrupted generation resumes.
 */
import pg from 'pg'
import { connectionConfig, type Database } from '../../src/platform/db/open.ts'
import { rollUsageDays } from '../../src/money/ledger/roll-usage-days.ts'
import { addBelongings } from './add-belongings.ts'
import { addCustomers, storeModels } from './add-customers.ts'
import { addEvents, type Stretch } from './add-events.ts'

export interface HistorySize {
  readonly events: number
  readonly customers: number
  /** The heavy customer's share of all calls. */
  readonly heavyShare: number
}

/** A shorter gap is left as it is. */
const GAP_MS_MIN = 60_000
const MONTHS = 12

/** For statements that take minutes; an incomplete history does not have to survive a power failure. */
export async function openHistoryClient(databaseUrl: string): Promise<pg.Client> {
  const client = new pg.Client(connectionConfig(databaseUrl))
  client.on('error', () => {})
  await client.connect()
  await client.query(`set synchronous_commit = off; set work_mem = '256MB'; set maintenance_work_mem = '512MB';
    set temp_buffers = '64MB'; select setseed(0.42)`)
  return client
}

export async function ensureHistory(
  databaseUrl: string,
  db: Database,
  size: HistorySize,
  report: (...words: string[]) => void,
): Promise<{ isNew: boolean }> {
  const client = await openHistoryClient(databaseUrl)
  try {
    const begun = await findHistory(client)
    if (begun && (begun.events !== size.events || begun.customers !== size.customers))
      throw new Error(
        `the history in this data folder has ${begun.events} events of ${begun.customers} customers`,
      )
    const now = new Date()
    const start = begun?.until ?? monthsBefore(now, MONTHS)
    if (!begun) await begin(client, size, start)
    await addBelongings(client)
    const isGap = now.getTime() - start.getTime() >= GAP_MS_MIN
    if (isGap) {
      await storeModels(client, db)
      await addRates(client, start, now)
      for (const stretch of stretches(start, now, size)) {
        const startedAt = performance.now()
        const added = await addEvents(client, stretch)
        const seconds = (performance.now() - startedAt) / 1000
        report(
          stretch.from.toISOString().slice(0, 16),
          `${added} events`,
          `${Math.round(added / seconds)}/s`,
        )
      }
      await finish(client, db, report)
    }
    return { isNew: !begun }
  } finally {
    await client.end()
  }
}

async function findHistory(
  client: pg.Client,
): Promise<(Omit<HistorySize, 'heavyShare'> & { until: Date }) | undefined> {
  const { rows } = await client.query(`select to_regclass('bench.history') is not null as known`)
  if (!rows[0].known) return undefined
  const found = await client.query('select events, customers, until from bench.history')
  const row = found.rows[0]
  return row && { events: Number(row.events), customers: row.customers, until: row.until }
}

async function begin(client: pg.Client, size: HistorySize, start: Date): Promise<void> {
  await client.query(`begin;
    create schema bench;
    create table bench.history (events int8, customers int4, started_at timestamptz, until timestamptz)`)
  await client.query('insert into bench.history values ($1, $2, $3, $3)', [
    size.events,
    size.customers,
    start,
  ])
  await addMonths(client, start)
  await addCustomers(client, size.customers)
  await client.query('commit')
}

/** Partitions of past months; the server creates the current and the following ones. */
async function addMonths(client: pg.Client, start: Date): Promise<void> {
  const now = new Date()
  // No event is that old yet.
  await client.query('drop table usage_events_past')
  for (let month = monthOf(start, 0); month < monthOf(now, 0); month = monthOf(month, 1)) {
    const name = `public.usage_events_${month.toISOString().slice(0, 7).replace('-', '_')}`
    await client.query(`create table ${name} partition of usage_events
      for values from ('${month.toISOString()}') to ('${monthOf(month, 1).toISOString()}')`)
  }
  await client.query(`create table public.usage_events_past partition of usage_events
    for values from (minvalue) to ('${monthOf(start, 0).toISOString()}')`)
}

/** One rate for each business day, between 5.00 and 5.60. */
async function addRates(client: pg.Client, from: Date, to: Date): Promise<void> {
  await client.query(
    `insert into fx_rates (rate_e4, rate_date, bulletin_at, source)
     select 53000 + round(3000 * sin(extract(doy from day) / 20.0))::int4, day::date, day + interval '16 hours', 'bcb_olinda'
     from generate_series(date_trunc('day', $1::timestamptz) - interval '7 days', $2::timestamptz, interval '1 day') as day
     where extract(isodow from day) < 6 and not exists (select 1 from fx_rates f where f.rate_date = day::date)`,
    [from, to],
  )
}

/** Split by month, so that progress can be reported; each part has its share of the year's events. */
function stretches(start: Date, end: Date, { events: ofYear, heavyShare }: HistorySize): Stretch[] {
  const year = end.getTime() - monthsBefore(end, MONTHS).getTime()
  const all: Stretch[] = []
  for (let from = start; from < end;) {
    const next = monthOf(from, 1)
    const to = next < end ? next : end
    const events = Math.round((ofYear * (to.getTime() - from.getTime())) / year)
    all.push({ from, to, events, heavyShare })
    from = to
  }
  return all
}

async function finish(
  client: pg.Client,
  db: Database,
  report: (...words: string[]) => void,
): Promise<void> {
  report('days, budgets')
  await rollUsageDays(db)
  await client.query(`
    update team_budgets b set period_started_at = at, spent_nano_brl = spent, spent_before_nano_brl = spent,
      spent_since = clock_timestamp()
    from (select team_id, budget_period_start('month', 'America/Sao_Paulo') as at, sum(cost_billed_nano_brl) as spent
      from usage_events where created_at >= budget_period_start('month', 'America/Sao_Paulo') group by 1) e
    where e.team_id = b.team_id;
    update api_key_budgets b set period_started_at = at, spent_pico_usd = spent, spent_before_pico_usd = spent,
      spent_since = clock_timestamp()
    from (select api_key_id, budget_period_start('month', 'America/Sao_Paulo') as at,
        sum(round(cost_upstream_pico_usd::numeric * markup_e4 / 10000)) as spent
      from usage_events where created_at >= budget_period_start('month', 'America/Sao_Paulo') group by 1) e
    where e.api_key_id = b.api_key_id`)
  report('vacuum')
  await client.query('vacuum (analyze)')
  await client.query('checkpoint')
}

function monthsBefore(at: Date, months: number): Date {
  const before = new Date(at)
  before.setUTCMonth(before.getUTCMonth() - months)
  return before
}

/** The start of the month in UTC, or of a later one. */
function monthOf(at: Date, later: number): Date {
  return new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + later))
}
