import type { Catalog } from '../../money/catalog/catalog.ts'
import type { KeyCache } from '../../customers/key-cache.ts'
import type { Database } from '../../platform/db/open.ts'
import type { Log } from '../../platform/lib/log.ts'

export interface ApiKeyDeps {
  readonly db: Database
  readonly catalog: Catalog
  readonly log: Log
  readonly keys: KeyCache
}
