/**
 * A way in which clients ask for a chat and read its answer. Inside there is one shape, that of
 * chat-completions: a format translates to it and from it, and knows nothing of money or upstreams. A new
 * one is a folder in `formats/` and a route in `http/`.
 */
import type { TokenCounts } from '../../catalog/prices.ts'
import type { NanoBrl } from '../../lib/money.ts'
import type { JsonObject } from '../../providers/contract.ts'
import type { Refusal } from '../refusal.ts'
import type { ChatRequest } from './chat-request.ts'

export interface ChatFormat {
  /** From the bytes of a request. */
  readRequest(raw: Buffer): ChatRequest | Refusal
  /** Writes the answer of one call; `id` is ours. */
  createWriter(call: { id: string; modelId: string; request: ChatRequest }): ChatWriter
}

export interface ChatWriter {
  /** A whole answer. */
  answer(body: JsonObject, charged: Charged): string
  /** The events of a chunk; undefined where nothing of it is for the customer. */
  chunk(body: JsonObject): string | undefined
  /** What follows the last chunk. */
  end(charged: Charged): string
  /** What follows the last chunk of a stream that broke off. */
  broken(refused: Refusal): string
}

/** What was used, and what it costs. */
export type Charged = TokenCounts & { readonly billedNanoBrl: NanoBrl }
