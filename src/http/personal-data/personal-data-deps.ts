import type { KeyCache } from '../../customers/key-cache.ts'
import type { Database } from '../../db/open.ts'
import type { Log } from '../../lib/log.ts'

export interface PersonalDataDeps {
  readonly db: Database
  readonly keys: KeyCache
  readonly log: Log
}
