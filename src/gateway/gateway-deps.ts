import type { Catalog } from '../catalog/catalog.ts'
import type { KeyCache } from '../customers/key-cache.ts'
import type { FxRate } from '../fx/fx-rates.ts'
import type { Ledger } from '../ledger/open-ledger.ts'
import type { Log } from '../lib/log.ts'
import type { Provider } from '../providers/contract.ts'
import type { LimitsView } from './limits.ts'
import type { RunningCalls } from './running-calls.ts'

/** What the hot path works with; made once, in `app.ts`. */
export interface GatewayDeps {
  readonly keys: KeyCache
  readonly catalog: Catalog
  /** Stored prices by model id. */
  readonly priceIds: ReadonlyMap<string, number>
  /** The rate in force; undefined until one is known. */
  readonly currentFxRate: () => FxRate | undefined
  readonly ledger: Ledger
  readonly providers: ReadonlyMap<string, Provider>
  readonly calls: RunningCalls
  readonly limits: LimitsView
  /** Requests a minute from one address. */
  readonly ipRequestsPerMinute: number
  /** A call is ended after this, whatever it does. */
  readonly callTimeoutMs: number
  readonly observer: GatewayObserver
  readonly log: Log
}

export interface GatewayObserver {
  /** A model call was answered; `upstreamMs` is the time spent waiting for the upstream. */
  answered(facts: {
    model: string
    status: number
    durationMs: number
    upstreamMs: number
    isStream: boolean
  }): void
  upstreamFailed(upstreamId: string, reason: string): void
  /** A charge is durable, in the database or on the disk, this long after the upstream's answer ended. */
  settled(kept: 'committed' | 'spooled', lagMs: number): void
  /** A charge above its hold: the operator's alarm. */
  overrun(): void
}
