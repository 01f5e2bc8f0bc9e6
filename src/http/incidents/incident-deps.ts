import type { Catalog } from '../../catalog/catalog.ts'
import type { Database } from '../../db/open.ts'

export interface IncidentDeps {
  readonly db: Database
  readonly catalog: Catalog
}
