import type { Catalog } from '../../money/catalog/catalog.ts'
import type { Database } from '../../platform/db/open.ts'

export interface IncidentDeps {
  readonly db: Database
  readonly catalog: Catalog
}
