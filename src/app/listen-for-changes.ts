import { CATALOG_CHANNEL } from '../money/catalog/reload-catalog.ts'
import { API_KEY_CHANNEL } from '../customers/api-keys.ts'
import type { KeyCache } from '../customers/key-cache.ts'
import { listen, type Listener } from '../platform/db/listen.ts'
import { FX_CHANNEL } from '../money/fx/fx-rates.ts'
import type { Log } from '../platform/lib/log.ts'
import type { Pricing } from './open-pricing.ts'

/** Keeps the caches of this node current, using the database's notifications of changed rows. */
export function listenForChanges(
  databaseUrl: string,
  { keys, pricing, log }: { keys: KeyCache; pricing: Pricing; log: Log },
): Listener {
  const reloadCatalog = (): void => {
    pricing.reloadCatalog().catch((error: unknown) => log.warn('catalog_reload_failed', { error }))
  }
  const reloadFxRate = (): void => {
    pricing.fxRate.reload().catch((error: unknown) => log.warn('fx_rate_reload_failed', { error }))
  }
  return listen(
    databaseUrl,
    {
      [API_KEY_CHANNEL]: (id) => keys.forget(id),
      [FX_CHANNEL]: reloadFxRate,
      [CATALOG_CHANNEL]: reloadCatalog,
    },
    () => {
      keys.clear()
      reloadFxRate()
      reloadCatalog()
    },
  )
}
