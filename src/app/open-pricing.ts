import { createCatalog, type Catalog } from '../money/catalog/catalog.ts'
import { registerPrices } from '../money/catalog/register-prices.ts'
import {
  createDiscover,
  createReloadCatalog,
  type DiscoveredModels,
  type WithAdded,
} from '../money/catalog/reload-catalog.ts'
import type { Database } from '../platform/db/open.ts'
import { createFxRateView, type FxRateView } from '../money/fx/applied-rates.ts'
import {
  findCurrentFxRate,
  SANDBOX_SOURCE,
  storeFxRate,
  type FxRate,
} from '../money/fx/fx-rates.ts'
import { dayInBrasilia } from '../platform/lib/days.ts'
import type { Log } from '../platform/lib/log.ts'
import { refreshFxRate } from './workers/refresh-fx-rate.ts'
import type { Config } from './config/config.ts'

/** BRL 5.20: a round number near the rate of 2026; labelled as sandbox wherever it shows. */
const SANDBOX_FX_RATE_E4 = 52_000n

/** The factors of every charge: the models with their prices and markups, and the exchange rate. */
export interface Pricing {
  readonly catalog: Catalog
  /** Loads the operators' changes into the catalog. */
  readonly reloadCatalog: () => Promise<void>
  /** The models that nobody wrote down. */
  readonly discover: () => Promise<DiscoveredModels>
  readonly fxRate: FxRateView
}

export async function openPricing(
  db: Database,
  config: Config,
  log: Log,
  readAdded: () => Promise<WithAdded>,
): Promise<Pricing> {
  const catalog = createCatalog(await registerPrices(db, config.models))
  const discover = createDiscover(db, { configured: config.models, readAdded, log })
  const reloadCatalog = createReloadCatalog(db, catalog, discover)
  await reloadCatalog()
  const fxRate = createFxRateView(db, config.mode, await firstFxRate(config, db, log))
  return { catalog, reloadCatalog, discover, fxRate }
}

/** In sandbox mode the fixed rate is stored like any other, so that every charge can name it. */
async function firstFxRate(config: Config, db: Database, log: Log): Promise<FxRate | undefined> {
  const current = await findCurrentFxRate(db, config.mode)
  if (config.mode === 'sandbox') {
    const rateE4 = config.sandboxFxRateE4 ?? current?.rateE4 ?? SANDBOX_FX_RATE_E4
    if (current?.rateE4 === rateE4) return current
    const rateDate = dayInBrasilia(new Date())
    return storeFxRate(db, { rateE4, rateDate, bulletinAt: null, source: SANDBOX_SOURCE })
  }
  // With a stored rate the start does not wait for the central bank: the background job requests a new one soon.
  if (current) return current
  await refreshFxRate(db, log)
  const found = await findCurrentFxRate(db, 'live')
  if (!found)
    log.error('fx_rate_unknown', { effect: 'no call can be priced until a rate is stored' })
  return found
}
