/** The types of a model call, in the order in which a call passes through them. The steps import them from here. */
import type { Model, Route } from '../../money/catalog/model.ts'
import type { Price, UsageCounts } from '../../money/catalog/prices.ts'
import type { Quote } from '../../money/catalog/quote.ts'
import type { CallSpan } from '../../money/catalog/route-prices.ts'
import type { Counts } from '../../customers/shield-setting.ts'
import type { ActiveKey } from '../../customers/key-cache.ts'
import type { NanoBrl } from '../../platform/lib/money.ts'
import type { UsageKind } from '../../money/ledger/resolution.ts'
import type { Provider, UpstreamFailure } from '../providers/contract.ts'
import type { Limits } from './limits.ts'
import type { Refusal } from './refusal.ts'
import type { RouteCall } from './routing/create-router.ts'
import type { Held } from '../../platform/admission/share.ts'
import type { RouteChoice } from './routing/route-choice.ts'

/** The fields of a request that the money path needs, for every kind of call. */
export interface CallRequest {
  readonly modelId: string
  /** Models to try, in this order, if `modelId` gives no answer. The customer chooses them. */
  readonly fallbackModelIds: readonly string[]
  readonly isStream: boolean
  /** What the caller asks of the routes; see `findModels`. */
  readonly choice?: RouteChoice | undefined
}

/** That cached answers may serve a call, and its own answer equal calls. */
export interface CacheChoice {
  /** For how long its answer is cached. */
  readonly seconds: number
  /** An upstream is asked all the same, and its answer takes the place of the cached one. */
  readonly isRefreshed: boolean
}

/** A request as the shield lets it leave. */
export interface Covered<Request> {
  readonly request: Request
  /** What was masked in it, if anything was, and whether an upstream may have received it. */
  readonly masked?: { readonly counts: Counts; isSent: boolean } | undefined
}

export interface Admitted<Request extends CallRequest> extends Covered<Request> {
  readonly kind: 'admitted'
  readonly key: ActiveKey
  /** Whether the work on its request is taken from the customer's own time. */
  readonly isTimed: boolean
  /** The requested model, then its fallbacks. */
  readonly models: readonly [Model, ...Model[]]
  /** The prices of these models are charged as of this time at the latest; see `spanOf`. */
  readonly pricesUntilMs: number
  /** The most that the call may cost by its own header; undefined: no such limit. */
  readonly maxCostNanoBrl: NanoBrl | undefined
  readonly conversationOf: ConversationOf
  /** By its own header, or else by its key; undefined: the call does not use the cache. */
  readonly cache: CacheChoice | undefined
}

/**
 * Names the conversation of a call, with its customer in the name: its calls go to the same route where they can, for the
 * cache of their prompt. Undefined if nothing of it would be cached.
 */
export type ConversationOf = () => string | undefined

/** A refusal. If the key was recognised, the call counts against its rate limit, and the answer shows that limit. */
export interface NotAdmitted {
  readonly kind: 'not_admitted'
  readonly refused: Refusal
  readonly key: ActiveKey | undefined
  /** Undefined if the call was refused before its request was read. */
  readonly asked?: Asked | undefined
}

/** The part of a request by which its refusal is counted. */
export interface Asked {
  /** Of the catalog; undefined if the request names no model of it. */
  readonly modelId: string | undefined
  readonly isStream: boolean
}

/** A call whose money is held. Its hold must be resolved, even after an error. */
export interface HeldCall<Request extends CallRequest = CallRequest> extends Covered<Request> {
  readonly key: ActiveKey
  readonly model: Model
  readonly holdId: string
  /** The epoch of the lease under which the hold was taken. */
  readonly epoch: number
  /** See `Verdict.isDurable`. */
  readonly isDurable: boolean
  readonly quote: Quote
  /** The time in which the call ends; the quote covers the prices of all of it. */
  readonly span: CallSpan
  readonly promptTokensEstimated: number
  readonly limits: Limits
  readonly conversationOf: ConversationOf
}

export interface NotHeld {
  readonly refused: Refusal
  readonly limits: Limits
}

/** A call that an upstream answered; for a stream, with its first chunks. */
export interface Called<Outcome> {
  readonly kind: 'called'
  readonly outcome: Outcome
  readonly route: Route
  readonly provider: Provider
  /** Ends when the answer ends. */
  readonly routeCall: RouteCall
  /** The bytes that the adapter keeps for the call beside its body: a large answer, and files that it downloaded. */
  readonly kept: Held
  readonly tries: readonly TriedUpstream[]
  /** By `performance.now()`. */
  readonly calledAtMs: number
}

/** A call that no upstream answered. */
export interface NotCalled {
  readonly kind: 'not_called'
  readonly failure: UpstreamFailure
  /** The last route that was tried; undefined if none was. */
  readonly route: Route | undefined
  readonly tries: readonly TriedUpstream[]
  readonly calledAtMs: number
}

/** An element of `attempts` in a usage event, as it is stored in JSON. */
export interface TriedUpstream {
  readonly upstream: string
  readonly model: string
  readonly outcome: 'answered' | UpstreamFailure['reason']
  readonly status?: number
  readonly ms: number
}

/** The upstream, times and attempts of a call, stored in the usage event for the operator. */
export interface CallTimes {
  readonly upstreamId: string | null
  readonly firstByteMs: number | null
  readonly durationMs: number | null
  /** See `Resolution.attempts`. */
  readonly attempts: string | null
}

/** The upstream that answered a call, with its times and the price that it bills at. */
export interface AnsweredBy extends CallTimes {
  readonly price: Price
}

/** The usage that a call is charged for. */
export interface Used {
  readonly counts: UsageCounts
  readonly kind: UsageKind & ('exact' | 'estimated')
  /** Why the usage is an estimate; null for usage that the upstream reported. */
  readonly reason: string | null
}
