import { sql } from 'kysely'
import type { Catalog } from '../../money/catalog/catalog.ts'
import type { Model } from '../../money/catalog/model.ts'
import { lockDue, type DueRows } from '../../platform/db/due-rows.ts'
import type { Database } from '../../platform/db/open.ts'
import { chargeFor, decimalBrl, decimalE4 } from '../../platform/lib/money.ts'

/** Customers who used the model within these days get the notice. */
const USED_WITHIN_DAYS = 90
export const CUSTOMERS_PER_BATCH = 500
const PERCENT_E2 = 10_000n

/**
 * Announces rises of markups, and of prices that come from the price data: one event for each customer who used the model
 * lately. It goes through the customers by
 * id, in batches. The transaction of a batch also stores its last customer, so each customer gets one notice, however
 * often a run is killed and repeated, and on however many nodes. Returns the number of notices.
 */
export async function notifyPriceChanges(
  db: Database,
  catalog: Catalog,
  fxRateE4: bigint | undefined,
): Promise<number> {
  let notices = 0
  for (const rises of [RISES_OF_MARKUPS, RISES_OF_PRICES])
    for (;;) {
      const count = await notifyBatch(db, rises, (rise) => dataOf(rise, catalog, fxRateE4))
      if (count === undefined) break
      notices += count
    }
  return notices
}

const RISES_OF_MARKUPS: DueRows = {
  table: 'markup_changes',
  key: ['id'],
  isDue: sql`q.noticed_at is null and q.canceled_at is null and q.markup_e4 > q.markup_before_e4`,
  orderBy: sql`q.created_at`,
}

const RISES_OF_PRICES: DueRows = {
  table: 'price_changes',
  key: ['id'],
  isDue: sql`q.noticed_at is null and q.withdrawn_at is null and q.notice_percent_e2 > 0`,
  orderBy: sql`q.created_at`,
}

/** A row of either table. */
interface Rise {
  readonly id: string | number
  readonly model_id: string
  readonly markup_e4?: number
  readonly markup_before_e4?: number
  readonly notice_percent_e2?: number
  readonly starts_at: Date
  readonly noticed_through: string | null
}

/** Undefined if no increase needs a notice, or other nodes are working on all of them. */
function notifyBatch(
  db: Database,
  rises: DueRows,
  describe: (rise: Rise) => object,
): Promise<number | undefined> {
  return db.transaction().execute(async (trx) => {
    const rise = await lockDue<Rise>(trx, rises)
    if (!rise) return undefined
    const customerIds = await listCustomersAfter(trx, rise.noticed_through)
    const notices = await notifyUsers(trx, rise, customerIds, describe(rise))
    const isEnd = customerIds.length < CUSTOMERS_PER_BATCH
    await sql`
      update ${sql.table(rises.table)} set noticed_through = coalesce(${customerIds.at(-1) ?? null}::uuid, noticed_through),
        noticed_at = case when ${isEnd} then now() end
      where id = ${rise.id}`.execute(trx)
    return notices
  })
}

export async function listCustomersAfter(trx: Database, after: string | null): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select id from customers
    where id > ${after ?? '00000000-0000-0000-0000-000000000000'} and deleted_at is null
    order by id limit ${CUSTOMERS_PER_BATCH}`.execute(trx)
  return rows.map(({ id }) => id)
}

/** Only the customers who were charged for the model. Waits for a running deletion of an account, then skips it. */
async function notifyUsers(
  trx: Database,
  rise: Rise,
  customerIds: readonly string[],
  data: object,
): Promise<number> {
  const { numAffectedRows } = await sql`
    insert into events (id, customer_id, type, data)
    select gen_random_uuid(), c.id, 'price.changed', ${JSON.stringify(data)}::jsonb
    from customers c join accounts a on a.customer_id = c.id
    cross join lateral (select now() - make_interval(days => ${USED_WITHIN_DAYS}) as since) w
    where c.id = any(${[...customerIds]}::uuid[]) and c.deleted_at is null and (
      exists (
        select 1 from usage_days d
        where d.customer_id = c.id and d.day_at > w.since and d.model_id = ${rise.model_id} and d.charged_requests > 0)
      or exists (
        select 1 from usage_hours h
        where h.customer_id = c.id and h.hour_at > greatest(w.since, a.usage_days_until) - interval '1 hour'
          and h.model_id = ${rise.model_id} and h.charged_requests > 0))
    for key share of c`.execute(trx)
  return Number(numAffectedRows ?? 0n)
}

/** A rise of the price leaves the markup as it is. */
function dataOf(rise: Rise, catalog: Catalog, fxRateE4: bigint | undefined): object {
  const model = catalog.findModel(rise.model_id)
  const inForce = model?.markupE4 ?? 0n
  const before = BigInt(rise.markup_before_e4 ?? inForce)
  const after = BigInt(rise.markup_e4 ?? inForce)
  const percentE2 =
    rise.notice_percent_e2 === undefined
      ? ((after - before) * PERCENT_E2 + before / 2n) / before
      : BigInt(rise.notice_percent_e2)
  return {
    model_id: rise.model_id,
    model_name: model?.displayName ?? rise.model_id,
    markup_multiplier_before: decimalE4(before),
    markup_multiplier: decimalE4(after),
    change_percent: decimalE4(percentE2 * 100n),
    starts_at: rise.starts_at.toISOString(),
    ...(model && fxRateE4 !== undefined ? pricesOf(rise, catalog, model, fxRateE4) : {}),
  }
}

const MILLION = 1_000_000n

/** In BRL per million tokens, at the exchange rate of now; nothing for a model that is not billed by tokens. */
function pricesOf(rise: Rise, catalog: Catalog, model: Model, fxRateE4: bigint): object {
  const planned = catalog.findPlanned(rise.model_id)
  // This node's catalog may not have the change yet; a rise of the markup says all by itself.
  const then =
    planned?.startsAt.getTime() === rise.starts_at.getTime()
      ? planned.model
      : rise.markup_e4 === undefined
        ? undefined
        : { ...model, markupE4: BigInt(rise.markup_e4) }
  const [before, after] = [model.price.tiers[0], then?.price.tiers[0]]
  if (!then || !before || !after) return {}
  const brl = (price: bigint, { markupE4 }: Pick<Model, 'markupE4'>): string =>
    decimalBrl(chargeFor(price * MILLION, { fxRateE4, markupE4 }))
  return Object.fromEntries(
    (['input', 'output'] as const)
      .filter((kind) => before[kind] > 0n)
      .flatMap((kind) => [
        [`${kind}_brl_before`, brl(before[kind], model)],
        [`${kind}_brl`, brl(after[kind], then)],
      ]),
  )
}
