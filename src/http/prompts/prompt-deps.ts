import type { Catalog } from '../../money/catalog/catalog.ts'
import type { KeyCache } from '../../customers/key-cache.ts'
import type { Database } from '../../platform/db/open.ts'
import type { ServeCall } from '../../gateway/calls/serve-call.ts'
import type { ByteBudget } from '../../platform/lib/byte-budget.ts'
import type { Pace } from '../../platform/lib/pace.ts'

export interface PromptDeps {
  readonly db: Database
  readonly catalog: Catalog
  readonly keys: KeyCache
  readonly calls: { readonly completeChat: ServeCall }
  readonly bodyBytesMax: number
  readonly bodies: ByteBudget
  readonly pace: Pace
  /** The address at which customers reach this server; undefined: the host that each request names. */
  readonly publicUrl: string | undefined
}
