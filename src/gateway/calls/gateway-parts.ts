import type { Catalog } from '../../money/catalog/catalog.ts'
import type { CachedAnswers } from '../../customers/cached-answers.ts'
import type { Price } from '../../money/catalog/prices.ts'
import type { ActiveKey, KeyCache } from '../../customers/key-cache.ts'
import type { ShieldCounts } from '../../customers/shield-counts.ts'
import type { FxRateView } from '../../money/fx/applied-rates.ts'
import type { DeliveryNotes } from '../../money/ledger/deliveries/delivery-notes.ts'
import type { LeaseView } from '../../money/ledger/lease.ts'
import type { Ledger } from '../../money/ledger/open-ledger.ts'
import type { Room } from '../../money/ledger/find-balance.ts'
import type { Log } from '../../platform/lib/log.ts'
import type { Pace, Tally } from '../../platform/admission/rate.ts'
import type { Provider } from '../providers/contract.ts'
import type { Share } from '../../platform/admission/share.ts'
import type { Operation } from './call-kind.ts'
import type { LimitsView } from './limits.ts'
import type { UpstreamTerms } from './routing/choose-routes.ts'
import type { Router } from './routing/create-router.ts'
import type { RunningCalls } from './running-calls.ts'
import type { Lateness } from '../../platform/admission/lateness.ts'
import type { OwnTime } from '../../platform/admission/own-time.ts'

/** What a call needs of the program, under the names that it has there. */
export interface GatewayParts {
  readonly keys: KeyCache
  readonly catalog: Catalog
  /** The exchange rate in force; undefined until one is known. */
  readonly fxRate: Pick<FxRateView, 'current'>
  readonly ledger: Ledger
  /** Only saves work: the ledger alone decides on money. */
  readonly readRoom: (key: ActiveKey) => Promise<Room>
  readonly lease: LeaseView
  /** Records the cost that each delivered answer showed to its client, for the audit. */
  readonly deliveries: Pick<DeliveryNotes, 'note'>
  readonly providers: ReadonlyMap<string, Provider>
  readonly router: Router
  /** How many times a call is retried on a route of this upstream. */
  readonly retriesOf: (upstreamId: string) => number
  /** What callers may know of this upstream. */
  readonly termsOf: (upstreamId: string) => UpstreamTerms | undefined
  readonly calls: RunningCalls
  readonly lateness: Lateness
  readonly limits: LimitsView
  readonly slots: Share
  /** The memory of request bodies and answers. */
  readonly bodies: Share
  /** Spreads large amounts of bytes over time, for each customer and for all. */
  readonly pace: Pace
  /** The plain answers of each customer for which nobody paid. */
  readonly unpaidWork: Tally
  readonly ownTime: OwnTime
  /** Counts what the shield found. */
  readonly shieldCounts: Pick<ShieldCounts, 'note'>
  readonly config: {
    /** Requests per minute from one address. */
    readonly requestsPerMinutePerIp: number
    /** Every call is ended after this time. */
    readonly callTimeoutMs: number
  }
  readonly answerCache: {
    readonly answers: CachedAnswers
    /** Returns the stored price of a model that is the operator's share of another one. */
    readonly shareOf: (modelId: string, price: Price) => Promise<Price>
  }
  readonly observer: GatewayObserver
  readonly log: Log
}

/** A step of a call that somebody watches. */
export interface Step {
  set(attributes: Readonly<Record<string, string | number | boolean>>): void
  /** Marks the step as failed, with a word of the code: never with the text of an error, which may quote a request. */
  fail(reason: string): void
  end(): void
}

/** What happens to calls. */
export interface GatewayEvents {
  /** A model call was answered. */
  answered(facts: {
    modelId: string
    status: number
    isStream: boolean
    durationMs: number
    /** Until the upstream answered, or sent the first chunk of a stream. */
    firstByteMs: number
    /** The time spent waiting for the upstream. */
    upstreamMs: number
  }): void
  /**
   * A model call was refused; `modelId` is undefined if its model was not known yet, or is not in the catalog, and `key`
   * if it was not recognised, or the client left before the answer.
   */
  refused(facts: {
    key: Pick<ActiveKey, 'id' | 'customerId'> | undefined
    modelId: string | undefined
    status: number
    code: string
    isStream: boolean
    durationMs: number
  }): void
  /** An upstream answered, or sent the first byte of a stream. */
  upstreamAnswered(facts: { vendor: string; upstreamId: string; firstByteMs: number }): void
  /** An upstream failed a call, before or after its first byte. */
  upstreamFailed(facts: {
    vendor: string
    upstreamId: string
    reason: string
    /** False if the failure must not count against the upstream, because the request or the client caused it. */
    isItsFault: boolean
  }): void
  /** An upstream that speaks the client's own format got a translation, which loses more and may cost its cache. */
  translated(facts: { upstreamId: string; reason: string }): void
  /** A charge is durable, in the database or in the spool, `lagMs` after the upstream's answer ended. */
  settled(kept: 'committed' | 'spooled', lagMs: number): void
  /** A charge exceeded its hold; this raises the operator's alarm. */
  overrun(): void
}

/** Watches calls: the steps of a call, and its events. */
export interface GatewayObserver extends GatewayEvents {
  /** Begins a step of the call that runs now; undefined if nobody watches it. */
  begin(step: 'admit' | 'hold' | 'relay' | 'settle'): Step | undefined
  /** Begins a try of an upstream. */
  beginTry(facts: {
    operation: Operation
    vendor: string
    upstreamId: string
    upstreamModel: string
  }): Step | undefined
}
