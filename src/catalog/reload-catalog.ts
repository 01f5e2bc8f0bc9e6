import type { Database } from '../db/open.ts'
import type { Catalog } from './catalog.ts'
import { listDisabledModels } from './disabled-models.ts'
import { listMarkupChanges } from './markup-changes.ts'

/** Told when a markup was changed, or a model disabled or enabled. */
export const CATALOG_CHANNEL = 'catalog'

/**
 * Reads what operators changed into the catalog of this process. Of two that run at once the one that began
 * later counts, whichever ends first; whoever waits for one finds all that was committed before they asked.
 */
export function createReloadCatalog(db: Database, catalog: Catalog): () => Promise<void> {
  let begun = 0
  let applied = 0
  return async () => {
    const turn = ++begun
    const markups = await listMarkupChanges(db)
    const disabled = await listDisabledModels(db)
    if (turn < applied) return
    applied = turn
    catalog.applyChanges({
      markups,
      disabledIds: new Set(disabled.map(({ modelId }) => modelId)),
    })
  }
}
