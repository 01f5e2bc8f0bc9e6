/**
 * The spending of keys in the last 60 minutes, and their usual spending, from the roll-ups by hour. The last 60 minutes are
 * this hour and the previous one by its share, as if its calls were spread evenly (`readHourOfCalls`).
 */
import { sql, type RawBuilder } from 'kysely'
import type { SpendingGuard } from '../../customers/spending-guard.ts'
import type { Database } from '../../platform/db/open.ts'
import type { NanoBrl } from '../../platform/lib/money.ts'

/** The hours that the spending guard compares. All are whole UTC hours, as the roll-ups are. */
export interface SpendingWindows {
  readonly now: Date
  readonly hourAt: Date
  readonly previousHourAt: Date
  /** The share of the previous hour that lies within the last 60 minutes, in millionths. */
  readonly previousShareE6: bigint
  /** The usual pace is that of the hours from here to `previousHourAt`. */
  readonly usualFrom: Date
}

const HOUR_MS = 3_600_000
/** More than a month: what happens once a month is usual. */
const USUAL_DAYS = 35

export function spendingWindows(now: Date): SpendingWindows {
  const sinceFullHour = now.getTime() % HOUR_MS
  const hourAt = new Date(now.getTime() - sinceFullHour)
  const previousHourAt = new Date(hourAt.getTime() - HOUR_MS)
  return {
    now,
    hourAt,
    previousHourAt,
    previousShareE6: BigInt(Math.round((1 - sinceFullHour / HOUR_MS) * 1e6)),
    usualFrom: new Date(hourAt.getTime() - USUAL_DAYS * 24 * HOUR_MS),
  }
}

export interface SpendingKey {
  readonly customerId: string
  readonly keyId: string
  readonly guard: SpendingGuard
  readonly spentNanoBrl: NanoBrl
}

/** A key whose charge of the last minutes is settled was used within this time: a call takes 15 minutes at most. */
export const USED_WITHIN_SECONDS = 1_800
/** A younger key is compared with every key of its account: it may take the place of another one. */
const NEW_KEY_MS = 86_400_000

/** An SQL query of the customers of keys that were used lately: others spent nothing in the last minutes. */
export function customersOfUsedKeys(now: Date): RawBuilder<unknown> {
  return sql`select distinct k.customer_id from api_key_uses u join api_keys k on k.id = u.api_key_id
      where u.last_used_at >= ${now}::timestamptz - make_interval(secs => ${USED_WITHIN_SECONDS})`
}

/** A row of the queries for keys and for sessions. */
export interface SpendingRow {
  readonly customer_id: string
  readonly api_key_id: string
  readonly factor: number
  readonly floor: bigint
  readonly spent: bigint
}

export function toSpendingKey(row: SpendingRow): SpendingKey {
  return {
    customerId: row.customer_id,
    keyId: row.api_key_id,
    guard: { factor: row.factor, floorNanoBrl: row.floor },
    spentNanoBrl: row.spent,
  }
}

/** Returns the keys that spent at least the floor of their account, without those that are paused or revoked. */
export async function listSpendingKeys(
  db: Database,
  { now, hourAt, previousHourAt, previousShareE6 }: SpendingWindows,
): Promise<SpendingKey[]> {
  const spent = sql`(coalesce(sum(h.cost_billed_nano_brl) filter (where h.hour_at = ${hourAt}), 0) * 1000000
    + coalesce(sum(h.cost_billed_nano_brl) filter (where h.hour_at = ${previousHourAt}), 0) * ${previousShareE6}::int8) / 1000000`
  const { rows } = await sql<SpendingRow>`
    with active as (${customersOfUsedKeys(now)}), paces as (
      select h.customer_id, h.api_key_id, c.anomaly_factor as factor, c.anomaly_floor_nano_brl as floor,
        (${spent})::int8 as spent
      from active a
      join customers c on c.id = a.customer_id and c.anomaly_factor is not null and c.deleted_at is null
      join usage_hours h on h.customer_id = a.customer_id and h.hour_at in (${hourAt}, ${previousHourAt})
      group by 1, 2, 3, 4
    )
    select p.* from paces p
    join api_keys k on k.id = p.api_key_id and k.paused_at is null and k.revoked_at is null
    where p.spent >= p.floor`.execute(db)
  return rows.map(toSpendingKey)
}

/** The usual spending of the keys of one account, by the hour. */
export interface UsualPaces {
  of(keyId: string): NanoBrl
}

/** Returns the busiest hour of each key. It stays the same until the next full hour. */
export async function readUsualPaces(
  db: Database,
  customerId: string,
  { now, previousHourAt, usualFrom }: SpendingWindows,
): Promise<UsualPaces> {
  const { rows } = await sql<{ api_key_id: string; busiest: bigint; first_hour_at: Date }>`
    select api_key_id, max(spent)::int8 as busiest, min(hour_at) as first_hour_at
    from (
      select api_key_id, hour_at, sum(cost_billed_nano_brl) as spent from usage_hours
      where customer_id = ${customerId} and hour_at >= ${usualFrom} and hour_at < ${previousHourAt}
      group by 1, 2
    ) hours group by 1`.execute(db)
  const byKey = new Map(rows.map((row) => [row.api_key_id, row]))
  const ofAccount = rows.reduce((most, { busiest }) => (busiest > most ? busiest : most), 0n)
  return {
    of(keyId) {
      const own = byKey.get(keyId)
      const isNew = !own || now.getTime() - own.first_hour_at.getTime() < NEW_KEY_MS
      return isNew ? ofAccount : own.busiest
    },
  }
}
