import type { EventArchive } from '../../platform/archive/event-archive.ts'
import type { Catalog } from '../../money/catalog/catalog.ts'
import type { Database } from '../../platform/db/open.ts'
import type { FxRate } from '../../money/fx/fx-rates.ts'
import type { Log } from '../../platform/lib/log.ts'
import type { Slots } from '../../platform/lib/slots.ts'

/** Concurrent slots per customer and node. */
export const EXPORTS_MAX = 2

export interface UsageDeps {
  readonly db: Database
  /** For balances and settings, which are never shown late. */
  readonly primary: Database
  readonly catalog: Catalog
  readonly log: Log
  /** Undefined until a rate is stored. */
  readonly currentFxRate: () => FxRate | undefined
  /** Where exports read archived months; undefined if none is configured. */
  readonly archive: EventArchive | undefined
  /** Limits each customer's simultaneous exports on this node. */
  readonly exportSlots: Slots
}
