import { sql } from 'kysely'
import { claimDue } from '../../platform/db/due-rows.ts'
import type { Database } from '../../platform/db/open.ts'
import { workOff } from '../../platform/db/work-off.ts'
import { recordEvent } from '../../platform/events/record-event.ts'
import { decimalBrl } from '../../platform/lib/money.ts'
import type { Log } from '../../platform/lib/log.ts'
import { ALERT_RULES, toAlert, type Alert } from './alerts.ts'
import { decideAlert } from './decide-alert.ts'
import { lockAgainstDeletion } from './lock-against-deletion.ts'
import { readAlertValues, type AlertValue } from './read-alert-values.ts'

/** A little less than the interval of the timer, so that every run evaluates every alert. */
const EVALUATE_EVERY_SECONDS = 25
const CLAIM_MAX = 200

/**
 * Evaluates every due alert, on any number of nodes. An alert is claimed until its next evaluation, and fires
 * in the transaction that records its event. A node that dies between the two only delays it. Returns the
 * number of fired alerts.
 */
export async function evaluateAlerts(
  db: Database,
  { now, log }: { readonly now: Date; readonly log: Log },
): Promise<number> {
  let fired = 0
  await workOff<AlertsOfCustomer>({
    async claim(limit) {
      const claimed = await claimAlerts(db, now, limit)
      return [...Map.groupBy(claimed, (row) => row.customer_id)]
    },
    async work([customerId, rows]) {
      const ids = rows.map(({ id }) => id)
      fired += await db
        .transaction()
        .execute((trx) => evaluateOfCustomer(trx, customerId, ids, now))
    },
    // Alerts of other customers are still evaluated; these wait for their next time.
    onFailure: ([customerId], error) => log.error('alerts_not_evaluated', { customerId, error }),
    claimMax: CLAIM_MAX,
    atOnce: 1,
  })
  return fired
}

interface ClaimedAlert {
  readonly id: string
  readonly customer_id: string
}
type AlertsOfCustomer = readonly [customerId: string, rows: readonly ClaimedAlert[]]

function claimAlerts(db: Database, now: Date, limit: number): Promise<ClaimedAlert[]> {
  const due = {
    table: 'alerts',
    key: ['id'],
    isDue: sql`q.is_enabled and q.due_at <= ${now}`,
    orderBy: sql`q.due_at, q.customer_id, q.id`,
    lease: sql`due_at = ${now}::timestamptz + make_interval(secs => ${EVALUATE_EVERY_SECONDS})`,
    columns: sql`q.id, q.customer_id`,
  }
  return claimDue(db, due, limit)
}

/** Reads the alerts again with a lock, so that a change or a firing since the claim is seen. */
async function evaluateOfCustomer(
  trx: Database,
  customerId: string,
  ids: readonly string[],
  now: Date,
): Promise<number> {
  if (!(await lockAgainstDeletion(trx, customerId))) return 0
  const rows = await trx
    .selectFrom('alerts')
    .selectAll()
    .where('id', 'in', ids)
    .where('is_enabled', '=', true)
    .orderBy('id')
    .forNoKeyUpdate()
    .execute()
  const alerts = rows.map(toAlert)
  if (alerts.length === 0) return 0
  const valueOf = await readAlertValues(trx, customerId, alerts, now)
  let fired = 0
  for (const alert of alerts) {
    if (await applyValue(trx, alert, valueOf(alert), now)) fired += 1
  }
  return fired
}

async function applyValue(
  trx: Database,
  alert: Alert,
  value: AlertValue | null,
  now: Date,
): Promise<boolean> {
  const { direction } = ALERT_RULES[alert.kind]
  const { thresholdNano } = alert
  const { state, firedPeriod, fires } = decideAlert({ direction, thresholdNano }, alert, value)
  if (!fires && state === alert.state) return false
  await trx
    .updateTable('alerts')
    .set({
      state,
      fired_period: firedPeriod,
      ...(fires ? { last_fired_at: now, last_value_nano: value?.valueNano ?? 0n } : {}),
    })
    .where('id', '=', alert.id)
    .execute()
  if (fires)
    await recordEvent(trx, {
      customerId: alert.customerId,
      type: 'alert.triggered',
      data: eventData(alert, value),
    })
  return fires
}

function eventData(alert: Alert, value: AlertValue | null): Readonly<Record<string, unknown>> {
  const { id, name, kind, apiKeyId, teamId, channels, thresholdNano } = alert
  const threshold = decimalBrl(thresholdNano)
  const { unit } = ALERT_RULES[kind]
  return {
    id,
    name,
    kind,
    api_key_id: apiKeyId,
    team_id: teamId,
    channels,
    [`threshold_${unit}`]: unit === 'brl' ? threshold : Number(threshold),
    ...value?.facts,
  }
}
