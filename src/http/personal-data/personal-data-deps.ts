import type { KeyCache } from '../../customers/key-cache.ts'
import type { Database } from '../../platform/db/open.ts'
import type { Log } from '../../platform/lib/log.ts'
import type { Slots } from '../../platform/lib/slots.ts'

export interface PersonalDataDeps {
  readonly db: Database
  readonly keys: KeyCache
  readonly log: Log
  /** Of all exports of a customer. */
  readonly exportSlots: Slots
}
