import type { Catalog } from '../../money/catalog/catalog.ts'
import type { PriceData } from '../../money/catalog/price-from-data.ts'
import { listPriceChanges } from '../../money/catalog/price-changes.ts'
import { findPriceDifferences } from '../../money/catalog/price-data-differences.ts'
import {
  lockDifferences,
  storeDifferences,
  takeByRule,
  withoutConfirmed,
  type NewModel,
  type PriceRule,
} from '../../money/catalog/price-updates.ts'
import type { PublishedData } from '../../money/catalog/published-prices.ts'
import { findDisputes, withOpinions } from '../../money/catalog/second-opinion.ts'
import type { Database } from '../../platform/db/open.ts'
import { queueMail } from '../../deliveries/email/queue-mail.ts'
import { createId } from '../../platform/lib/ids.ts'
import type { Log } from '../../platform/lib/log.ts'

export interface PriceWatch {
  /** Reads the price data in use. Throws if it cannot be read. */
  readonly readData: () => Promise<PriceData>
  /** Reads the second list of prices; nothing without one. */
  readonly readSecond: () => Promise<PublishedData>
  /** The models that wait for an operator, because the rule says `ask`. */
  readonly findNew: () => Promise<readonly NewModel[]>
  readonly rule: Pick<PriceRule, 'cheaper' | 'dearer'>
  /** Between the announcement of a dearer price and its start. */
  readonly noticeDays: number
  /** Who gets the mail. */
  readonly operatorEmails: readonly string[]
}

/**
 * Compares the prices in force with the price data, takes what the operator's rule takes, and reports each other
 * difference once: in the log, and in a mail to the operators. A difference that changed, or that returns, is reported
 * again.
 */
export async function comparePrices(deps: {
  db: Database
  catalog: Catalog
  watch: PriceWatch
  log: Log
}): Promise<void> {
  const { db, catalog, watch, log } = deps
  const data = await watch.readData()
  const added = await watch.findNew()
  const starts = new Map(
    (await listPriceChanges(db)).map(({ modelId, startsAt }) => [modelId, startsAt]),
  )
  const models = catalog.listConfigured().map((model) => ({
    ...model,
    markupE4: catalog.findModel(model.id)?.markupE4 ?? model.markupE4,
  }))
  const plannedAt = (id: string): Date | undefined => starts.get(id)
  const now = new Date()
  const differences = findPriceDifferences(models, data, now, plannedAt)
  const second = await watch.readSecond()
  const found = withOpinions(differences, models, second, now)
  const same = models.filter(({ id }) => differences.every(({ modelId }) => modelId !== id))
  const disputes = findDisputes(same, second, now, plannedAt)
  await db.transaction().execute(async (trx) => {
    await lockDifferences(trx)
    const { rule, noticeDays } = watch
    const { taken, waiting } = await takeByRule(trx, found, { models, rule, noticeDays })
    for (const { modelId, text, kind } of taken)
      log.info('price_taken', { modelId, kind, difference: text })
    const disputed = await withoutConfirmed(trx, disputes)
    const opened = await storeDifferences(trx, [...waiting, ...disputed, ...added])
    for (const { modelId, text, kind } of opened)
      log.warn('price_difference_found', { modelId, kind, difference: text })
    // A dearer price that was taken begins after its notice.
    for (const each of [...taken, ...opened])
      if ('isBelowCost' in each && each.isBelowCost)
        log.error('price_below_cost', { modelId: each.modelId, difference: each.text })
    if (opened.length > 0) await mailOperators(trx, watch.operatorEmails, opened)
  })
}

async function mailOperators(
  trx: Database,
  emails: readonly string[],
  opened: readonly { readonly modelId: string }[],
): Promise<void> {
  const reportId = createId()
  for (const email of emails)
    await queueMail(trx, {
      customerId: null,
      email,
      template: 'precos_diferentes',
      data: {
        models: opened.map(({ modelId }) => modelId).join(', '),
        models_count: opened.length,
        at: new Date().toISOString(),
      },
      reference: `${reportId} ${email}`,
    })
}
