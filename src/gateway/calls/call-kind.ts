/**
 * The interface of a kind of model call: chat, embeddings, rerank, moderations, images, speech, transcriptions, videos. The money path
 * (`serve-call.ts`) is the same for all of them and knows only this interface.
 */
import type { Model } from '../../money/catalog/model.ts'
import type { UnitCounts } from '../../money/catalog/prices.ts'
import type { ActiveKey } from '../../customers/key-cache.ts'
import type { Resolution } from '../../money/ledger/resolution.ts'
import type { TakeBytes } from '../../platform/admission/share.ts'
import type { ChatContent, Provider, UpstreamFailure } from '../providers/contract.ts'
import type { AnsweredBy, CallRequest, Called, HeldCall } from './call.ts'
import type { Client } from './client.ts'
import type { Refusal } from './refusal.ts'
import type { RunningCall } from './running-calls.ts'
import type { ShieldRequest } from './shield/text-shield.ts'

/** The most that a call can use, and which bounds may be tightened if the balance does not cover it. */
export interface CallBounds {
  readonly promptTokensMax: number
  readonly promptTokensEstimated: number
  /** For one choice. */
  readonly outputTokensMax: number
  /** How often the model may write up to that limit: the choices, or the rounds of a provider's own tools. */
  readonly choices: number
  readonly unitsMax?: UnitCounts | undefined
  /** False if no route writes a cache of this prompt, which may cost more than to read it. */
  readonly writesCache?: boolean | undefined
  /** Counted against the key's tokens per minute until the true number is known. */
  readonly tokensCounted: number
  /** Whether the output limit may be lowered to what the balance covers; false if the request fixes the output. */
  readonly canLowerOutput: boolean
  /** Counts the prompt for a tighter bound; undefined if this prompt cannot be counted. */
  readonly countPrompt?: (() => Promise<number | undefined>) | undefined
  /** A lower bound of the result of `countPrompt`, without the count. */
  readonly leastCount?: (() => number) | undefined
  /**
   * The bounds of the call without what it can do without, such as searches. They are held if the balance does not cover
   * the others, and the call is then sent without it: an attempt reads what is covered from the `Quote`.
   */
  readonly lean?: CallBounds | undefined
}

/** What an adapter needs for one attempt at an upstream. */
export interface UpstreamTry<Request extends CallRequest> {
  readonly held: HeldCall<Request>
  /** The model's name at the upstream. */
  readonly upstreamModel: string
  readonly client: Client
  /** When it aborts, the call must end at once. */
  readonly signal: AbortSignal
  readonly abort: () => void
  /** Counts bytes that an adapter keeps for the call beside the request. */
  readonly takeBytes: TakeBytes
  /** As in `ChatContent`. */
  readonly onTranslated: NonNullable<ChatContent['onTranslated']>
}

/** Returns the request with what it names. Never rejects because of an address. */
export type ReadAddresses<Request extends CallRequest> = (
  reading: Pick<UpstreamTry<Request>, 'signal' | 'takeBytes'>,
) => Promise<{ readonly kind: 'read'; readonly request: Request } | UpstreamFailure>

/**
 * How a call ends: the resolution of its hold, and the last bytes for the client, which are sent once the resolution is
 * durable.
 */
export interface Ending {
  readonly kind?: undefined
  readonly resolution: Resolution
  /** Serializes the answer, or the end of the stream. Runs while the charge commits. */
  write(): string | Promise<string>
  /**
   * Stores the answer for its customer between the two, once the charge is in the database. Never rejects, and takes a
   * bounded time.
   */
  keep?: (() => Promise<void>) | undefined
  /** Sends the text that `write` returned. */
  send(text: string): void
  /** Ends a stream that has begun with an error; undefined if no byte of the answer was sent. */
  refuse?(refused: Refusal): void
  /** Set if the upstream broke off after its first byte. */
  readonly brokenBy?: UpstreamFailure | undefined
}

/**
 * How a call ends whose work goes on at the upstream: its hold passes to a job, which resolves it. The answer is sent once
 * that is durable; where it cannot be, the hold is released.
 */
export interface Deferral {
  readonly kind: 'deferred'
  /** Resolves to false if nothing was stored. */
  handOver(): Promise<boolean>
  send(): void
}

/** The names of OpenTelemetry's conventions for generative AI. */
export type Operation =
  | 'chat'
  | 'embeddings'
  | 'generate_content'
  | 'transcription'
  | 'rerank'
  | 'moderation'
  | 'speech'
  | 'video'

export interface CallKind<Body, Request extends CallRequest, Outcome extends { kind: string }> {
  readonly operation: Operation
  /**
   * Parses the body. Checks its shape and the fields that decide the price. The request is what an upstream may see; of
   * the key, only its customer and settings that `isReadAlike` compares may decide about it. `flags`: see `IncomingCall`.
   */
  read(
    body: Body,
    key: ActiveKey,
    flags?: readonly string[],
  ): Request | Refusal | Promise<Request | Refusal>
  /**
   * All of the request that decides its answer, for kinds whose answers may serve equal requests; undefined if this one
   * depends on more than that. Not called for other kinds.
   */
  cacheKeyOf?(request: Request): unknown
  /** Masks or finds the personal data in a request; see `shield/cover-request.ts`. */
  readonly shieldRequest: ShieldRequest<Request>
  /** What names the conversation of a request, alike in all its turns, for kinds whose upstreams cache prompts. */
  conversationOf?(request: Request, sessionId: string | undefined): string | undefined
  /** Returns in Portuguese why this model cannot serve this request; undefined if it can. */
  findFault(model: Model, request: Request): string | undefined
  /** Computes the most that the call can use over all routes of the model. */
  bound(
    model: Model,
    request: Request,
    providers: ReadonlyMap<string, Provider>,
  ): CallBounds | Promise<CallBounds>
  /**
   * The memory that the answer of one call may take, for kinds whose answers can be much larger than their requests; it
   * is reserved before the call.
   */
  answerBytesMax?(model: Model, request: Request): number
  /**
   * Whether the plain answer may be large (more than `UNCOUNTED_BYTES`) however few tokens it has, so that it may not fit
   * into the memory. Such a call of a customer with much unpaid work is refused.
   */
  mayBeLarge?(held: HeldCall<Request>): boolean
  /** Whether the upstream supports this kind of call. */
  can(provider: Provider): boolean
  /** Charges a call whose client hung up after it was dispatched and before its first output. */
  chargeLeft?(held: HeldCall<Request>, answeredBy: AnsweredBy): Promise<Resolution>
  /**
   * Returns how to read what the request names by addresses and every upstream gets: once, after the hold and before a
   * route is taken. Undefined if there is nothing to read.
   */
  readAddresses?(request: Request): ReadAddresses<Request> | undefined
  call(provider: Provider, attempt: UpstreamTry<Request>): Promise<Outcome | UpstreamFailure>
  relay(
    held: HeldCall<Request>,
    called: Called<Outcome>,
    answeredBy: () => AnsweredBy,
    client: Client,
    running: RunningCall,
  ): Promise<Ending | Deferral>
  /** Frees resources of the request other than memory, such as files. */
  dispose?(request: Request): void
}
