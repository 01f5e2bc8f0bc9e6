import type { Catalog } from '../catalog/catalog.ts'
import type { KeyCache } from '../customers/key-cache.ts'
import type { Database } from '../db/open.ts'
import type { CompleteChat } from '../gateway/complete-chat.ts'
import type { LimitsView } from '../gateway/limits.ts'
import type { Log } from '../lib/log.ts'

/** What the routes work with; made once, in `app.ts`. */
export interface HttpDeps {
  readonly db: Database
  readonly catalog: Catalog
  readonly keys: KeyCache
  readonly completeChat: CompleteChat
  readonly limits: LimitsView
  readonly ipRequestsPerMinute: number
  readonly bodyBytesMax: number
  /** Whose `X-Forwarded-For` is believed: addresses or CIDR blocks; false: nobody's. */
  readonly trustProxy: readonly string[] | false
  readonly metrics: { readonly contentType: string; text(): Promise<string> }
  /** Lets callers that are not on this machine read `/metrics`. */
  readonly metricsToken: string | undefined
  readonly mode: 'sandbox' | 'live'
  readonly log: Log
}
