import type { KeyCache } from '../customers/key-cache.ts'
import type { LimitsView } from '../gateway/calls/limits.ts'
import type { RefusalDeps } from '../gateway/calls/refuse-call.ts'
import type { Log } from '../platform/lib/log.ts'
import type { ByteBudget } from '../platform/lib/byte-budget.ts'
import type { RestLimits } from '../http/rest/rest-limits.ts'
import type { CorsOrigins } from '../http/server/add-cors.ts'
import type { WriteLine } from '../http/server/access-log.ts'
import type { ConnectionLimitOptions } from '../http/server/connection-limit.ts'
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
