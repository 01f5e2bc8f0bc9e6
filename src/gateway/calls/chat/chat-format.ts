/**
 * An API format in which clients send chat requests and read answers. Internally every chat has the shape of
 * chat-completions; a format translates to and from it, and knows neither money nor upstreams. To add a format,
 * add a folder in `formats/` and a route in `http/`.
 */
import { randomUUID } from 'node:crypto'
import type { ActiveKey } from '../../../customers/key-cache.ts'
import type { TokenCounts } from '../../../money/catalog/prices.ts'
import type { NanoBrl } from '../../../platform/lib/money.ts'
import type { JsonObject, TextDelta, DeltaShape } from '../../providers/contract.ts'
import type { Refusal } from '../refusal.ts'
import type { ChatRequest } from './chat-request.ts'
import type { WritePreset } from './formats/presets.ts'

/** Stands for the text of a delta, to find its place in the written event. No upstream can know it. */
const MARK = randomUUID()

interface DeltaWriter {
  /** The event of a delta; empty if the customer must not see it. */
  write(this: void, delta: TextDelta): string
  /** The next delta is written as a whole, because what is shown of its shape may have changed. */
  forget(): void
}

/** Writes deltas of the same shape by what stands before and after their text in one that `write` wrote as a whole. */
export function createDeltaWriter(write: (like: DeltaShape, text: string) => string): DeltaWriter {
  let like: DeltaShape | undefined
  let before = ''
  let after: string | undefined
  return {
    write(delta) {
      if (delta.like !== like) {
        like = delta.like
        ;[before = '', after] = write(like, MARK).split(MARK)
      }
      return after === undefined ? '' : before + delta.json + after
    },
    forget() {
      like = undefined
    },
  }
}

/**
 * The fields of the calling key on which the reading of a request may depend: fields that never change, fields that
 * `isReadAlike` compares, and the storing of responses, which the database decides again.
 */
export type ChatCaller = Pick<
  ActiveKey,
  'id' | 'customerId' | 'scope' | 'teamId' | 'storedResponsesDays'
>

export interface ChatFormat<Request extends ChatRequest = ChatRequest> {
  /** Parses the bytes of a request body. `flags` are those of new features, from a header. */
  readRequest(
    raw: Buffer,
    caller: ChatCaller,
    flags?: readonly string[],
  ): Request | Refusal | Promise<Request | Refusal>
  /** Writes what a preset sets into a body that is not checked yet. */
  readonly withPreset: WritePreset
  /** Creates the writer for the answer of one call; `id` is our id of the call. */
  createWriter(call: { id: string; modelId: string; request: Request }): ChatWriter
}

/** A format whose requests can be read without the database. */
export interface WholeChatFormat<
  Request extends ChatRequest = ChatRequest,
> extends ChatFormat<Request> {
  readRequest(
    raw: Buffer,
    caller: Pick<ChatCaller, 'customerId'>,
    flags?: readonly string[],
  ): Request | Refusal
}

export interface ChatWriter {
  /** A whole answer. `native`: in this format, if the upstream speaks it; then it is written instead of the body. */
  answer(body: JsonObject, charged: Charged, native?: JsonObject): string
  /**
   * The server-sent events of a chunk; undefined if the customer must not see any part of it. `native`: its events in
   * this format, if the upstream speaks it; then they are written instead of the body.
   */
  chunk(body: JsonObject, native?: readonly JsonObject[]): string | undefined
  /** As `chunk`, for one that only adds text; missing if there is no quicker way for it. */
  delta?(delta: TextDelta): string
  /** The events after the last chunk. */
  end(charged: Charged): string
  /** The events after the last chunk of a stream that broke off. */
  broken(refused: Refusal): string
  /**
   * Stores the answer after its end was written, for a customer who asked for it; the end leaves afterwards. Never
   * rejects, and takes a bounded time. Called once the charge is durable.
   */
  readonly keep?: (() => Promise<void>) | undefined
}

/** The tokens of a call and their cost; `units` as in a `Resolution`. */
export type Charged = TokenCounts & {
  readonly billedNanoBrl: NanoBrl
  readonly units?: string | null
}
