/**
 * The interface of a kind of model call: chat, embeddings, images, transcriptions. The money path
 * (`serve-call.ts`) is the same for all of them and knows only this interface.
 */
import type { Model } from '../catalog/model.ts'
import type { UnitCounts } from '../catalog/prices.ts'
import type { Resolution } from '../ledger/resolution.ts'
import type { Provider, UpstreamFailure } from '../providers/contract.ts'
import type { AnsweredBy, CallRequest, Called, HeldCall } from './call.ts'
import type { Client } from './client.ts'
import type { Refusal } from './refusal.ts'
import type { RunningCall } from './running-calls.ts'

/** The most that a call can use, and what may be tried where the money for it is short. */
export interface Ask {
  readonly promptTokensMax: number
  readonly promptTokensEstimated: number
  /** Of one choice. */
  readonly outputTokensMax: number
  readonly choices: number
  readonly unitsMax?: UnitCounts | undefined
  /** Counted against the key's tokens a minute until the true number is known. */
  readonly tokensCounted: number
  /**
   * Where the limit of the output comes from. The client's limit is kept, and the refusal says which limit
   * would fit; the model's limit is lowered until it fits; a limit that the request fixes cannot change.
   */
  readonly outputLimitOf: 'client' | 'model' | 'request'
  /** A tighter bound of the prompt, by counting it; undefined where it cannot be counted. */
  readonly countPrompt?: (() => Promise<number | undefined>) | undefined
}

/** One try at an upstream. */
export interface UpstreamTry<Request extends CallRequest> {
  readonly held: HeldCall<Request>
  /** The model's name at the upstream. */
  readonly upstreamModel: string
  readonly client: Client
  /** Aborted: the call is to end, whatever it does. */
  readonly signal: AbortSignal
  readonly abort: () => void
}

/** The end of a call: how its hold is resolved, and what the client gets once that is durable. */
export interface Ending {
  readonly resolution: Resolution
  /** Written while the charge is committed. */
  write(): string | Promise<string>
  /** Sends what was written: the answer, or the end of a stream. */
  send(text: string): void
  /** Ends an answer that has begun, a stream, with an error; undefined where nothing of the answer was sent. */
  refuse?(refused: Refusal): void
  /** Set where the upstream broke off after its first byte. */
  readonly brokenBy?: UpstreamFailure | undefined
}

export interface CallKind<Body, Request extends CallRequest, Outcome extends { kind: string }> {
  /** Checks the form of the body, and the fields that decide the price. */
  read(body: Body): Request | Refusal | Promise<Request | Refusal>
  /** Why this model cannot take this request, in Portuguese; undefined where it can. */
  findFault(model: Model, request: Request): string | undefined
  /** The most that the call can use, at any of the upstreams that the model has routes to. */
  ask(model: Model, request: Request, providers: ReadonlyMap<string, Provider>): Ask | Promise<Ask>
  /** Whether an upstream can do this at all. */
  can(provider: Provider): boolean
  /** The charge of a call that its client left after it was dispatched and before its first output. */
  chargeLeft?(held: HeldCall<Request>, answeredBy: AnsweredBy): Promise<Resolution>
  call(provider: Provider, attempt: UpstreamTry<Request>): Promise<Outcome | UpstreamFailure>
  relay(
    held: HeldCall<Request>,
    called: Called<Outcome>,
    answeredBy: () => AnsweredBy,
    client: Client,
    running: RunningCall,
  ): Promise<Ending>
  /** Gives back what a request holds beside memory. */
  dispose?(request: Request): void
}
