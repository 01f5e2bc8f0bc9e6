/**
 * Start here: alerts that customers set on their spending and their balance.
 * `evaluate-alerts.ts` evaluates them, `decide-alert.ts` decides when one fires. Warnings of a low balance need
 * no alert and are in `warn-of-low-balance.ts`. This room records events; mails and webhooks are sent
 * elsewhere.
 */
import { sql, type Selectable } from 'kysely'
import { audited, type Actor } from '../../platform/audit-log/audited.ts'
import { listOwnKeyIds } from '../../customers/api-keys.ts'
import { lockCustomer } from '../../customers/customers.ts'
import type { Database } from '../../platform/db/open.ts'
import type { Tables } from '../../platform/db/tables.ts'
import type { Channel } from '../../platform/events/record-event.ts'
import { createId, isUuid } from '../../platform/lib/ids.ts'
import type { AlertState, AlertRule } from './decide-alert.ts'

export const ALERT_KINDS = [
  'balance_below',
  'daily_spend',
  'monthly_spend',
  'runway_days',
  'error_rate',
] as const
export type AlertKind = (typeof ALERT_KINDS)[number]

interface AlertKindRules {
  readonly direction: AlertRule['direction']
  readonly unit: 'brl' | 'days' | 'percent'
  /** Bounds of the threshold, in its unit. */
  readonly min: number
  readonly max: number
  readonly decimals: number
  /** API keys and teams have no balance of their own. */
  readonly isForWholeAccountOnly: boolean
}

const BRL = { unit: 'brl', min: 0.01, max: 1_000_000, decimals: 2 } as const

export const ALERT_RULES: Readonly<Record<AlertKind, AlertKindRules>> = {
  balance_below: { ...BRL, direction: 'below', isForWholeAccountOnly: true },
  daily_spend: { ...BRL, direction: 'above', isForWholeAccountOnly: false },
  monthly_spend: { ...BRL, direction: 'above', isForWholeAccountOnly: false },
  runway_days: {
    unit: 'days',
    min: 1,
    max: 365,
    decimals: 0,
    direction: 'below',
    isForWholeAccountOnly: true,
  },
  error_rate: {
    unit: 'percent',
    min: 1,
    max: 100,
    decimals: 2,
    direction: 'above',
    isForWholeAccountOnly: false,
  },
}

export interface Alert {
  readonly id: string
  readonly customerId: string
  readonly name: string
  readonly kind: AlertKind
  /** In billionths of the kind's unit. */
  readonly thresholdNano: bigint
  /** When key and team are both null, the alert is on the whole account. */
  readonly apiKeyId: string | null
  readonly teamId: string | null
  readonly channels: readonly Channel[]
  readonly isEnabled: boolean
  readonly state: AlertState
  readonly firedPeriod: string | null
  readonly lastFiredAt: Date | null
  readonly lastValueNano: bigint | null
  readonly createdAt: Date
  readonly updatedAt: Date
}

export type AlertInput = Pick<
  Alert,
  | 'customerId'
  | 'name'
  | 'kind'
  | 'thresholdNano'
  | 'apiKeyId'
  | 'teamId'
  | 'channels'
  | 'isEnabled'
>
export type AlertChange = Partial<Pick<Alert, 'name' | 'thresholdNano' | 'channels' | 'isEnabled'>>

/** The most alerts that one customer may have. */
export const ALERTS_MAX = 50

type NotCreated = { kind: 'too_many_alerts' | 'key_not_found' | 'team_not_found' }

export function createAlert(
  db: Database,
  actor: Actor,
  input: AlertInput,
): Promise<Alert | NotCreated> {
  return audited(db, actor, async (trx, record) => {
    const made = await insertAlert(trx, input)
    if ('id' in made) await record({ ...alertAct('created', made), details: { kind: made.kind } })
    return made
  })
}

async function insertAlert(trx: Database, input: AlertInput): Promise<Alert | NotCreated> {
  const { customerId, apiKeyId, teamId } = input
  await lockCustomer(trx, customerId)
  if (apiKeyId !== null && !(await isOwnKey(trx, customerId, apiKeyId)))
    return { kind: 'key_not_found' }
  if (teamId !== null && !(await isOwnTeam(trx, customerId, teamId)))
    return { kind: 'team_not_found' }
  if ((await listAlerts(trx, customerId)).length >= ALERTS_MAX) return { kind: 'too_many_alerts' }
  const row = await trx
    .insertInto('alerts')
    .values({
      id: createId(),
      customer_id: customerId,
      name: input.name,
      kind: input.kind,
      threshold_nano: input.thresholdNano,
      api_key_id: apiKeyId,
      team_id: teamId,
      channels: [...input.channels],
      is_enabled: input.isEnabled,
    })
    .returningAll()
    .executeTakeFirstOrThrow()
  return toAlert(row)
}

/** Returns the customer's alerts, the oldest first. */
export async function listAlerts(db: Database, customerId: string): Promise<Alert[]> {
  const rows = await db
    .selectFrom('alerts')
    .selectAll()
    .where('customer_id', '=', customerId)
    .orderBy('created_at')
    .orderBy('id')
    .execute()
  return rows.map(toAlert)
}

export async function findAlert(
  db: Database,
  customerId: string,
  id: string,
): Promise<Alert | undefined> {
  if (!isUuid(id)) return undefined
  const row = await ofCustomer(db, customerId, id).executeTakeFirst()
  return row && toAlert(row)
}

/** Locks the alert: it neither changes nor fires until the transaction ends. */
async function lockAlert(
  trx: Database,
  customerId: string,
  id: string,
): Promise<Alert | undefined> {
  if (!isUuid(id)) return undefined
  await lockCustomer(trx, customerId)
  const row = await ofCustomer(trx, customerId, id).forNoKeyUpdate().executeTakeFirst()
  return row && toAlert(row)
}

/**
 * A new threshold arms the alert again, and its next evaluation is due at once. `fields` are the names of the changed
 * fields, as the caller's interface calls them; without any, nothing happens. `readChange` checks the change against
 * the kind of the alert, and its error rolls the act back.
 */
export function changeAlert(
  db: Database,
  actor: Actor,
  {
    customerId,
    id,
    readChange,
    fields,
  }: {
    customerId: string
    id: string
    readChange: (kind: AlertKind) => AlertChange
    fields: readonly string[]
  },
): Promise<Alert | undefined> {
  return audited(db, actor, async (trx, record) => {
    const found = await lockAlert(trx, customerId, id)
    if (!found) return undefined
    const change = readChange(found.kind)
    if (fields.length === 0) return found
    await record({ ...alertAct('changed', found), details: { fields } })
    return updateAlert(trx, found, change)
  })
}

async function updateAlert(trx: Database, alert: Alert, change: AlertChange): Promise<Alert> {
  const { name, thresholdNano, channels, isEnabled } = change
  const isOther = thresholdNano !== undefined && thresholdNano !== alert.thresholdNano
  const row = await trx
    .updateTable('alerts')
    .set({
      ...(name === undefined ? {} : { name }),
      ...(channels === undefined ? {} : { channels: [...channels] }),
      ...(isEnabled === undefined ? {} : { is_enabled: isEnabled }),
      ...(isOther
        ? { threshold_nano: thresholdNano, state: 'ok' as const, fired_period: null }
        : {}),
      due_at: sql<Date>`now()`,
      updated_at: sql<Date>`now()`,
    })
    .where('id', '=', alert.id)
    .returningAll()
    .executeTakeFirstOrThrow()
  return toAlert(row)
}

export function deleteAlert(
  db: Database,
  actor: Actor,
  { customerId, id }: { customerId: string; id: string },
): Promise<Alert | undefined> {
  return audited(db, actor, async (trx, record) => {
    const found = await lockAlert(trx, customerId, id)
    if (!found) return undefined
    await trx.deleteFrom('alerts').where('id', '=', found.id).execute()
    await record(alertAct('deleted', found))
    return found
  })
}

function alertAct(
  verb: 'created' | 'changed' | 'deleted',
  { id, customerId }: Alert,
): { action: `alert.${string}`; customerId: string; subjectId: string } {
  return { action: `alert.${verb}`, customerId, subjectId: id }
}

async function isOwnKey(trx: Database, customerId: string, keyId: string): Promise<boolean> {
  return isUuid(keyId) && (await listOwnKeyIds(trx, customerId, [keyId])).length > 0
}

/** The team's owner pays and owns the usage, so members cannot set alerts on it. */
async function isOwnTeam(trx: Database, customerId: string, teamId: string): Promise<boolean> {
  if (!isUuid(teamId)) return false
  const row = await trx
    .selectFrom('teams')
    .select('id')
    .where('id', '=', teamId)
    .where('customer_id', '=', customerId)
    .where('deleted_at', 'is', null)
    .executeTakeFirst()
  return row !== undefined
}

function ofCustomer(db: Database, customerId: string, id: string) {
  return db
    .selectFrom('alerts')
    .selectAll()
    .where('id', '=', id)
    .where('customer_id', '=', customerId)
}

export function toAlert(row: Selectable<Tables['alerts']>): Alert {
  return {
    id: row.id,
    customerId: row.customer_id,
    name: row.name,
    kind: row.kind,
    thresholdNano: row.threshold_nano,
    apiKeyId: row.api_key_id,
    teamId: row.team_id,
    channels: row.channels,
    isEnabled: row.is_enabled,
    state: row.state,
    firedPeriod: row.fired_period,
    lastFiredAt: row.last_fired_at,
    lastValueNano: row.last_value_nano,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }
}
