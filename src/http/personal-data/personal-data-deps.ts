import type { KeyCache } from '../../customers/key-cache.ts'
import type { Database } from '../../db/open.ts'
import type { Log } from '../../lib/log.ts'
import type { Slots } from '../../lib/slots.ts'

export interface PersonalDataDeps {
  readonly db: Database
  readonly keys: KeyCache
  readonly log: Log
  /** Of all exports of a customer. */
  readonly exportSlots: Slots
}
