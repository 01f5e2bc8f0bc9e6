import { isDatabaseUnavailable } from '../../platform/db/database-errors.ts'
import type { Database } from '../../platform/db/open.ts'
import type { Log } from '../../platform/lib/log.ts'
import type { Catalog } from './catalog.ts'
import { discoverModels, type Discovery } from './discover-models.ts'
import { plainName } from './find-by-other-name.ts'
import { listDisabledModels } from './disabled-models.ts'
import { listMarkupChanges } from './markup-changes.ts'
import { listPriceChanges } from './price-changes.ts'
import type { ConfiguredModel, Model } from './model.ts'
import { registerPrices } from './register-prices.ts'
import { findServicePause } from './service-pause.ts'
import { readListTimes, readUpstreamLists } from './upstream-lists.ts'

/**
 * The channel that notifies all nodes when a markup or a price changes, or a model is disabled or enabled, an
 * upstream's list is read, or the service is paused or resumed.
 */
export const CATALOG_CHANNEL = 'catalog'

interface Discovering {
  readonly discovery: Discovery
  readonly configured: readonly ConfiguredModel[]
  readonly log: Log
}

/**
 * Returns a function that loads the operators' changes and the discovered models into the catalog of this process. If two
 * loads overlap, the one that started later wins, whichever ends first. After awaiting it, the catalog has every change
 * committed before the call.
 */
export function createReloadCatalog(
  db: Database,
  catalog: Catalog,
  discovering?: Discovering,
): () => Promise<void> {
  const readDiscovered = discovering ? createReadDiscovered(db, discovering) : async () => []
  let begun = 0
  let applied = 0
  return async () => {
    const turn = ++begun
    const markups = await listMarkupChanges(db)
    const prices = await listPriceChanges(db)
    const disabled = await listDisabledModels(db)
    const pause = await findServicePause(db)
    const disabledIds = new Set(disabled.map(({ modelId }) => modelId))
    const disabledNames = new Set([...disabledIds].map(plainName))
    // A model that an operator disabled does not answer under another name.
    const discovered = (await readDiscovered()).filter(
      ({ id }) => disabledIds.has(id) || !disabledNames.has(plainName(id)),
    )
    if (turn < applied) return
    applied = turn
    catalog.applyChanges({
      markups,
      prices,
      discovered,
      disabledIds,
      isPaused: pause !== undefined,
    })
  }
}

/** Most reloads find the lists of the one before. */
function createReadDiscovered(
  db: Database,
  { discovery, configured, log }: Discovering,
): () => Promise<readonly Model[]> {
  let found: { times: string; models: readonly Model[] } | undefined
  return async () => {
    const times = await readListTimes(db)
    if (found?.times === times) return found.models
    const lists = await readUpstreamLists(db)
    try {
      const { models } = discoverModels(discovery, configured, lists, new Date())
      found = { times, models: await registerPrices(db, models) }
    } catch (error) {
      // Nothing that an upstream lists holds up an operator's change.
      if (isDatabaseUnavailable(error)) throw error
      log.error('models_not_discovered', { error })
      found = { times, models: found?.models ?? [] }
    }
    return found.models
  }
}
