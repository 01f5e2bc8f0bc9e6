/** The chat kind of call, for every client format: its bounds, and how it is called, relayed and charged. */
import { hasUnitPrice, type Model } from '../../../money/catalog/model.ts'
import { WEB_SEARCH_UNIT } from '../../../money/catalog/web-search.ts'
import type { ActiveKey } from '../../../customers/key-cache.ts'
import type { Resolution } from '../../../money/ledger/resolution.ts'
import {
  UNCOUNTED_BYTES,
  type ChatAnswer,
  type Provider,
  type ReportedTokens,
  type UpstreamFailure,
} from '../../providers/contract.ts'
import { readDownloadFailure } from '../../providers/download-file.ts'
import { createDownloadDocument, inlineDocuments } from '../../providers/inline-documents.ts'
import { readError } from '../../providers/read-failure.ts'
import type { LeaseView } from '../../../money/ledger/lease.ts'
import { billedUsage, estimateReason, possibleUsage } from '../billed-usage.ts'
import type { CallKind, Ending, ReadAddresses, UpstreamTry } from '../call-kind.ts'
import type { AnsweredBy, HeldCall, Used } from '../call.ts'
import { chargeHeldCall, releaseHeldCall } from '../charge.ts'
import { shieldChatRequest } from '../shield/shield-chat-request.ts'
import { isRefusal, refusals, type Refusal } from '../refusal.ts'
import { beginStream } from './begin-stream.ts'
import { boundChat, contentOf, webSearchesHeld } from './bound-chat.ts'
import type { ChatFormat, ChatWriter } from './chat-format.ts'
import type { ChatRequest } from './chat-request.ts'
import { conversationOf } from './conversation-of.ts'
import { estimateChat } from './estimate-chat.ts'
import { findSizeFault, plainBytesMax } from './output-limit.ts'
import { leastTokensOf, outputTexts } from './output-texts.ts'
import { markCaches } from './mark-caches.ts'
import { readWithPreset, type Presets } from './read-preset.ts'
import { relayStream } from './relay-stream.ts'
import { BROKEN_REASONS, endingOf, type BegunStream, type RelayedStream } from './streamed-chat.ts'
import type { Placeholders } from '../../shield/placeholders.ts'
import { createStreamRestorer } from '../../shield/restore-stream.ts'
import { restoreChat, type ChatBody } from '../../shield/shield-chat.ts'

export type ChatKind<Request extends ChatRequest = ChatRequest> = CallKind<
  Buffer,
  Request,
  ChatAnswer | BegunStream
>

/** A stream waits for a slow client for at most half of `callTimeoutMs`, the time limit of the whole call. */
export function createChatKind<Request extends ChatRequest>(
  format: ChatFormat<Request>,
  {
    lease,
    callTimeoutMs,
    presets,
  }: { lease: LeaseView; callTimeoutMs: number; presets?: Presets | undefined },
): ChatKind<Request> {
  const waitMsMax = callTimeoutMs / 2
  return {
    operation: 'chat',
    shieldRequest: shieldChatRequest,
    read: (raw, key, flags) =>
      readWithPreset(
        { raw, customerId: key.customerId, write: format.withPreset },
        presets,
        (bytes) => readRequest(format, bytes, key, flags),
      ),
    conversationOf,
    cacheKeyOf: ({ body, native }) => {
      if (native === undefined) return body
      // What a search of the web finds is another tomorrow.
      return native.webSearches > 0 ? undefined : [native.format, native.body, native.flags, body]
    },
    findFault: findModelFault,
    bound: boundChat,
    mayBeLarge: ({ request, quote }) =>
      plainBytesMax(request, quote.outputTokensMax) > UNCOUNTED_BYTES,
    can: (provider) => provider.completeChat !== undefined,
    async chargeLeft(held, answeredBy) {
      return chargeHeldCall(held, await estimateChat(held, 0, 'client_left'), answeredBy)
    },
    readAddresses: (request) => (request.fileAddressCount > 0 ? documentsOf(request) : undefined),
    call: completeChat,
    dispose: ({ room }) => room?.[Symbol.dispose](),
    async relay(held, { outcome, provider }, answeredBy, client, running): Promise<Ending> {
      const { holdId: id, model, request, limits } = held
      const plain = format.createWriter({ id, modelId: model.id, request })
      const { placeholders } = request
      const writer = placeholders ? createRestoringWriter(plain, placeholders) : plain
      const { keep } = writer
      if (outcome.kind === 'answer') {
        const resolution = await resolveAnswer(held, outcome, answeredBy())
        return {
          resolution,
          write: () => writer.answer(outcome.body, resolution, outcome.native),
          keep,
          send: (text) => client.answer(text, limits),
        }
      }
      const relayed = await relayStream(
        { held, lease, stream: outcome, writer, client, running, waitMsMax },
        mayCancel(provider, held),
      )
      const resolution = await resolveStream(held, relayed, answeredBy())
      return endingOf(relayed, resolution, writer, client)
    },
  }
}

/**
 * The shield reads and masks a chat in the chat-completions shape. With it, nothing is sent in another form, which has
 * texts that it did not read.
 */
function readRequest<Request extends ChatRequest>(
  format: ChatFormat<Request>,
  raw: Buffer,
  key: ActiveKey,
  flags: readonly string[] | undefined,
): Request | Refusal | Promise<Request | Refusal> {
  const request = format.readRequest(raw, key, flags)
  return request instanceof Promise
    ? request.then((read) => asKeySays(read, key))
    : asKeySays(request, key)
}

function asKeySays<Request extends ChatRequest>(
  request: Request | Refusal,
  key: ActiveKey,
): Request | Refusal {
  const read = withoutNative(request, key)
  return key.autoCache && !isRefusal(read) ? markCaches(read) : read
}

function withoutNative<Request extends ChatRequest>(
  request: Request | Refusal,
  { shield }: ActiveKey,
): Request | Refusal {
  if (isRefusal(request) || request.native === undefined || shield.action === 'off') return request
  if (request.native.mustSearch) {
    request.room?.[Symbol.dispose]()
    return refusals.invalidRequest(
      'Com a proteção de dados pessoais (LGPD) não há busca na web: tire-a de "tool_choice".',
    )
  }
  return { ...request, native: undefined }
}

function findModelFault(model: Model, request: ChatRequest): string | undefined {
  if (model.category !== 'llm')
    return `O modelo "${model.id}" não é de chat; use o endpoint da categoria dele.`
  const sizeFault = findSizeFault(model, request)
  if (sizeFault !== undefined) return sizeFault
  if (request.hasTools && !model.supportsTools) return `O modelo "${model.id}" não aceita "tools".`
  if (request.native?.mustSearch && !hasUnitPrice(model, WEB_SEARCH_UNIT))
    return `O modelo "${model.id}" não tem busca na web: tire-a de "tool_choice".`
  if (request.imageCount > 0 && model.imageTokensMax === 0)
    return `O modelo "${model.id}" não aceita imagens.`
  if (
    request.hasAudio &&
    model.routes.some(({ price }) => price.units?.input_audio_tokens === undefined)
  )
    return `O modelo "${model.id}" não tem preço para áudio em arquivos.`
  return undefined
}

/** What was written of the request has the addresses, so the request with the documents is written anew. */
function documentsOf<Request extends ChatRequest>(request: Request): ReadAddresses<Request> {
  return async ({ signal, takeBytes }) => {
    try {
      const download = createDownloadDocument(signal, takeBytes)
      const inlined = await inlineDocuments(request.body, download)
      return { kind: 'read', request: { ...request, ...inlined, memo: {} } }
    } catch (error) {
      return readDownloadFailure(error) ?? readError(error)
    }
  }
}

async function completeChat(
  provider: Provider,
  { held, upstreamModel, client, signal, abort, takeBytes, onTranslated }: UpstreamTry<ChatRequest>,
): Promise<ChatAnswer | BegunStream | UpstreamFailure> {
  const { isStream } = held.request
  // The limit sent upstream must be the limit that the hold covers, whether the client or the model set it.
  const { outputTokensMax, unitsMax } = held.quote
  const webSearches = webSearchesHeld(unitsMax)
  const content = contentOf(held.model, held.request, upstreamModel, outputTokensMax, webSearches)
  const call = { ...content, callId: held.holdId, takeBytes, onTranslated }
  if (isStream) client.expectStream(held.limits)
  // The callback applies only to this attempt, and only until its first chunk; afterwards `relayStream` decides.
  let isWaiting = true
  let isByClient = false
  if (isStream && mayCancel(provider, held)) {
    client.onLeave(() => {
      if (!isWaiting) return
      isByClient = true
      abort()
    })
  }
  try {
    const outcome = await (provider.completeChat as NonNullable<Provider['completeChat']>)(
      call,
      signal,
    )
    const begun = outcome.kind === 'stream' ? await beginStream(outcome) : outcome
    return begun.kind === 'failure' && isByClient && !begun.isUnsent
      ? { ...begun, reason: 'aborted', isByClient }
      : begun
  } finally {
    isWaiting = false
  }
}

async function resolveAnswer(
  held: HeldCall<ChatRequest>,
  answer: ChatAnswer,
  answeredBy: AnsweredBy,
): Promise<Resolution> {
  const { body, usage } = answer
  const used =
    plausibleUsage(held, usage, leastTokensOf(body), answeredBy) ??
    (await estimateChat(held, outputTexts(body), estimateReason(held, usage), answer.webSearches))
  return chargeHeldCall(held, used, answeredBy)
}

/** Charges a stream by the reported usage, else by our own count. Releases the hold if there was no output. */
async function resolveStream(
  held: HeldCall<ChatRequest>,
  relayed: RelayedStream,
  answeredBy: AnsweredBy,
): Promise<Resolution> {
  const { ending, reported, hasFinished, outputTokensSeen: seen, webSearchesSeen } = relayed
  const { outputTokensLeast: least } = relayed
  if (ending === 'whole') {
    const used =
      plausibleUsage(held, reported, least, answeredBy) ??
      (await estimateChat(held, seen, estimateReason(held, reported), webSearchesSeen))
    return chargeHeldCall(held, used, answeredBy)
  }
  // The usage reported with the finish reason is the amount that the upstream bills, even if the connection broke
  // afterwards.
  if (hasFinished && ending !== 'lapsed') {
    const used = plausibleUsage(held, reported, least, answeredBy)
    if (used) return chargeHeldCall(held, used, answeredBy)
  }
  const reason = BROKEN_REASONS[ending]
  // If the client hung up, the customer owes the prompt of a dispatched call; not if the upstream or this node failed. A
  // lapsed stream counts what was delivered, so its searches were not.
  if (seen === 0 && (ending === 'lapsed' || webSearchesSeen === 0) && ending !== 'left')
    return releaseHeldCall(held, reason, answeredBy)
  const used = await estimateChat(held, seen, reason, webSearchesSeen)
  return chargeHeldCall(held, used, answeredBy)
}

/**
 * Whether a call is cancelled when its client hangs up before any output: only if closing the connection stops the
 * billing, and the model cannot have generated hidden reasoning or searched, which is no output either.
 */
function mayCancel(provider: Provider, { model, quote }: HeldCall<ChatRequest>): boolean {
  const mayHaveWorked = model.canReason !== false || webSearchesHeld(quote.unitsMax) > 0
  return provider.cancelStopsBilling && !mayHaveWorked
}

/** The reported usage; undefined if it is missing, impossible, or below what the answer has. */
function plausibleUsage(
  held: HeldCall,
  report: ReportedTokens | undefined,
  completionTokens: number,
  { price }: AnsweredBy,
): Used | undefined {
  const reported = possibleUsage(held, report, { promptTokens: 1, completionTokens })
  return (
    reported && { counts: billedUsage(held.model, price, reported), kind: 'exact', reason: null }
  )
}

/**
 * Puts the masked values back into what a writer writes. The usage is counted from what the upstream sent, before this
 * writer. A stream that breaks off within a placeholder ends before it.
 */
export function createRestoringWriter(writer: ChatWriter, placeholders: Placeholders): ChatWriter {
  const restorer = createStreamRestorer(placeholders)
  const eventsOf = (chunks: readonly ChatBody[]): string | undefined => {
    const events = chunks.map((chunk) => writer.chunk(chunk))
    const shown = events.filter((event) => event !== undefined)
    return shown.length === 0 ? undefined : shown.join('')
  }
  return {
    answer: (body, charged) => writer.answer(restoreChat(body, placeholders), charged),
    chunk: (body) => eventsOf(restorer.push(body)),
    end: (charged) => (eventsOf(restorer.end()) ?? '') + writer.end(charged),
    broken: (refused) => writer.broken(refused),
    keep: writer.keep,
  }
}
