import type { KeyCache } from '../customers/key-cache.ts'
import type { LimitsView } from '../gateway/limits.ts'
import type { RefusalDeps } from '../gateway/refuse-call.ts'
import type { Log } from '../lib/log.ts'
import type { ByteBudget } from '../lib/byte-budget.ts'
import type { RestLimits } from './rest/rest-limits.ts'
import type { CorsOrigins } from './server/add-cors.ts'
import type { WriteLine } from './server/access-log.ts'
import type { ConnectionLimitOptions } from './server/connection-limit.ts'
import type { ResourceDeps, RouteTerms } from './resources.ts'

/** The dependencies of the server itself; each resource declares its own. */
export interface ServerDeps extends RefusalDeps {
  readonly terms: RouteTerms
  readonly keys: KeyCache
  readonly limits: LimitsView
  readonly restLimits: RestLimits
  /** The address at which customers reach this server; undefined: the host that each request names. */
  readonly publicUrl: string | undefined
  /** The origins whose pages may call models with a key. */
  readonly corsOrigins: CorsOrigins
  readonly ipRequestsPerMinute: number
  readonly bodyBytesMax: number
  readonly bodies: ByteBudget
  readonly connections: ConnectionLimitOptions
  /** The proxies whose `X-Forwarded-For` is trusted: addresses or CIDR blocks; false: none. */
  readonly trustProxy: readonly string[] | false
  readonly log: Log
  /** Undefined: the operator wants no access log. */
  readonly accessLog: WriteLine | undefined
}

/** The dashboard's files belong to the server that sends them. */
export type HttpDeps = ServerDeps & Omit<ResourceDeps, 'webApp'>
