import { isDatabaseUnavailable } from '../../platform/db/database-errors.ts'
import type { Database } from '../../platform/db/open.ts'
import type { Log } from '../../platform/lib/log.ts'
import type { Catalog } from './catalog.ts'
import { discoverModels, type Discovered, type Discovery } from './discover-models.ts'
import { plainName } from './find-by-other-name.ts'
import { listDisabledModels } from './disabled-models.ts'
import { listMarkupChanges } from './markup-changes.ts'
import { listPriceChanges } from './price-changes.ts'
import type { ConfiguredModel, Model } from './model.ts'
import { registerPrices } from './register-prices.ts'
import { findServicePause } from './service-pause.ts'
import { readAddedDigest, readStoredPriceData } from './stored-price-data.ts'
import { readListTimes, readUpstreamLists } from './upstream-lists.ts'

/**
 * The channel that notifies all nodes when a markup or a price changes, or a model is disabled or enabled, an
 * upstream's list is read, or the service is paused or resumed.
 */
export const CATALOG_CHANNEL = 'catalog'

/** What the upstreams' lists and the price data have now, at registered prices. Computed once for each change of them. */
export interface DiscoveredModels extends Pick<Discovered, 'unpriced' | 'missing'> {
  readonly models: readonly Model[]
}

const NOTHING: DiscoveredModels = { models: [], unpriced: [], missing: [] }

/**
 * Returns a function that loads the operators' changes and the discovered models into the catalog of this process. If two
 * loads overlap, the one that started later wins, whichever ends first. After awaiting it, the catalog has every change
 * committed before the call.
 */
export function createReloadCatalog(
  db: Database,
  catalog: Catalog,
  discover: () => Promise<DiscoveredModels> = async () => NOTHING,
): () => Promise<void> {
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
    const discovered = (await discover()).models.filter(
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
export function createDiscover(
  db: Database,
  {
    discovery,
    configured,
    log,
  }: {
    readonly discovery: Discovery | undefined
    readonly configured: readonly ConfiguredModel[]
    readonly log: Log
  },
): () => Promise<DiscoveredModels> {
  if (!discovery) return async () => NOTHING
  let last = NOTHING
  let found: { readonly state: string; readonly models: Promise<DiscoveredModels> } | undefined

  async function find(discovery: Discovery): Promise<DiscoveredModels> {
    const lists = await readUpstreamLists(db)
    const stored = await readStoredPriceData(db)
    try {
      const now = discoverModels(discovery, configured, lists, new Date(), stored?.added)
      last = { ...now, models: await registerPrices(db, now.models) }
    } catch (error) {
      // Nothing that an upstream lists holds up an operator's change.
      if (isDatabaseUnavailable(error)) throw error
      log.error('models_not_discovered', { error })
    }
    return last
  }

  return async () => {
    const state = `${await readListTimes(db)} ${await readAddedDigest(db)}`
    if (found?.state !== state) {
      const begun = { state, models: find(discovery) }
      found = begun
      begun.models.catch(() => {
        if (found === begun) found = undefined
      })
    }
    return found.models
  }
}
