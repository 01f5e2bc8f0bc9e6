import type { Catalog } from '../../money/catalog/catalog.ts'
import type { Database } from '../../platform/db/open.ts'
import type { FxRate } from '../../money/fx/fx-rates.ts'
import type { Log } from '../../platform/lib/log.ts'
import type { CallerOfCatalogDeps } from './visible-to.ts'

export interface ModelDeps extends CallerOfCatalogDeps {
  readonly db: Database
  readonly catalog: Catalog
  readonly log: Log
  /** Undefined until a rate is stored. */
  readonly currentFxRate: () => FxRate | undefined
  readonly operators: {
    /** Resolves when this node serves the changed catalog; the other nodes are notified. */
    reloadCatalog(): Promise<void>
  }
}

/** The terms that the API description states. */
export interface ModelTerms {
  /** Days between the announcement of a higher markup and its start. */
  readonly markupNoticeDays: number
}
