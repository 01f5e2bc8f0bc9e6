/**
 * The spending guard: pauses keys that spent far above the usual pace within an hour, and notifies their owners, who
 * resume them in the dashboard. It reads roll-ups only, so calls pay nothing for it; docs/decisions.md says how long an
 * anomaly can run before it is seen.
 */
import { sql } from 'kysely'
import { audited, SYSTEM } from '../../platform/audit-log/audited.ts'
import { recordPausedKeys } from '../../customers/key-acts.ts'
import { pauseKeys } from '../../customers/pause-keys.ts'
import type { Database } from '../../platform/db/open.ts'
import { decimalBrl, type NanoBrl } from '../../platform/lib/money.ts'
import type { Log } from '../../platform/lib/log.ts'
import {
  listSpendingKeys,
  readUsualPaces,
  type SpendingKey,
  type UsualPaces,
  customersOfUsedKeys,
  toSpendingKey,
  USED_WITHIN_SECONDS,
  type SpendingRow,
  spendingWindows,
  type SpendingWindows,
} from './read-key-paces.ts'
import type { SpendingGuard } from '../../customers/spending-guard.ts'

/**
 * A usage session of the last day with its spending in the last 60 minutes, and the key that spent the most in it. An
 * older session is no single task; only its key is checked.
 */
interface SpendingSession extends SpendingKey {
  readonly sessionId: string
}

/** Of the newest ended sessions of an account. */
const SESSIONS_READ_MAX = 5_000

/** The sessions that spent at least the floor of their account. */
async function listSpendingSessions(
  db: Database,
  { now }: SpendingWindows,
): Promise<SpendingSession[]> {
  const { rows } = await sql<SpendingRow & { readonly session_id: string }>`
    with active as (${customersOfUsedKeys(now)}), found as (
      select s.customer_id, s.session_id, c.anomaly_factor as factor, c.anomaly_floor_nano_brl as floor
      from active a
      join customers c on c.id = a.customer_id and c.anomaly_factor is not null and c.deleted_at is null
      join usage_sessions s on s.customer_id = a.customer_id
        and s.last_request_at >= ${now}::timestamptz - make_interval(secs => ${USED_WITHIN_SECONDS})
        and s.first_request_at >= ${now}::timestamptz - interval '1 day'
        and s.cost_billed_nano_brl >= c.anomaly_floor_nano_brl
    )
    select f.*, e.spent, e.api_key_id from found f
    cross join lateral (
      select (sum(sum(cost_billed_nano_brl)) over ())::int8 as spent, api_key_id
      from usage_events
      where customer_id = f.customer_id and session_id = f.session_id
        and created_at >= ${now}::timestamptz - interval '1 hour'
      group by api_key_id order by sum(cost_billed_nano_brl) desc, api_key_id limit 1
    ) e
    join api_keys k on k.id = e.api_key_id and k.paused_at is null and k.revoked_at is null
    where e.spent >= f.floor`.execute(db)
  return rows.map((row) => ({ ...toSpendingKey(row), sessionId: row.session_id }))
}

/** The dearest hour of an ended session, on the session's average; undefined if there is none to compare with. */
async function readUsualSessionPace(
  db: Database,
  customerId: string,
  { previousHourAt, usualFrom }: SpendingWindows,
): Promise<NanoBrl | undefined> {
  const { rows } = await sql<{ usual: bigint | null }>`
    select max(cost_billed_nano_brl * 3600
      / greatest(3600, extract(epoch from last_request_at - first_request_at)))::int8 as usual
    from (
      select * from usage_sessions
      where customer_id = ${customerId} and last_request_at >= ${usualFrom}
        and last_request_at < ${previousHourAt}
      order by last_request_at desc limit ${SESSIONS_READ_MAX}
    ) ended`.execute(db)
  return rows[0]?.usual ?? undefined
}

/** Returns a function that looks once, and resolves to the number of keys that it paused. */
export function createPauseSpendingKeys(deps: {
  readonly db: Database
  readonly log: Log
  readonly now?: () => Date
}): () => Promise<number> {
  const { db, log, now = () => new Date() } = deps
  /** By customer, for the current hour. */
  let usual = new Map<string, UsualPaces>()
  let usualAtMs = 0

  async function usualOf(customerId: string, windows: SpendingWindows): Promise<UsualPaces> {
    if (windows.hourAt.getTime() !== usualAtMs) {
      usual = new Map()
      usualAtMs = windows.hourAt.getTime()
    }
    const known = usual.get(customerId) ?? (await readUsualPaces(db, customerId, windows))
    usual.set(customerId, known)
    return known
  }

  return async function pauseSpendingKeys() {
    const windows = spendingWindows(now())
    let paused = 0
    const judge = async (
      key: SpendingKey & { readonly sessionId?: string },
      usualNanoBrl: NanoBrl,
    ): Promise<void> => {
      const kind = key.sessionId === undefined ? 'key' : 'session'
      const wanted = { keyId: key.keyId, kind, since: windows.usualFrom } as const
      const accepted = await findAcceptedPace(db, wanted)
      const pace = { ...key, usualNanoBrl: accepted > usualNanoBrl ? accepted : usualNanoBrl }
      if (isAnomaly(key.guard, pace) && (await pause(db, kind, pace))) {
        paused += 1
        log.warn('key_paused_by_guard', { keyId: key.keyId, kind })
      }
    }
    for (const key of await listSpendingKeys(db, windows))
      await judge(key, (await usualOf(key.customerId, windows)).of(key.keyId))
    for (const session of await listSpendingSessions(db, windows)) {
      const usualNanoBrl = await readUsualSessionPace(db, session.customerId, windows)
      if (usualNanoBrl !== undefined) await judge(session, usualNanoBrl)
    }
    return paused
  }
}

function pause(
  db: Database,
  kind: PaceKind,
  {
    keyId,
    sessionId,
    spentNanoBrl,
    usualNanoBrl,
  }: SpendingKey & { readonly sessionId?: string; readonly usualNanoBrl: NanoBrl },
): Promise<boolean> {
  return audited(db, SYSTEM, async (trx, record) => {
    const keys = await pauseKeys(trx, { keyId }, 'anomaly')
    if (keys.length === 0) return false
    await noteAcceptedPace(trx, { keyId, kind, paceNanoBrl: spentNanoBrl })
    await recordPausedKeys(trx, record, keys, 'anomaly', {
      spent_in_hour_brl: decimalBrl(spentNanoBrl),
      usual_in_hour_brl: decimalBrl(usualNanoBrl),
      ...(sessionId === undefined ? {} : { session_id: sessionId }),
    })
    return true
  })
}

/** Amounts of one hour. */
interface Pace {
  /** Spent in the last 60 minutes. */
  readonly spentNanoBrl: NanoBrl
  /** The most that was usual in an hour. */
  readonly usualNanoBrl: NanoBrl
}

/** Whether so much in an hour is an anomaly. */
function isAnomaly(
  { factor, floorNanoBrl }: SpendingGuard,
  { spentNanoBrl, usualNanoBrl }: Pace,
): boolean {
  if (factor === null || spentNanoBrl < floorNanoBrl) return false
  return spentNanoBrl >= BigInt(factor) * usualNanoBrl
}

/** Says whether a pace is that of the key, or that of one session with it. */
type PaceKind = 'key' | 'session'

/**
 * Records the pace at which a key was paused. If its owner lets it go on, as much is usual from then on: the guard must
 * not stop the same work a minute later.
 */
async function noteAcceptedPace(
  trx: Database,
  pace: { readonly keyId: string; readonly kind: PaceKind; readonly paceNanoBrl: NanoBrl },
): Promise<void> {
  const { keyId, kind, paceNanoBrl } = pace
  await sql`
    insert into accepted_paces (api_key_id, kind, pace_nano_brl) values (${keyId}, ${kind}, ${paceNanoBrl})
    on conflict (api_key_id, kind) do update set pace_nano_brl = excluded.pace_nano_brl, paused_at = now()`.execute(
    trx,
  )
}

/** Zero if there is none since the given time. */
async function findAcceptedPace(
  db: Database,
  wanted: { readonly keyId: string; readonly kind: PaceKind; readonly since: Date },
): Promise<NanoBrl> {
  const row = await db
    .selectFrom('accepted_paces')
    .select('pace_nano_brl')
    .where('api_key_id', '=', wanted.keyId)
    .where('kind', '=', wanted.kind)
    .where('paused_at', '>=', wanted.since)
    .executeTakeFirst()
  return row?.pace_nano_brl ?? 0n
}
