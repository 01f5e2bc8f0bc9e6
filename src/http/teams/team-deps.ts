import type { Catalog } from '../../money/catalog/catalog.ts'
import type { Database } from '../../platform/db/open.ts'

export interface TeamDeps {
  readonly db: Database
  readonly catalog: Catalog
  /** The address at which customers reach this server; undefined: the host that each request names. */
  readonly publicUrl: string | undefined
  readonly mode: 'sandbox' | 'live'
}
