/**
 * Answers calls from the cached answers of equal calls of the same account, if the key or the call asks for it.
 *
 * A cached answer is what an upstream returned, before the client's format: it passes the same relay and settlement as one
 * that has just arrived, as the answer of a route whose price is the operator's share of the model's. So its hold, its
 * charge, its ids and the values that the shield puts back are its own. Equal means that the same bytes would be sent.
 */
import { setImmediate } from 'node:timers/promises'
import { CACHED_TEXT_BYTES_MAX } from '../../customers/cached-answers.ts'
import type { Route } from '../../money/catalog/model.ts'
import { chargedPrice } from '../../money/catalog/route-prices.ts'
import type { Resolution } from '../../money/ledger/resolution.ts'
import { CACHE_UPSTREAM } from '../../money/usage/usage-event.ts'
import { TOO_MANY_WAIT } from '../../platform/admission/own-time.ts'
import type { Held } from '../../platform/admission/share.ts'
import { sha256 } from '../../platform/lib/ids.ts'
import { within } from '../../platform/lib/within.ts'
import type { ChatStream, Provider, StreamChunk } from '../providers/contract.ts'
import type { CallKind } from './call-kind.ts'
import type { CacheChoice, CallRequest, Called, HeldCall } from './call.ts'
import type { GatewayParts } from './gateway-parts.ts'

/** Neither a call nor its end waits any longer for the cache. */
const WAIT_MS_MAX = 2_000
/** Chunks that are relayed at once. */
const CHUNKS_AT_ONCE = 64

/** The cache, as one call sees it. */
export interface CallCache<Outcome> {
  /** The answer to an equal call, as if an upstream had given it; undefined if there is none. */
  recall(room: Held): Promise<Called<Outcome> | undefined>
  /** Returns the same answer, which `keep` stores once it was relayed and charged. */
  record(called: Called<Outcome>): Called<Outcome>
  /** Stores the recorded answer if all of it was delivered at the upstream's own count. Never rejects; takes a bounded time. */
  keep(charged: Resolution): Promise<void>
}

/**
 * Returns undefined for a call whose answer depends on more than its request.
 * `isTimed`: the work on the request is taken from the customer's own time.
 */
export async function openCallCache<
  Body,
  Request extends CallRequest,
  Outcome extends { kind: string },
>(
  deps: Pick<GatewayParts, 'answerCache' | 'log' | 'ownTime'>,
  kind: CallKind<Body, Request, Outcome>,
  held: HeldCall<Request>,
  choice: CacheChoice,
  isTimed: boolean,
): Promise<CallCache<Outcome> | undefined> {
  const cacheKey = kind.cacheKeyOf?.(held.request)
  if (cacheKey === undefined) return undefined
  const { answers, shareOf } = deps.answerCache
  const { customerId } = held.key
  const work = (): Buffer => digestOf(kind.operation, held, cacheKey)
  const worked = isTimed ? await deps.ownTime.takeInTurn(customerId, work) : work()
  if (worked === TOO_MANY_WAIT) return undefined
  const digest = worked
  let textOf: (() => string | undefined) | undefined

  async function bounded<T>(what: string, work: Promise<T>): Promise<T | undefined> {
    try {
      return await within(WAIT_MS_MAX, work)
    } catch (error) {
      deps.log.warn('answer_cache_failed', { what, holdId: held.holdId, error })
      return undefined
    }
  }

  async function find(room: Held): Promise<Called<Outcome> | undefined> {
    const text = await answers.find(customerId, digest)
    // Without room for it, an upstream is asked as if it were not there.
    if (text === undefined || room.take(text.length) !== undefined) return undefined
    const route = held.model.routes[0] as Route
    const price = await shareOf(held.model.id, chargedPrice(route, held.span, Date.now()))
    return {
      kind: 'called',
      outcome: outcomeOf(text) as Outcome,
      route: {
        upstreamId: CACHE_UPSTREAM,
        upstreamModel: held.model.id,
        price,
        priority: 0,
        weight: 1,
        concurrencyMax: Infinity,
      },
      provider: NO_UPSTREAM,
      routeCall: NO_ROUTE_CALL,
      kept: room,
      tries: [],
      calledAtMs: performance.now(),
    }
  }

  return {
    recall: async (room) => (choice.isRefreshed ? undefined : bounded('recall', find(room))),
    record(called) {
      const { outcome } = called
      // What is too large is not written only to be thrown away.
      const bytesMax = kind.answerBytesMax?.(held.model, held.request) ?? 0
      if (Math.max(bytesMax, called.kept.amount) > CACHED_TEXT_BYTES_MAX) return called
      if (!isStream(outcome)) {
        textOf = () => JSON.stringify(outcome)
        return called
      }
      const recorded = recordStream(outcome, called.kept)
      textOf = recorded.text
      return { ...called, outcome: recorded.stream as unknown as Outcome }
    },
    async keep({ outcome, usageKind, reason, billedNanoBrl }) {
      const isWhole = outcome === 'charged' && usageKind === 'exact' && reason === null
      // Beyond its hold, it would be beyond that of an equal call, too.
      const text = isWhole && billedNanoBrl <= held.quote.ceilingNanoBrl ? textOf?.() : undefined
      if (text === undefined) return
      const { seconds } = choice
      await bounded('keep', answers.put({ customerId, digest, text, seconds }))
    },
  }
}

/** A team's calls are not answered from those of others of its account: who reads which answers is the team's own. */
function digestOf(
  operation: string,
  { key, model, quote, request }: HeldCall,
  cacheKey: unknown,
): Buffer {
  const { outputTokensMax, choices } = quote
  const limits = [outputTokensMax, choices, request.isStream]
  return sha256(JSON.stringify([key.teamId, operation, model.id, limits, cacheKey]))
}

function isStream(outcome: { kind: string }): outcome is ChatStream {
  return outcome.kind === 'stream'
}

/** What is cached of a chunk. */
type CachedChunk = Pick<StreamChunk, 'body' | 'native' | 'usage'>

/** Records the chunks that are read, while the customer has room for them. */
function recordStream(
  stream: ChatStream,
  room: Held,
): { stream: ChatStream; text: () => string | undefined } {
  let chunks: string[] | undefined = []
  let bytes = 0
  const note = (chunk: StreamChunk): void => {
    if (!chunks) return
    const { body, native, usage } = chunk
    const text = JSON.stringify({ body, native, usage } satisfies CachedChunk)
    bytes += text.length
    // What a search of the web found is another tomorrow.
    const isFit = !chunk.webSearches && bytes <= CACHED_TEXT_BYTES_MAX && !room.take(text.length)
    if (isFit) chunks.push(text)
    else chunks = undefined
  }
  return {
    stream: {
      kind: 'stream',
      each: (take) =>
        stream.each((read) => {
          for (const chunk of read) note(chunk)
          return take(read)
        }),
      cancel: () => stream.cancel(),
    },
    text: () => chunks && `{"kind":"stream","chunks":[${chunks.join(',')}]}`,
  }
}

function outcomeOf(text: string): { kind: string } {
  const cached = JSON.parse(text) as { kind: string; chunks: readonly CachedChunk[] }
  return cached.kind === 'stream' ? streamOf(cached.chunks) : cached
}

function streamOf(chunks: readonly CachedChunk[]): ChatStream {
  let left: readonly StreamChunk[] = chunks
  return {
    kind: 'stream',
    async each(take) {
      while (left.length > 0) {
        const next = left.slice(0, CHUNKS_AT_ONCE)
        left = left.slice(CHUNKS_AT_ONCE)
        const result = await take(next)
        if (result !== undefined) return result
        // Nobody waits for the whole of a long answer.
        await setImmediate()
      }
      return undefined
    },
    cancel: () => void (left = []),
  }
}

const NO_UPSTREAM: Provider = { cancelStopsBilling: true, close: () => Promise.resolve() }
const NO_ROUTE_CALL = { answered() {}, end() {}, fail() {}, abstain() {} }
