import type { Database } from '../../platform/db/open.ts'
import type { Catalog } from './catalog.ts'
import { listDisabledModels } from './disabled-models.ts'
import { listMarkupChanges } from './markup-changes.ts'
import { listPriceChanges } from './price-changes.ts'
import { findServicePause } from './service-pause.ts'

/**
 * The channel that notifies all nodes when a markup or a price changes, or a model is disabled or enabled, or the
 * service is paused or resumed.
 */
export const CATALOG_CHANNEL = 'catalog'

/**
 * Returns a function that loads the operators' changes into the catalog of this process. If two loads overlap, the one
 * that started later wins, whichever ends first. After awaiting it, the catalog has every change committed before the
 * call.
 */
export function createReloadCatalog(db: Database, catalog: Catalog): () => Promise<void> {
  let begun = 0
  let applied = 0
  return async () => {
    const turn = ++begun
    const markups = await listMarkupChanges(db)
    const prices = await listPriceChanges(db)
    const disabled = await listDisabledModels(db)
    const pause = await findServicePause(db)
    if (turn < applied) return
    applied = turn
    catalog.applyChanges({
      markups,
      prices,
      disabledIds: new Set(disabled.map(({ modelId }) => modelId)),
      isPaused: pause !== undefined,
    })
  }
}
