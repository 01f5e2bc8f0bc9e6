/**
 * Where customers have their usage sent. This file owns the setting and its secrets, which are stored sealed and never
 * shown; what is sent, and when, is in `send-usage.ts`.
 */
import { sql, type Selectable } from 'kysely'
import { audited, type Actor } from '../../platform/audit-log/audited.ts'
import { lockCustomer } from '../../customers/customers.ts'
import type { Database } from '../../platform/db/open.ts'
import type { Tables } from '../../platform/db/tables.ts'
import { createId, isUuid } from '../../platform/lib/ids.ts'
import { toStored, type DestinationAccess, type DestinationKind } from './destination-access.ts'
import type { DestinationError } from './post-spans.ts'

export interface UsageDestination {
  readonly id: string
  readonly customerId: string
  readonly kind: DestinationKind
  readonly url: string
  readonly publicKey: string | null
  readonly headerNames: readonly string[]
  readonly includesContent: boolean
  readonly createdAt: Date
  readonly disabledAt: Date | null
  readonly disabledReason: 'customer' | 'failing' | null
  readonly dueAt: Date
  readonly failures: number
  readonly failingSince: Date | null
  readonly lastSuccessAt: Date | null
  readonly lastFailedAt: Date | null
  readonly lastError: DestinationError | null
  readonly lastHttpStatus: number | null
  readonly lastAnswer: string | null
  readonly sent: bigint
  readonly rejected: bigint
  readonly givenUp: bigint
  readonly testAskedAt: Date | null
  readonly testedAt: Date | null
  readonly testError: DestinationError | null
}

export interface DestinationChange {
  readonly url?: string
  readonly access?: DestinationAccess
  readonly includesContent?: boolean
  readonly isEnabled?: boolean
}

/** The most usage destinations that one customer may have. */
export const DESTINATIONS_MAX = 3

/** Sends what is charged from now on. */
export function createDestination(
  db: Database,
  actor: Actor,
  sealingKey: Buffer,
  input: {
    readonly customerId: string
    readonly url: string
    readonly access: DestinationAccess
    readonly includesContent: boolean
  },
): Promise<UsageDestination | { readonly problem: 'too_many_usage_destinations' }> {
  return audited(db, actor, async (trx, record) => {
    const { customerId, url, access, includesContent } = input
    await lockCustomer(trx, customerId)
    if ((await listDestinations(trx, customerId)).length >= DESTINATIONS_MAX)
      return { problem: 'too_many_usage_destinations' as const }
    const id = createId()
    const row = await trx
      .insertInto('usage_destinations')
      .values({
        id,
        customer_id: customerId,
        kind: access.kind,
        url,
        ...toStored(sealingKey, id, access),
        includes_content: includesContent,
      })
      .returningAll()
      .executeTakeFirstOrThrow()
    const made = toDestination(row)
    await record(destinationAct('created', made, { includes_content: includesContent }))
    return made
  })
}

/** Returns the customer's destinations, the oldest first. */
export async function listDestinations(
  db: Database,
  customerId: string,
): Promise<UsageDestination[]> {
  const rows = await db
    .selectFrom('usage_destinations')
    .selectAll()
    .where('customer_id', '=', customerId)
    .orderBy('created_at')
    .orderBy('id')
    .execute()
  return rows.map(toDestination)
}

export async function findDestination(
  db: Database,
  customerId: string,
  id: string,
): Promise<UsageDestination | undefined> {
  if (!isUuid(id)) return undefined
  const row = await ofCustomer(db, customerId, id).executeTakeFirst()
  return row && toDestination(row)
}

async function lockDestination(
  trx: Database,
  customerId: string,
  id: string,
): Promise<UsageDestination | undefined> {
  if (!isUuid(id)) return undefined
  const row = await ofCustomer(trx, customerId, id).forNoKeyUpdate().executeTakeFirst()
  return row && toDestination(row)
}

/**
 * What waits goes to the new address, at once. A destination that its customer switched off begins anew when it is
 * switched on; one that failures switched off goes on where it stopped. `fields` are the names of the changed fields, as
 * the caller's interface calls them.
 */
export function changeDestination(
  db: Database,
  actor: Actor,
  sealingKey: Buffer,
  {
    customerId,
    id,
    readChange,
    fields,
  }: {
    readonly customerId: string
    readonly id: string
    /** Given the locked destination; what it throws undoes the change. */
    readonly readChange: (found: UsageDestination) => DestinationChange
    readonly fields: readonly string[]
  },
): Promise<UsageDestination | undefined> {
  return audited(db, actor, async (trx, record) => {
    const found = await lockDestination(trx, customerId, id)
    if (!found) return undefined
    const changed = await update(trx, found, sealingKey, readChange(found))
    if (fields.length > 0) await record(destinationAct('changed', found, { fields }))
    return changed
  })
}

async function update(
  trx: Database,
  found: UsageDestination,
  sealingKey: Buffer,
  { url, access, includesContent, isEnabled }: DestinationChange,
): Promise<UsageDestination> {
  const isSwitchedOff = isEnabled === false && !found.disabledAt
  const isSwitchedOn = isEnabled === true && found.disabledAt !== null
  const row = await trx
    .updateTable('usage_destinations')
    .set({
      // The new address has to show that it is not a slow one.
      ...(url === undefined ? {} : { url, latency_ms: null }),
      ...(access ? toStored(sealingKey, found.id, access) : {}),
      ...(includesContent === undefined ? {} : { includes_content: includesContent }),
      ...(isSwitchedOff
        ? { disabled_at: sql<Date>`now()`, disabled_reason: 'customer' as const }
        : {}),
      ...(isSwitchedOn ? { disabled_at: null, disabled_reason: null } : {}),
      ...(isSwitchedOn && found.disabledReason === 'customer'
        ? { sent_until: sql<Date>`clock_timestamp()`, sent_id: NO_EVENT }
        : {}),
      ...(isSwitchedOn || url !== undefined || access ? TRIED_AT_ONCE : {}),
      // A worker that is sending with the former setting records nothing, so its spans are sent anew.
      tries: sql<number>`tries + 1`,
    })
    .where('id', '=', found.id)
    .returningAll()
    .executeTakeFirstOrThrow()
  return toDestination(row)
}

/** The id that is before every event of its time. */
export const NO_EVENT = '00000000-0000-0000-0000-000000000000'

/** Its failures stay counted: no customer gets the places of quick destinations by changing a setting. */
const TRIED_AT_ONCE = { due_at: sql<Date>`now()`, failing_since: null }

/** Erases the row, with its secrets. */
export function deleteDestination(
  db: Database,
  actor: Actor,
  { customerId, id }: { customerId: string; id: string },
): Promise<UsageDestination | undefined> {
  return audited(db, actor, async (trx, record) => {
    const found = await lockDestination(trx, customerId, id)
    if (!found) return undefined
    await trx.deleteFrom('usage_destinations').where('id', '=', id).execute()
    await record(destinationAct('deleted', found))
    return found
  })
}

/** Asks for a test span, which the workers send at once; what waits for a later try goes with it. */
export async function askForTest(
  db: Database,
  { customerId, id }: { customerId: string; id: string },
): Promise<
  | UsageDestination
  | { readonly problem: 'usage_destination_not_found' | 'usage_destination_disabled' }
> {
  const found = await findDestination(db, customerId, id)
  if (!found) return { problem: 'usage_destination_not_found' }
  const row = await db
    .updateTable('usage_destinations')
    .set({
      test_asked_at: sql<Date>`now()`,
      tested_at: null,
      test_error: null,
      due_at: sql<Date>`least(due_at, now())`,
    })
    .where('id', '=', found.id)
    .where('disabled_at', 'is', null)
    .returningAll()
    .executeTakeFirst()
  return row ? toDestination(row) : { problem: 'usage_destination_disabled' }
}

function destinationAct(
  verb: 'created' | 'changed' | 'deleted',
  { id, customerId }: UsageDestination,
  details?: Readonly<Record<string, unknown>>,
) {
  return {
    action: `usage_destination.${verb}` as const,
    customerId,
    subjectId: id,
    ...(details ? { details } : {}),
  }
}

function ofCustomer(db: Database, customerId: string, id: string) {
  return db
    .selectFrom('usage_destinations')
    .selectAll()
    .where('id', '=', id)
    .where('customer_id', '=', customerId)
}

function toDestination(row: Selectable<Tables['usage_destinations']>): UsageDestination {
  return {
    id: row.id,
    customerId: row.customer_id,
    kind: row.kind,
    url: row.url,
    publicKey: row.public_key,
    headerNames: row.header_names,
    includesContent: row.includes_content,
    createdAt: row.created_at,
    disabledAt: row.disabled_at,
    disabledReason: row.disabled_reason,
    dueAt: row.due_at,
    failures: row.failures,
    failingSince: row.failing_since,
    lastSuccessAt: row.last_success_at,
    lastFailedAt: row.last_failed_at,
    lastError: row.last_error as DestinationError | null,
    lastHttpStatus: row.last_http_status,
    lastAnswer: row.last_answer,
    sent: row.sent,
    rejected: row.rejected,
    givenUp: row.given_up,
    testAskedAt: row.test_asked_at,
    testedAt: row.tested_at,
    testError: row.test_error as DestinationError | null,
  }
}
