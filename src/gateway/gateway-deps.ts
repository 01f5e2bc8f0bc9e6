import type { Catalog } from '../catalog/catalog.ts'
import type { KeyCache } from '../customers/key-cache.ts'
import type { FxRate } from '../fx/fx-rates.ts'
import type { DeliveryNotes } from '../ledger/deliveries/delivery-notes.ts'
import type { LeaseView } from '../ledger/lease.ts'
import type { Ledger } from '../ledger/open-ledger.ts'
import type { Log } from '../lib/log.ts'
import type { Provider } from '../providers/contract.ts'
import type { LimitsView } from './limits.ts'
import type { Router } from './routing/create-router.ts'
import type { RunningCalls } from './running-calls.ts'

/** What the hot path works with; made once, in `composition`. */
export interface GatewayDeps {
  readonly keys: KeyCache
  readonly catalog: Catalog
  /** The rate in force; undefined until one is known. */
  readonly currentFxRate: () => FxRate | undefined
  readonly ledger: Ledger
  readonly lease: LeaseView
  /** Notes what clients were told that an answer costs, for the audit. */
  readonly deliveries: Pick<DeliveryNotes, 'note'>
  readonly providers: ReadonlyMap<string, Provider>
  readonly router: Router
  /** How often a call is tried again on a route of this upstream. */
  readonly retriesOf: (upstreamId: string) => number
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
  /** An upstream answered, or sent the first byte of a stream. */
  upstreamAnswered(facts: { vendor: string; upstreamId: string; firstByteMs: number }): void
  /** An upstream failed a call, before or after its first byte. */
  upstreamFailed(facts: {
    vendor: string
    upstreamId: string
    reason: string
    /** False where the request or the client ended the call. */
    isItsFault: boolean
  }): void
  /** A charge is durable, in the database or on the disk, this long after the upstream's answer ended. */
  settled(kept: 'committed' | 'spooled', lagMs: number): void
  /** A charge above its hold: the operator's alarm. */
  overrun(): void
}
