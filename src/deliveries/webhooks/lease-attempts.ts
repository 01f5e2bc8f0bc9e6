/**
 * Leases attempts to workers. An attempt is leased to one worker for a time and is due again when the lease ends, so a
 * killed worker loses nothing. Only the holder of the lease can record the outcome.
 */
import { sql, type RawBuilder } from 'kysely'
import type { Database } from '../../platform/db/open.ts'
import { createId } from '../../platform/lib/ids.ts'

export interface LeasedAttempt {
  readonly id: string
  readonly leaseId: string
  readonly endpointId: string
  readonly customerId: string
  readonly messageId: string
  readonly eventType: string
  readonly body: string
  readonly tryNumber: number
  readonly isReplay: boolean
  readonly firstFailedAt: Date | null
  readonly url: string
  readonly secretSealed: Buffer
}

/** Counted over all nodes: a slow receiver never takes the slots of another one. */
const ENDPOINT_AT_ONCE = 2
const CUSTOMER_AT_ONCE = 10
/** Far longer than a try may take. */
const LEASE_SECONDS = 60
/** Key of the advisory lock: the letters of "webhooks" on a telephone. */
const LEASE_LOCK = 93_246_657

/** Leases the attempts that are due. `at` is the time of the lease: the database's own, except in tests. */
export async function leaseDueAttempts(
  db: Database,
  { limit, at }: { limit: number; at: RawBuilder<Date> },
): Promise<LeasedAttempt[]> {
  if (!(await isAnythingDue(db, at))) return []
  return db.transaction().execute(async (trx) => {
    // One worker at a time, so that no worker counts the running attempts while another one adds to them.
    await sql`select pg_advisory_xact_lock(${LEASE_LOCK})`.execute(trx)
    await endLeases(trx, at)
    return leaseNext(trx, limit, at)
  })
}

async function isAnythingDue(db: Database, at: RawBuilder<Date>): Promise<boolean> {
  const { rows } = await sql<{ is_due: boolean }>`
    select exists (select 1 from webhook_attempts where status = 'queued' and due_at <= ${at})
      or exists (select 1 from webhook_attempts where status = 'running' and leased_until <= ${at})
      as is_due`.execute(db)
  return rows[0]?.is_due === true
}

async function endLeases(trx: Database, at: RawBuilder<Date>): Promise<void> {
  await sql`
    update webhook_attempts set status = 'queued', lease_id = null, leased_until = null
    where id in (
      select id from webhook_attempts where status = 'running' and leased_until <= ${at}
      for update skip locked)`.execute(trx)
}

/**
 * Goes endpoint by endpoint, so that the backlog of one is not scanned to reach another. Customers take turns:
 * those with the fewest running attempts come first.
 */
async function leaseNext(
  trx: Database,
  limit: number,
  at: RawBuilder<Date>,
): Promise<LeasedAttempt[]> {
  const { rows } = await sql<LeasedAttempt>`
    with recursive waiting as (
      (select endpoint_id from webhook_attempts where status = 'queued' order by endpoint_id limit 1)
      union all
      select (
        select a.endpoint_id from webhook_attempts a
        where a.status = 'queued' and a.endpoint_id > w.endpoint_id order by a.endpoint_id limit 1)
      from waiting w where w.endpoint_id is not null
    ), running as (
      select endpoint_id, customer_id from webhook_attempts where status = 'running'
    ), open as (
      select e.id, e.customer_id,
        ${ENDPOINT_AT_ONCE} - (select count(*) from running r where r.endpoint_id = e.id) as places
      from waiting w
      join webhook_endpoints e on e.id = w.endpoint_id and e.disabled_at is null and e.deleted_at is null
      join customers c on c.id = e.customer_id and c.deleted_at is null
    ), due as (
      select a.id, a.due_at, (select count(*) from running r where r.customer_id = o.customer_id)
        + row_number() over (partition by o.customer_id order by a.due_at, a.id) as turn
      from open o cross join lateral (
        select id, due_at from webhook_attempts
        where endpoint_id = o.id and status = 'queued' and due_at <= ${at}
        order by due_at, id limit greatest(o.places, 0)) a
    ), picked as (
      select id from due where turn <= ${CUSTOMER_AT_ONCE} order by turn, due_at limit ${limit}
    ), locked as (
      select id from webhook_attempts where id in (select id from picked) and status = 'queued'
      for update skip locked
    )
    update webhook_attempts a set status = 'running', lease_id = ${createId()}::uuid,
      leased_until = ${at} + make_interval(secs => ${LEASE_SECONDS})
    from locked l, webhook_endpoints e
    where a.id = l.id and e.id = a.endpoint_id and e.secret_sealed is not null
    returning a.id, a.lease_id as "leaseId", a.endpoint_id as "endpointId", a.customer_id as "customerId",
      a.message_id as "messageId", a.event_type as "eventType", a.body, a.try_number as "tryNumber",
      a.is_replay as "isReplay", a.first_failed_at as "firstFailedAt", e.url,
      e.secret_sealed as "secretSealed"`.execute(trx)
  return rows
}

/** Returns an attempt that could not be tried because of a fault of our own; the try does not count. */
export async function giveBackAttempt(
  db: Database,
  { id, leaseId }: Pick<LeasedAttempt, 'id' | 'leaseId'>,
  { at, seconds }: { at: RawBuilder<Date>; seconds: number },
): Promise<void> {
  await sql`
    update webhook_attempts set status = 'queued', lease_id = null, leased_until = null,
      due_at = ${at} + make_interval(secs => ${seconds})
    where id = ${id} and lease_id = ${leaseId}`.execute(db)
}
