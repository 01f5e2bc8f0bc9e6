/**
 * Mails about incidents, for the customers who asked for them: one when an incident begins and one when it ends.
 * Incidents that begin or end together share a mail. A few readers get it at a time, and the next ones when those mails
 * have left the queue, so that a receipt never waits behind all of them.
 */
import { sql } from 'kysely'
import type { Database } from '../../platform/db/open.ts'
import { createId } from '../../platform/lib/ids.ts'
import type { MailData } from './mail-content.ts'
import { queueMail } from './queue-mail.ts'

const TEMPLATE = 'incidentes'
/** A circuit breaker mostly closes within minutes; until then, its incident is on `/status` only. */
const BREAKER_MINUTES = 10
/** Further ones are counted, not named. */
const NAMED_MAX = 10
/** The most mails before a receipt. */
const READERS_AT_ONCE = 50

/** Call it often, on any number of nodes. Returns the number of readers whose mail it queued. */
export async function queueIncidentMails(db: Database): Promise<number> {
  await beginMail(db)
  const { rows } = await sql<Due>`
    select id, data, after_customer_id as "afterId" from incident_mails
    where not exists (select 1 from mails where template = ${TEMPLATE} and due_at <= now())
    order by id limit 1`.execute(db)
  const [due] = rows
  return due ? queueToSome(db, due) : 0
}

interface Due {
  readonly id: string
  readonly data: MailData
  readonly afterId: string
}

/** Writes the mail about what has changed. What began and ended since the last time is in none. */
async function beginMail(db: Database): Promise<void> {
  await sql`
    with due as (
      select id from incidents
      where not is_mailed and resolved_at is null
        and (source = 'operator' or opened_at < now() - make_interval(mins => ${BREAKER_MINUTES}::int4))
      union all
      select id from incidents where is_mailed and resolved_at is not null
    ), changed as (
      update incidents i set is_mailed = i.resolved_at is null from due
      where i.id = due.id and i.is_mailed = (i.resolved_at is not null)
      returning i.*
    ), numbered as (
      select *, row_number() over (order by opened_at, id) as place from changed
    )
    insert into incident_mails (id, data)
    select ${createId()}::uuid, jsonb_build_object(
      'incidents', jsonb_agg(jsonb_build_object(
        'status', case when resolved_at is null then 'opened' else 'resolved' end,
        'title', title, 'message', message, 'affected', array_to_string(vendors || model_ids, ', '),
        'opened_at', opened_at, 'resolved_at', resolved_at)
        order by place) filter (where place <= ${NAMED_MAX}::int4),
      'others_count', nullif(greatest(count(*) - ${NAMED_MAX}::int4, 0), 0))
    from numbered having count(*) > 0`.execute(db)
}

/** A node that dies here, or a second one, queues nothing twice: the mail's id is that of its reader. */
async function queueToSome(db: Database, { id, data, afterId }: Due): Promise<number> {
  const readers = await db
    .selectFrom('customers')
    .select('id')
    .where('incident_email_enabled', '=', true)
    .where('deleted_at', 'is', null)
    .where('email', 'is not', null)
    .where('id', '>', afterId)
    .orderBy('id')
    .limit(READERS_AT_ONCE)
    .execute()
  for (const { id: customerId } of readers)
    await db
      .transaction()
      .execute((trx) =>
        queueMail(trx, { customerId, template: TEMPLATE, data, reference: `${id} ${customerId}` }),
      )
  const last = readers.at(-1)?.id
  if (readers.length < READERS_AT_ONCE || last === undefined)
    await db.deleteFrom('incident_mails').where('id', '=', id).execute()
  else
    await sql`
      update incident_mails set after_customer_id = ${last}
      where id = ${id} and after_customer_id < ${last}`.execute(db)
  return readers.length
}
