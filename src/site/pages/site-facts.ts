/**
 * The facts that the pages show. A visitor never causes a query: prices and the exchange rate are in memory, and the
 * rest is read from the database at most once a minute. While it cannot be read, the last reading stays.
 */
import { listMarkupChanges, type MarkupChange } from '../../money/catalog/markup-changes.ts'
import type { Model } from '../../money/catalog/model.ts'
import { listPriceChanges } from '../../money/catalog/price-changes.ts'
import type { PriceChange } from '../../money/catalog/with-price-changes.ts'
import type { Database } from '../../platform/db/open.ts'
import {
  listAppliedRates,
  type AppliedRate,
  type FxRateView,
} from '../../money/fx/applied-rates.ts'
import type { FxRate } from '../../money/fx/fx-rates.ts'
import { SPEED_DAYS, type ModelSpeed, type ModelSpeeds } from '../../money/usage/model-speeds.ts'
import type { HealthSummaries, VendorHealth } from '../../platform/health/health-summaries.ts'
import type { Log } from '../../platform/lib/log.ts'
import type { HttpConfig } from '../../http/rest/parts.ts'
import type { Catalog } from '../../money/catalog/catalog.ts'

/** A page shows both under one heading. */
export const HEALTH_DAYS = SPEED_DAYS
/** About three months of business days. */
export const RATES_SHOWN = 60
const READING_AGE_MS_MAX = 60_000

export interface SiteSources {
  readonly db: Database
  readonly config: Pick<HttpConfig, 'mode'>
  readonly catalog: Pick<Catalog, 'listModels'>
  readonly fxRate: FxRateView
  readonly healthSummaries: HealthSummaries
  readonly modelSpeeds: ModelSpeeds
  readonly log: Log
}

export interface SiteFacts {
  readonly models: readonly Model[]
  readonly fxRate: FxRate | undefined
  readonly reading: Reading
}

interface Reading {
  readonly markups: readonly MarkupChange[]
  readonly prices: readonly PriceChange[]
  readonly health: readonly VendorHealth[]
  readonly speeds: readonly ModelSpeed[]
  readonly rates: readonly AppliedRate[]
}

const NOTHING_READ: Reading = { markups: [], prices: [], health: [], speeds: [], rates: [] }

/** Returns a reader of the facts, which returns the same object as long as nothing has changed. */
export function createSiteFacts(deps: SiteSources): () => Promise<SiteFacts> {
  let reading = NOTHING_READ
  let readAtMs = -Infinity
  let running: Promise<void> | undefined
  let facts: SiteFacts | undefined

  async function read(): Promise<void> {
    try {
      const [markups, prices, health, speeds, rates] = await Promise.all([
        listMarkupChanges(deps.db),
        listPriceChanges(deps.db),
        deps.healthSummaries.find(HEALTH_DAYS),
        deps.modelSpeeds.list(),
        listAppliedRates(deps.db, deps.config.mode, { limit: RATES_SHOWN }),
      ])
      const found = { markups, prices, health, speeds, rates }
      if (textOf(found) !== textOf(reading)) reading = found
    } catch (error) {
      deps.log.warn('site_facts_not_read', { error })
    }
    readAtMs = performance.now()
    running = undefined
  }

  return async () => {
    const isFirst = readAtMs === -Infinity
    if (performance.now() - readAtMs > READING_AGE_MS_MAX) running ??= read()
    // Only the first visitors wait for the database.
    if (isFirst) await running
    const models = deps.catalog.listModels()
    const fxRate = deps.fxRate.current()
    const isSame =
      facts?.reading === reading &&
      facts.fxRate?.id === fxRate?.id &&
      facts.models.length === models.length &&
      facts.models.every((model, index) => model === models[index])
    if (!facts || !isSame) facts = { models, fxRate, reading }
    return facts
  }
}

function textOf(reading: Reading): string {
  return JSON.stringify(reading, (_key, value: unknown) =>
    typeof value === 'bigint' ? String(value) : value,
  )
}
