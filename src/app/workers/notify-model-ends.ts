import { sql } from 'kysely'
import type { Catalog } from '../../money/catalog/catalog.ts'
import { addDays } from '../../platform/lib/days.ts'
import type { Database } from '../../platform/db/open.ts'
import { CUSTOMERS_PER_BATCH, listCustomersAfter } from './notify-price-changes.ts'

/** Customers who used the model within these days are notified. */
const USED_WITHIN_DAYS = 30
/** How long before its end a model is announced, and announced for the last time. */
const FIRST_DAYS = 60
const LAST_DAYS = 7
/** A list that names another day each time tells nobody more often. */
const AGAIN_AFTER_DAYS = 14
/** No announcement from before these days is of an end that has yet to come. */
const NOTIFIED_WITHIN_DAYS = 2 * FIRST_DAYS

interface ModelEnd {
  readonly model_id: string
  readonly model_name: string
  readonly ends_on: string
  readonly replaced_by: string | null
  readonly replacement_name: string | null
  readonly notice: 'first' | 'last'
}

/**
 * Tells the customers who used a model lately on which day it ends: once it is known, at most 60 days before, and again in
 * the last week. One event names all models of a customer. The events themselves say who was notified of what, and batches of
 * customers wait for each other: so each notice is given once, however often a run is killed and repeated, and on however
 * many nodes. Returns the number of events.
 */
export async function notifyModelEnds(
  db: Database,
  catalog: Pick<Catalog, 'listModels' | 'findReplacement'>,
  today: string = new Date().toISOString().slice(0, 10),
): Promise<number> {
  const ends = listEnds(catalog, today)
  let events = 0
  let last: string | null = null
  while (ends.length > 0) {
    const after: string | null = last
    const { count, customerIds } = await db.transaction().execute(async (trx) => {
      await sql`select pg_advisory_xact_lock(hashtextextended('model ends', 0))`.execute(trx)
      const ids = await listCustomersAfter(trx, after)
      return { count: await notifyUsers(trx, ends, ids), customerIds: ids }
    })
    events += count
    last = customerIds.at(-1) ?? null
    if (customerIds.length < CUSTOMERS_PER_BATCH) break
  }
  return events
}

/** The models whose end is near, the next one first. One that nobody can call needs no notice. */
function listEnds(
  catalog: Pick<Catalog, 'listModels' | 'findReplacement'>,
  today: string,
): ModelEnd[] {
  return catalog
    .listModels()
    .flatMap((model): ModelEnd[] => {
      const { id, displayName, endsOn, routes } = model
      if (endsOn === undefined || routes.length === 0) return []
      if (endsOn < today || endsOn > addDays(today, FIRST_DAYS)) return []
      const other = catalog.findReplacement(model)
      return [
        {
          model_id: id,
          model_name: displayName,
          ends_on: endsOn,
          replaced_by: other?.id ?? null,
          replacement_name: other?.displayName ?? null,
          notice: endsOn > addDays(today, LAST_DAYS) ? 'first' : 'last',
        },
      ]
    })
    .toSorted((one, next) => (one.ends_on < next.ends_on ? -1 : 1))
}

/** Waits for a running deletion of an account, then skips it. */
async function notifyUsers(
  trx: Database,
  ends: readonly ModelEnd[],
  customerIds: readonly string[],
): Promise<number> {
  const { numAffectedRows } = await sql`
    with ends as (
      select n, model, model ->> 'model_id' as model_id, model ->> 'ends_on' as ends_on, model ->> 'notice' as notice
      from jsonb_array_elements(${JSON.stringify(ends)}::jsonb) with ordinality as e (model, n))
    insert into events (id, customer_id, type, data)
    select gen_random_uuid(), c.id, 'model.ending', jsonb_build_object('models', due.models)
    from customers c join accounts a on a.customer_id = c.id
    cross join lateral (select now() - make_interval(days => ${USED_WITHIN_DAYS}) as since) w
    cross join lateral (
      select jsonb_agg(ends.model order by ends.n) as models
      from ends
      where ends.model_id in (
        select d.model_id from usage_days d
        where d.customer_id = c.id and d.day_at > w.since and d.charged_requests > 0
        union all
        select h.model_id from usage_hours h
        where h.customer_id = c.id and h.hour_at > greatest(w.since, a.usage_days_until) - interval '1 hour'
          and h.charged_requests > 0)
      and not exists (
        select 1 from events e cross join lateral jsonb_array_elements(e.data -> 'models') as notified
        where e.customer_id = c.id and e.type = 'model.ending'
          and e.created_at > now() - make_interval(days => ${NOTIFIED_WITHIN_DAYS})
          and notified ->> 'model_id' = ends.model_id and notified ->> 'notice' = ends.notice
          and (notified ->> 'ends_on' = ends.ends_on
            or e.created_at > now() - make_interval(days => ${AGAIN_AFTER_DAYS})))) due
    where c.id = any(${[...customerIds]}::uuid[]) and c.deleted_at is null and due.models is not null
    for key share of c`.execute(trx)
  return Number(numAffectedRows ?? 0n)
}
