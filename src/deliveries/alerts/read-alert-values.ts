/**
 * Reads the values that a customer's alerts are compared with, from the account and the roll-ups, each once for
 * all alerts.
 */
import { sql } from 'kysely'
import type { Database } from '../../platform/db/open.ts'
import { findAccount } from '../../money/ledger/entries.ts'
import { decimalBrl } from '../../platform/lib/money.ts'
import type { Alert, AlertKind } from './alerts.ts'
import type { AlertReading } from './decide-alert.ts'
import { readRunway } from './read-runway.ts'

interface HourOfCalls {
  readonly keyId: string
  /** Not whole numbers: the oldest hour counts by its share. */
  readonly calls: number
  readonly failedCalls: number
}

const HOUR_MS = 3_600_000

/**
 * The calls of each key in the last 60 minutes, estimated from the sums of whole hours: the previous hour
 * counts by the share of it that lies within the 60 minutes, as if its calls were spread evenly. The events
 * would be exact, but they are up to an hour of calls to read every half minute.
 */
async function readHourOfCalls(
  db: Database,
  customerId: string,
  now: Date,
): Promise<HourOfCalls[]> {
  const sinceFullHour = now.getTime() % HOUR_MS
  const hourAt = new Date(now.getTime() - sinceFullHour)
  const share = 1 - sinceFullHour / HOUR_MS
  const { rows } = await sql<{
    api_key_id: string
    is_current: boolean
    charged: bigint
    released: bigint
  }>`
    select api_key_id, hour_at = ${hourAt} as is_current,
      sum(charged_requests)::int8 as charged, sum(released_requests)::int8 as released
    from usage_hours
    where customer_id = ${customerId} and hour_at >= ${new Date(hourAt.getTime() - HOUR_MS)}
      and hour_at <= ${hourAt}
    group by 1, 2`.execute(db)
  return rows.map((row) => {
    const weight = row.is_current ? 1 : share
    return {
      keyId: row.api_key_id,
      calls: weight * Number(row.charged + row.released),
      failedCalls: weight * Number(row.released),
    }
  })
}

export interface AlertValue extends AlertReading {
  /** What the event reports to the customer, in the form of event data. */
  readonly facts: Readonly<Record<string, unknown>>
}

/**
 * The least calls of which a rate of errors is read. Fewer prove nothing: with two calls, one failure is a rate of 50
 * percent.
 */
export const ERROR_CALLS_MIN = 20
const NANO = 1_000_000_000n
/** An upper bound of the runway that fits in the database column. */
const DAYS_MAX = 1_000_000_000

export async function readAlertValues(
  db: Database,
  customerId: string,
  alerts: readonly Alert[],
  now: Date,
): Promise<(alert: Alert) => AlertValue | null> {
  const kinds = new Set<AlertKind>(alerts.map(({ kind }) => kind))
  const scope = await createScopes(db, alerts)
  const calendar = await readCalendar(db, customerId, now)
  const spends = {
    daily_spend: kinds.has('daily_spend') && (await readSpend(db, customerId, calendar.day)),
    monthly_spend: kinds.has('monthly_spend') && (await readSpend(db, customerId, calendar.month)),
  }
  const runway = kinds.has('runway_days') && (await readRunway(db, customerId))
  const account = kinds.has('balance_below') && (await findAccount(db, customerId))
  const calls = kinds.has('error_rate') && (await readHourOfCalls(db, customerId, now))
  return (alert) => {
    switch (alert.kind) {
      case 'balance_below': {
        const balance = (account && account.balanceNanoBrl) || 0n
        return { valueNano: balance, period: null, facts: { balance_brl: decimalBrl(balance) } }
      }
      case 'daily_spend':
      case 'monthly_spend':
        return spendValue(spends[alert.kind] || undefined, scope(alert))
      case 'runway_days':
        return runway ? runwayValue(runway) : null
      case 'error_rate':
        return errorValue((calls || []).filter(({ keyId }) => scope(alert)(keyId)))
    }
  }
}

/** Which keys an alert covers. A key never moves to another team. */
async function createScopes(
  db: Database,
  alerts: readonly Alert[],
): Promise<(alert: Alert) => (keyId: string) => boolean> {
  const teamIds = alerts.flatMap(({ teamId }) => teamId ?? [])
  const keys =
    teamIds.length === 0
      ? []
      : await db
          .selectFrom('api_keys')
          .select(['id', 'team_id'])
          .where('team_id', 'in', teamIds)
          .execute()
  const teamOf = new Map(keys.map(({ id, team_id }) => [id, team_id]))
  return ({ apiKeyId, teamId }) => {
    if (apiKeyId !== null) return (keyId) => keyId === apiKeyId
    if (teamId !== null) return (keyId) => teamOf.get(keyId) === teamId
    return () => true
  }
}

interface Period {
  readonly name: string
  readonly startedAt: Date
}

/** Today and this month in the customer's time zone. */
async function readCalendar(
  db: Database,
  customerId: string,
  now: Date,
): Promise<{ day: Period; month: Period }> {
  const { rows } = await sql<{ day: string; month: string; day_at: Date; month_at: Date }>`
    select to_char(t.local_now, 'YYYY-MM-DD') as day, to_char(t.local_now, 'YYYY-MM') as month,
      date_trunc('day', t.local_now) at time zone c.timezone as day_at,
      date_trunc('month', t.local_now) at time zone c.timezone as month_at
    from customers c
    cross join lateral (select ${now}::timestamptz at time zone c.timezone as local_now) t
    where c.id = ${customerId}`.execute(db)
  const [row] = rows
  if (!row) throw new Error(`no customer ${customerId}`)
  return {
    day: { name: row.day, startedAt: row.day_at },
    month: { name: row.month, startedAt: row.month_at },
  }
}

interface Spend {
  readonly period: Period
  readonly byKey: readonly { readonly keyId: string; readonly nanoBrl: bigint }[]
}

async function readSpend(db: Database, customerId: string, period: Period): Promise<Spend> {
  const { rows } = await sql<{ api_key_id: string; billed: bigint }>`
    select api_key_id, sum(cost_billed_nano_brl)::int8 as billed
    from usage_between(${customerId}, ${period.startedAt}, 'infinity') group by 1`.execute(db)
  return { period, byKey: rows.map((row) => ({ keyId: row.api_key_id, nanoBrl: row.billed })) }
}

function spendValue(spend: Spend | undefined, isOf: (keyId: string) => boolean): AlertValue | null {
  if (!spend) return null
  const spent = spend.byKey.reduce(
    (sum, { keyId, nanoBrl }) => (isOf(keyId) ? sum + nanoBrl : sum),
    0n,
  )
  return {
    valueNano: spent,
    period: spend.period.name,
    facts: {
      spent_brl: decimalBrl(spent),
      period_started_at: spend.period.startedAt.toISOString(),
    },
  }
}

function runwayValue({
  runwayDays,
  balanceNanoBrl,
}: Awaited<ReturnType<typeof readRunway>>): AlertValue {
  const facts = { runway_days: runwayDays, balance_brl: decimalBrl(balanceNanoBrl) }
  const valueNano = runwayDays === null ? null : BigInt(Math.min(runwayDays, DAYS_MAX)) * NANO
  return { valueNano, period: null, facts }
}

/** No calls at all are an error rate of zero; a few calls are too little to decide. */
function errorValue(hours: readonly HourOfCalls[]): AlertValue | null {
  const calls = hours.reduce((sum, hour) => sum + hour.calls, 0)
  const failed = hours.reduce((sum, hour) => sum + hour.failedCalls, 0)
  if (calls >= 1 && calls < ERROR_CALLS_MIN) return null
  const basisPoints = calls < 1 ? 0 : Math.round((failed * 10_000) / calls)
  return {
    valueNano: (BigInt(basisPoints) * NANO) / 100n,
    period: null,
    facts: { error_percent: basisPoints / 100, requests: Math.round(calls) },
  }
}
