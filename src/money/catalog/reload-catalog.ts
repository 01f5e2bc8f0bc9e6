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
import { listedEnds, readListTimes, readUpstreamLists } from './upstream-lists.ts'

/**
 * The channel that notifies all nodes when a markup or a price changes, or a model is disabled or enabled, an upstream is
 * added, changed or deleted, its list is read, or the service is paused or resumed.
 */
export const CATALOG_CHANNEL = 'catalog'

/** What the upstreams that operators added make of the configuration. */
export interface WithAdded {
  /** Undefined: nothing is discovered. */
  readonly discovery: Discovery | undefined
  /** The models of the configuration, with their routes over these upstreams. */
  readonly models: readonly ConfiguredModel[]
  readonly pausedUpstreams: ReadonlySet<string>
  /** The next calls find these upstreams, and those that were deleted no more. */
  apply(): void
}

/**
 * What the upstreams' lists and the price data have now, at registered prices, and what is in the configuration and an added
 * upstream serves. Computed once for each change of them.
 */
export interface DiscoveredModels extends Pick<Discovered, 'unpriced' | 'missing'> {
  readonly models: readonly Model[]
  /** The days on which models end, by the lists. */
  readonly ends: ReadonlyMap<string, string>
  readonly added?: WithAdded
}

const NOTHING: DiscoveredModels = { models: [], unpriced: [], missing: [], ends: new Map() }

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
    const { models: discovered, ends, added } = await discover()
    if (turn < applied) return
    applied = turn
    // No model names an upstream that calls do not find.
    added?.apply()
    catalog.applyChanges({
      markups,
      prices,
      // A model that an operator disabled does not answer under another name.
      discovered: discovered.filter(
        ({ id }) => disabledIds.has(id) || !disabledNames.has(plainName(id)),
      ),
      ends,
      disabledIds,
      pausedUpstreams: added?.pausedUpstreams ?? new Set(),
      isPaused: pause !== undefined,
    })
  }
}

/** Most reloads find the lists of the one before. */
export function createDiscover(
  db: Database,
  {
    configured,
    readAdded,
    log,
  }: {
    readonly configured: readonly ConfiguredModel[]
    /** Reads the upstreams that operators added, and makes them ready for calls. */
    readonly readAdded: () => Promise<WithAdded>
    readonly log: Log
  },
): () => Promise<DiscoveredModels> {
  let last = NOTHING
  let found:
    | {
        readonly of: readonly ConfiguredModel[]
        readonly state: string
        readonly models: Promise<DiscoveredModels>
      }
    | undefined

  async function find({ discovery, models: known }: WithAdded): Promise<DiscoveredModels> {
    const lists = await readUpstreamLists(db)
    const stored = await readStoredPriceData(db)
    const rerouted = known.filter((model) => !configured.includes(model))
    try {
      const now = discovery
        ? discoverModels(discovery, known, lists, new Date(), stored?.added)
        : NOTHING
      const ends = listedEnds([...known, ...now.models], lists)
      last = { ...now, ends, models: await registerPrices(db, [...rerouted, ...now.models]) }
    } catch (error) {
      // Nothing that an upstream lists holds up an operator's change.
      if (isDatabaseUnavailable(error)) throw error
      log.error('models_not_discovered', { error })
    }
    return last
  }

  return async () => {
    const added = await readAdded()
    const of = added.models
    const state = `${await readListTimes(db)} ${await readAddedDigest(db)}`
    if (found?.state !== state || found.of !== of) {
      const begun = { of, state, models: find(added) }
      found = begun
      begun.models.catch(() => {
        if (found === begun) found = undefined
      })
    }
    return { ...(await found.models), added }
  }
}
