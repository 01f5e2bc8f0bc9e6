import type { KeyCache } from '../../customers/key-cache.ts'
import type { Database } from '../../platform/db/open.ts'

export interface ProfileDeps {
  readonly db: Database
  readonly keys: Pick<KeyCache, 'forgetAllOf'>
}
