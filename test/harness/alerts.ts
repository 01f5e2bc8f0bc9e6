/** Alerts, and looking at them at a time of the test's choosing. */
import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { SYSTEM } from '../../src/platform/audit-log/audited.ts'
import { createAlert, type Alert, type AlertInput } from '../../src/deliveries/alerts/alerts.ts'
import { evaluateAlerts } from '../../src/deliveries/alerts/evaluate-alerts.ts'
import type { Database } from '../../src/platform/db/open.ts'
import { createLog, type Log } from '../../src/platform/lib/log.ts'
import { parseBrl } from '../../src/platform/lib/money.ts'

export const BRL = 1_000_000_000n

/** Messages that were logged as errors. */
export const errors: string[] = []
export const log: Log = createLog('error', (line) => errors.push(line))

/** A Wednesday at noon of UTC, some weeks ago, so that a month before it and one after it are there too. */
export const NOON = new Date(Date.UTC(2026, 8, 16, 12))

export function hoursFromNoon(hours: number): Date {
  return new Date(NOON.getTime() + hours * 3_600_000)
}

export async function addAlert(
  db: Database,
  customerId: string,
  input: Pick<AlertInput, 'kind'> & Partial<AlertInput> & { threshold: string },
): Promise<Alert> {
  const { threshold, ...rest } = input
  const made = await createAlert(db, SYSTEM, {
    customerId,
    name: `alerta ${input.kind}`,
    thresholdNano: parseBrl(threshold) as bigint,
    apiKeyId: null,
    teamId: null,
    channels: ['email', 'webhook'],
    isEnabled: true,
    ...rest,
  })
  assert.ok('id' in made)
  return made
}

/**
 * Runs two evaluations concurrently: the first waits at its read until the second has ended or waits there too.
 * Returns how many alerts both fired together.
 */
export async function evaluateConcurrently(
  db: Database,
  evaluations: readonly [() => Promise<number>, () => Promise<number>],
): Promise<number> {
  const waiting = async (): Promise<number> => {
    const { rows } = await sql<{ count: number }>`
      select count(*)::int4 as count from pg_locks
      where not granted and relation = 'usage_hours'::regclass
        -- The view tells of all databases, and those of other tests are copies: their tables have the same number.
        and database = (select oid from pg_database where datname = current_database())`.execute(db)
    return rows[0]?.count ?? 0
  }
  const running = await db.transaction().execute(async (trx) => {
    await sql`lock table usage_hours in access exclusive mode`.execute(trx)
    const first = evaluations[0]()
    while ((await waiting()) < 1) await sleep(5)
    const state = { hasEnded: false }
    const second = evaluations[1]().finally(() => (state.hasEnded = true))
    while (!state.hasEnded && (await waiting()) < 2) await sleep(5)
    return [first, second] as const
  })
  const [first, second] = await Promise.all(running)
  return first + second
}

/** Evaluates every alert, due or not. Returns how many fired. */
export async function evaluateAll(db: Database, now: Date): Promise<number> {
  await sql`update alerts set due_at = '-infinity'`.execute(db)
  return evaluateAlerts(db, { now, log })
}

export async function firedOf(
  db: Database,
  customerId: string,
  type = 'alert.triggered',
): Promise<Record<string, any>[]> {
  const rows = await db
    .selectFrom('events')
    .select('data')
    .where('customer_id', '=', customerId)
    .where('type', '=', type)
    .orderBy('created_at')
    .orderBy('id')
    .execute()
  return rows.map(({ data }) => data)
}

export function rowOf(db: Database, { id }: Pick<Alert, 'id'>) {
  return db.selectFrom('alerts').selectAll().where('id', '=', id).executeTakeFirstOrThrow()
}
