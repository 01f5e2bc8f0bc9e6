/** The nouns of a model call, in the order in which a call becomes each of them; the acts import them from here. */
import type { Model, Route } from '../catalog/model.ts'
import type { Price, UsageCounts } from '../catalog/prices.ts'
import type { Quote } from '../catalog/quote.ts'
import type { ActiveKey } from '../customers/key-cache.ts'
import type { UsageKind } from '../ledger/resolution.ts'
import type { Provider, UpstreamFailure } from '../providers/contract.ts'
import type { Limits } from './limits.ts'
import type { Refusal } from './refusal.ts'
import type { Trip } from './routing/create-router.ts'

/** The part of a request that the money path needs, of any kind of call. */
export interface CallRequest {
  readonly modelId: string
  /** Models to turn to, in this order, where the first one gives no answer: the customer's option. */
  readonly fallbackModelIds: readonly string[]
  readonly isStream: boolean
}

export interface Admitted<Request extends CallRequest> {
  readonly kind: 'admitted'
  readonly key: ActiveKey
  readonly request: Request
  /** The model, and those to turn to where it gives no answer. */
  readonly models: readonly [Model, ...Model[]]
}

/** A refusal, and the key where one was recognised: its limits are shown, and the call counts on it. */
export interface NotAdmitted {
  readonly kind: 'not_admitted'
  readonly refused: Refusal
  readonly key: ActiveKey | undefined
}

/** A call whose money is held. From here on its hold must be resolved, whatever happens. */
export interface HeldCall<Request extends CallRequest = CallRequest> {
  readonly key: ActiveKey
  readonly model: Model
  readonly request: Request
  readonly holdId: string
  /** Of the lease under which the hold was taken. */
  readonly epoch: number
  /** A crash of the database can lose the hold until its first checkpoint, see `Attempt.mayLag`. */
  readonly mayLag: boolean
  readonly quote: Quote
  readonly promptTokensEstimated: number
  readonly limits: Limits
}

export interface NotHeld {
  readonly refused: Refusal
  readonly limits: Limits
}

/** An upstream that answered; of a stream, that sent its first bytes. */
export interface Called<Outcome> {
  readonly kind: 'called'
  readonly outcome: Outcome
  readonly route: Route
  readonly provider: Provider
  /** Ends with the answer. */
  readonly trip: Trip
  readonly tries: readonly TriedUpstream[]
  /** By `performance.now()`. */
  readonly calledAtMs: number
}

/** No upstream answered. */
export interface NotCalled {
  readonly kind: 'not_called'
  readonly failure: UpstreamFailure
  /** The last route that was tried; undefined where none was. */
  readonly route: Route | undefined
  readonly tries: readonly TriedUpstream[]
  readonly calledAtMs: number
}

/** A line of the attempts of a usage event. */
export interface TriedUpstream {
  readonly upstream: string
  readonly model: string
  readonly outcome: 'answered' | UpstreamFailure['reason']
  readonly status?: number
  readonly ms: number
}

/** The times and attempts of a call, kept for the operator. */
export interface CallTimes {
  readonly upstreamId: string | null
  readonly firstByteMs: number | null
  readonly durationMs: number | null
  /** See `Resolution.attempts`. */
  readonly attempts: string | null
}

/** The upstream that answered a call, its price, and when. */
export interface AnsweredBy extends CallTimes {
  readonly price: Price
}

/** The usage that a call is charged for. */
export interface Used {
  readonly counts: UsageCounts
  readonly kind: UsageKind & ('exact' | 'estimated')
  /** Why it is an estimate; null for usage that the upstream reported. */
  readonly reason: string | null
}
