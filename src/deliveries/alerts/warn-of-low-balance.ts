/**
 * Records `balance.low` when a balance will not last. Every customer who ever topped up gets the warning,
 * without an alert. Only accounts that changed since the last check are checked: the balance of the others
 * lasts no shorter than before.
 */
import { sql } from 'kysely'
import type { Database } from '../../platform/db/open.ts'
import { recordEvent } from '../../platform/events/record-event.ts'
import { hasToppedUp } from '../../customers/has-topped-up.ts'
import { decimalBrl } from '../../platform/lib/money.ts'
import type { Log } from '../../platform/lib/log.ts'
import { lockAgainstDeletion } from './lock-against-deletion.ts'
import { readRunway } from './read-runway.ts'
import { decideAlert } from './decide-alert.ts'

/** How long the balance will last. */
export type BalanceLevel = 'ok' | 'low' | 'critical'

/** The limits of `GET /me/runway`. */
const CRITICAL_DAYS = 7
const LOW_DAYS = 14

/**
 * A level is entered when an alert with its threshold would fire, and left when that alert would be rearmed.
 * Only a change for the worse is a warning: from critical to low there is none. Pure.
 */
export function decideLevel(
  level: BalanceLevel,
  runwayDays: number | null,
): { readonly level: BalanceLevel; readonly isWorse: boolean } {
  const next = isWithin(CRITICAL_DAYS, level === 'critical', runwayDays)
    ? 'critical'
    : isWithin(LOW_DAYS, level !== 'ok', runwayDays)
      ? 'low'
      : 'ok'
  const isWorse = next !== level && next !== 'ok' && level !== 'critical'
  return { level: next, isWorse }
}

function isWithin(days: number, isTriggered: boolean, runwayDays: number | null): boolean {
  const { state } = decideAlert(
    { direction: 'below', thresholdNano: BigInt(days) },
    { state: isTriggered ? 'triggered' : 'ok', firedPeriod: null },
    { valueNano: runwayDays === null ? null : BigInt(runwayDays), period: null },
  )
  return state === 'triggered'
}

/** Per account: the runway is counted in days, so a more frequent check gains nothing. */
const CHECK_EVERY_SECONDS = 300
const BATCH = 500

/**
 * Warns customers whose balance is low. Any number of nodes may run it at once: one node checks each account. Returns
 * the number of warned customers.
 */
export async function warnOfLowBalance(
  db: Database,
  { now, log }: { readonly now: Date; readonly log: Log },
): Promise<number> {
  let warned = 0
  for (let after: string | undefined; ;) {
    const ids = await listMoved(db, now, after)
    for (const customerId of ids) {
      try {
        if (await db.transaction().execute((trx) => checkBalance(trx, customerId, now))) warned += 1
      } catch (error) {
        log.error('balance_check_failed', { customerId, error })
      }
    }
    if (ids.length < BATCH) return warned
    after = ids.at(-1)
  }
}

/** Each counter only grows, so a change of any of them changes the sum. */
const MOVED_NANO_BRL = sql<bigint>`(a.credited_nano_brl + a.debited_nano_brl + a.charged_nano_brl)`

async function listMoved(db: Database, now: Date, after: string | undefined): Promise<string[]> {
  const { rows } = await sql<{ customer_id: string }>`
    select a.customer_id from accounts a
    join customers c on c.id = a.customer_id and c.deleted_at is null
    left join balance_watches w on w.customer_id = a.customer_id
    where a.credited_nano_brl > 0 and a.customer_id > ${after ?? '00000000-0000-0000-0000-000000000000'}
      and w.seen_nano_brl is distinct from ${MOVED_NANO_BRL}
      and coalesce(w.looked_at, '-infinity') <= ${now}::timestamptz - make_interval(secs => ${CHECK_EVERY_SECONDS})
    order by a.customer_id limit ${BATCH}`.execute(db)
  return rows.map((row) => row.customer_id)
}

async function checkBalance(trx: Database, customerId: string, now: Date): Promise<boolean> {
  if (!(await lockAgainstDeletion(trx, customerId))) return false
  await sql`
    insert into balance_watches (customer_id) values (${customerId})
    on conflict do nothing`.execute(trx)
  const { rows } = await sql<{ level: BalanceLevel; moved: bigint; is_done: boolean }>`
    select w.level, ${MOVED_NANO_BRL} as moved, ${MOVED_NANO_BRL} = w.seen_nano_brl as is_done
    from balance_watches w join accounts a on a.customer_id = w.customer_id
    where w.customer_id = ${customerId} for no key update of w skip locked`.execute(trx)
  const [watch] = rows
  if (!watch || watch.is_done) return false
  const { runwayDays, balanceNanoBrl } = await readRunway(trx, customerId)
  const { level, isWorse } = decideLevel(watch.level, runwayDays)
  // An empty balance was already reported as `balance.depleted` when it happened.
  const isWarned = isWorse && balanceNanoBrl > 0n && (await hasToppedUp(trx, customerId))
  await trx
    .updateTable('balance_watches')
    .set({
      level,
      seen_nano_brl: watch.moved,
      looked_at: now,
      ...(isWarned ? { warned_at: now } : {}),
    })
    .where('customer_id', '=', customerId)
    .execute()
  if (isWarned)
    await recordEvent(trx, {
      customerId,
      type: 'balance.low',
      data: {
        critical: level === 'critical',
        balance_brl: decimalBrl(balanceNanoBrl),
        runway_days: runwayDays,
      },
    })
  return isWarned
}
