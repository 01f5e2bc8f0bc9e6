import { sql } from 'kysely'
import type { Catalog } from '../../money/catalog/catalog.ts'
import type { PriceData } from '../../money/catalog/price-from-data.ts'
import {
  findPriceDifferences,
  type PriceDifference,
} from '../../money/catalog/price-data-differences.ts'
import type { Database } from '../../platform/db/open.ts'
import { queueMail } from '../../deliveries/email/queue-mail.ts'
import { createId } from '../../platform/lib/ids.ts'
import type { Log } from '../../platform/lib/log.ts'

export interface PriceWatch {
  /** Reads the price data of the package, or of the operator's file. Throws if it cannot be read. */
  readonly readData: () => Promise<PriceData>
  /** Who gets the mail. */
  readonly operatorEmails: readonly string[]
}

/**
 * Compares the prices in force with the price data, and reports each difference once: in the log, and in a mail to the
 * operators. A difference that changed, or that returns, is reported again.
 */
export async function comparePrices(deps: {
  db: Database
  catalog: Catalog
  watch: PriceWatch
  log: Log
}): Promise<void> {
  const { db, catalog, watch, log } = deps
  const data = await watch.readData()
  const found = findPriceDifferences(catalog.listConfigured(), data, new Date())
  await db.transaction().execute(async (trx) => {
    await sql`select pg_advisory_xact_lock(hashtextextended('price differences', 0))`.execute(trx)
    const opened = await storeDifferences(trx, found)
    for (const { modelId, text } of opened)
      log.warn('price_difference_found', { modelId, difference: text })
    if (opened.length === 0) return
    const models = opened.map(({ modelId }) => modelId)
    const reportId = createId()
    for (const email of watch.operatorEmails)
      await queueMail(trx, {
        customerId: null,
        email,
        template: 'precos_diferentes',
        data: {
          models: models.join(', '),
          models_count: models.length,
          at: new Date().toISOString(),
        },
        reference: `${reportId} ${email}`,
      })
  })
}

/** Returns the new and the changed differences, and deletes the rows of differences that no longer exist. */
async function storeDifferences(
  trx: Database,
  found: readonly PriceDifference[],
): Promise<PriceDifference[]> {
  const ids = found.map(({ modelId }) => modelId)
  await sql`delete from price_differences where model_id <> all(${ids}::text[])`.execute(trx)
  const { rows } = await sql<{ model_id: string }>`
    insert into price_differences as d (model_id, difference)
    select * from unnest(${ids}::text[], ${found.map(({ text }) => text)}::text[])
    on conflict (model_id) do update set difference = excluded.difference, found_at = now()
      where d.difference <> excluded.difference
    returning model_id`.execute(trx)
  const opened = new Set(rows.map(({ model_id }) => model_id))
  return found.filter(({ modelId }) => opened.has(modelId))
}

export async function countPriceDifferences(db: Database): Promise<number> {
  const { rows } = await sql<{ count: bigint }>`select count(*) from price_differences`.execute(db)
  return Number(rows[0]?.count ?? 0n)
}
