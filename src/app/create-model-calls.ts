import { idTailOf } from '../platform/lib/ids.ts'
import { findPromptBySlug } from '../customers/prompts/read-prompts.ts'
import type { Database } from '../platform/db/open.ts'
import { createCheckCaller, type CheckCaller } from '../gateway/calls/check-caller.ts'
import { createChatKind } from '../gateway/calls/chat/chat-kind.ts'
import { createChatCompletionsFormat } from '../gateway/calls/chat/formats/chat-completions/chat-completions-format.ts'
import { completionsFormat } from '../gateway/calls/chat/formats/completions/completions-format.ts'
import {
  createGeminiFormat,
  createGeminiTokensFormat,
  type Delivery,
} from '../gateway/calls/chat/formats/gemini/gemini-format.ts'
import {
  createMessagesFormat,
  createMessageTokensFormat,
} from '../gateway/calls/chat/formats/messages/messages-format.ts'
import {
  createConnectionMemory,
  type ConnectionMemory,
} from '../gateway/calls/chat/formats/responses/connection-memory.ts'
import { createReasoningSeals } from '../gateway/calls/chat/formats/responses/reasoning-seal.ts'
import {
  createResponsesFormat,
  readResponsesRequest,
  type ResponsesFormat,
} from '../gateway/calls/chat/formats/responses/responses-format.ts'
import { createStoredResponsesFormat } from '../gateway/calls/chat/formats/responses/stored-responses-format.ts'
import type { Presets } from '../gateway/calls/chat/read-preset.ts'
import { createServeTokenCount } from '../gateway/calls/chat/serve-token-count.ts'
import { createEmbeddingKind, embeddingKind } from '../gateway/calls/embeddings/embedding-kind.ts'
import { createGeminiEmbeddings } from '../gateway/calls/embeddings/gemini-embeddings.ts'
import { createToolCallIds } from '../gateway/calls/chat/tool-call-ids.ts'
import { createCachedAnswers } from '../customers/cached-answers.ts'
import type { Price } from '../money/catalog/prices.ts'
import { storeShareOfPrice } from '../money/catalog/register-prices.ts'
import { UNPAID_WORK } from '../gateway/calls/call-upstream.ts'
import { createShare } from '../platform/admission/share.ts'
import { createTally } from '../platform/admission/rate.ts'
import type {
  GatewayParts,
  GatewayEvents,
  GatewayObserver,
} from '../gateway/calls/gateway-parts.ts'
import { createOwnTime, type OwnTime } from '../platform/admission/own-time.ts'
import { moderationKind } from '../gateway/calls/moderations/moderation-kind.ts'
import { rerankKind } from '../gateway/calls/rerank/rerank-kind.ts'
import { createImageKind, type KeepImage } from '../gateway/calls/images/image-kind.ts'
import { imageMediaType } from '../gateway/calls/images/image-request.ts'
import type { CallKind } from '../gateway/calls/call-kind.ts'
import type { CallRequest } from '../gateway/calls/call.ts'
import { createServeCall, type ServeCall } from '../gateway/calls/serve-call.ts'
import type { Spans } from '../gateway/tracing/spans.ts'
import { tracedObserver, tracedServeCall } from '../gateway/tracing/trace-calls.ts'
import { speechKind } from '../gateway/calls/speech/speech-kind.ts'
import { createVideoKind } from '../gateway/calls/videos/video-kind.ts'
import { storeVideo, type StoreVideo } from '../gateway/calls/videos/videos.ts'
import { createTranscriptionKind } from '../gateway/calls/transcriptions/transcription-kind.ts'
import type { HealthRecorder } from '../platform/health/health-recorder.ts'
import type { ModelCalls } from '../http/model-calls/model-call-route.ts'
import { IMAGE_FILES } from '../http/images/image-file-routes.ts'
import { storeImage } from '../gateway/generated-images.ts'
import { readRoom } from '../money/ledger/find-balance.ts'
import type { Log } from '../platform/lib/log.ts'
import type { RefusalCounts } from '../money/usage/refusal-counts.ts'
import type { Parts } from './open-parts.ts'

/** What all WebSockets of a customer remember together, in bodies of the largest size. */
const REMEMBERED_BODIES_MAX = 2

/** Creates the money path for each kind of call. */
export function createModelCalls(parts: Parts): {
  modelCalls: ModelCalls
  checkCaller: CheckCaller
  observer: GatewayObserver
} {
  const { config, lease, log } = parts
  const { sealingKey, previousSealingKey } = parts.webhooks
  const ownTime = createOwnTime(config.callsAtOnceMax)
  const spans = parts.tracing?.spans
  const gateway = createGatewayParts(parts, ownTime, spans)
  const toolCallIds = createToolCallIds([
    sealingKey,
    ...(previousSealingKey ? [previousSealingKey] : []),
  ])
  const presets: Presets = {
    find: (customerId, slug) => findPromptBySlug(parts.db, customerId, slug),
    time: ownTime,
    log,
  }
  const chats = { lease, callTimeoutMs: config.callTimeoutMs, presets }
  const reasoningSeals = createReasoningSeals({ sealingKey, previousSealingKey })
  const chatFormat = createChatCompletionsFormat(toolCallIds, (body, bytes, customerId) =>
    readResponsesRequest(body, bytes, reasoningSeals(customerId)),
  )
  const chatKind = createChatKind(chatFormat, chats)
  const messageKind = createChatKind(createMessagesFormat(toolCallIds, reasoningSeals), chats)
  const messageTokensKind = createChatKind(
    createMessageTokensFormat(toolCallIds, reasoningSeals),
    chats,
  )
  const contentKind = (delivery: Delivery) =>
    createChatKind(createGeminiFormat(toolCallIds, reasoningSeals, delivery), chats)
  const contentTokensKind = createChatKind(
    createGeminiTokensFormat(toolCallIds, reasoningSeals),
    chats,
  )
  return {
    modelCalls: {
      completeChat: serve(gateway, chatKind, spans),
      completeText: serve(gateway, createChatKind(completionsFormat, chats), spans),
      ...createResponseCalls(parts, gateway, chats, (compacts) =>
        createResponsesFormat(reasoningSeals, toolCallIds, compacts),
      ),
      createMessage: serve(gateway, messageKind, spans),
      countMessageTokens: createServeTokenCount(gateway, messageTokensKind, (tokens) => ({
        input_tokens: tokens,
      })),
      generateContent: serve(gateway, contentKind('whole'), spans),
      streamContent: serve(gateway, contentKind('events'), spans),
      streamContentList: serve(gateway, contentKind('list'), spans),
      countContentTokens: createServeTokenCount(gateway, contentTokensKind, (tokens) => ({
        totalTokens: tokens,
      })),
      embedContent: serve(gateway, createEmbeddingKind(createGeminiEmbeddings(false)), spans),
      embedContents: serve(gateway, createEmbeddingKind(createGeminiEmbeddings(true)), spans),
      ...createOtherCalls(parts, gateway, spans),
    },
    checkCaller: createCheckCaller(gateway, parts.shared.limiter),
    observer: gateway.observer,
  }
}

/** The calls that are no chats, but for those of Google's format. */
function createOtherCalls(
  { db, config, lease, log }: Parts,
  gateway: GatewayParts,
  spans: Spans | undefined,
): Pick<
  ModelCalls,
  | 'embed'
  | 'rerank'
  | 'moderate'
  | 'generateImages'
  | 'editImages'
  | 'speak'
  | 'transcribe'
  | 'translate'
  | 'createVideo'
> {
  const { transcriptionModel, callTimeoutMs } = config
  const transcripts = { time: gateway.ownTime, lease, callTimeoutMs }
  const keepImage = createKeepImage(db, log)
  return {
    embed: serve(gateway, embeddingKind, spans),
    rerank: serve(gateway, rerankKind, spans),
    moderate: serve(gateway, moderationKind, spans),
    generateImages: serve(gateway, createImageKind(keepImage), spans),
    editImages: serve(gateway, createImageKind(keepImage, 'editImages'), spans),
    speak: serve(gateway, speechKind, spans),
    createVideo: serve(gateway, createVideoKind(createStoreVideo(db, log)), spans),
    transcribe: serve(gateway, createTranscriptionKind(transcriptionModel, transcripts), spans),
    translate: serve(
      gateway,
      createTranscriptionKind(transcriptionModel, transcripts, 'translate'),
      spans,
    ),
  }
}

/** The calls of the Responses format, which may be stored, or remembered by a connection. */
function createResponseCalls(
  parts: Parts,
  gateway: GatewayParts,
  chats: Parameters<typeof createChatKind>[1],
  createFormat: (compacts: boolean) => ResponsesFormat,
): Pick<
  ModelCalls,
  'createResponse' | 'compactResponse' | 'countResponseTokens' | 'openConversation'
> {
  const { config, log, responses: store, conversations } = parts
  const stored = { store, conversations, time: gateway.ownTime, log }
  const spans = parts.tracing?.spans
  const createKind = (compacts: boolean, memory?: ConnectionMemory) =>
    createChatKind(createStoredResponsesFormat(createFormat(compacts), stored, memory), chats)
  const remembered = createShare({
    ownMax: REMEMBERED_BODIES_MAX * config.bodyBytesMax,
    allMax: config.bodiesBytesMax / 2,
  })
  const kind = createKind(false)
  return {
    createResponse: serve(gateway, kind, spans),
    compactResponse: serve(gateway, createKind(true), spans),
    countResponseTokens: createServeTokenCount(gateway, kind, (tokens) => ({
      object: 'response.input_tokens',
      input_tokens: tokens,
    })),
    openConversation(customerId) {
      const memory = createConnectionMemory(remembered, customerId)
      const own = createKind(false, memory)
      return {
        create: serve(gateway, own, spans),
        prepare: createServeTokenCount(gateway, own, (_tokens, { asked = [] }, requestId) => {
          memory.answer(idTailOf(requestId), asked, '[]')
          return {}
        }),
        [Symbol.dispose]: () => memory[Symbol.dispose](),
      }
    },
  }
}

/** In a span of the whole call, if the operator asks for traces. */
function serve<Body, Request extends CallRequest, Outcome extends { kind: string }>(
  gateway: GatewayParts,
  kind: CallKind<Body, Request, Outcome>,
  spans: Spans | undefined,
): ServeCall<Body> {
  const serveCall = createServeCall(gateway, kind)
  return spans ? tracedServeCall(spans, serveCall) : serveCall
}

/** The parts under their own names, and what is made for calls alone. */
function createGatewayParts(
  parts: Parts,
  ownTime: OwnTime,
  spans: Spans | undefined,
): GatewayParts {
  const observer = createObserver(parts.metrics.gateway, parts.health, parts.refusalCounts)
  return {
    ...parts,
    readRoom: (key) => readRoom(parts.db, key),
    unpaidWork: createTally(UNPAID_WORK),
    answerCache: createAnswerCache(parts),
    ownTime,
    observer: spans ? tracedObserver(spans, observer) : observer,
  }
}

/** The shares of prices are stored once for each price of a model, so that every charge can be recomputed. */
function createAnswerCache({ db, config, webhooks }: Parts): GatewayParts['answerCache'] {
  const { sealingKey, previousSealingKey } = webhooks
  const shares = new Map<number, Promise<Price>>()
  return {
    answers: createCachedAnswers({ db, sealingKey, previousSealingKey }),
    shareOf(modelId, price) {
      const known = shares.get(price.id)
      if (known) return known
      const stored = storeShareOfPrice(db, modelId, price, config.cachedAnswerPercent)
      shares.set(price.id, stored)
      stored.catch(() => shares.delete(price.id))
      return stored
    },
  }
}

/**
 * Answers and failures of upstreams count in this node's metrics and in the health of the upstreams; refusals of
 * recognised keys also for their customers.
 */
function createObserver(
  metrics: GatewayEvents,
  health: HealthRecorder,
  refusalCounts: RefusalCounts,
): GatewayObserver {
  return {
    ...metrics,
    begin: () => undefined,
    beginTry: () => undefined,
    refused(facts) {
      metrics.refused(facts)
      const { key, modelId, code, status } = facts
      if (!key) return
      refusalCounts.note({ customerId: key.customerId, keyId: key.id, modelId, code, status })
    },
    upstreamAnswered(facts) {
      metrics.upstreamAnswered(facts)
      health.sample({ ...facts, ok: true })
    },
    upstreamFailed(facts) {
      metrics.upstreamFailed(facts)
      if (facts.isItsFault) health.sample({ ...facts, ok: false, firstByteMs: 0 })
    },
  }
}

/** Images are kept in the database for a while, so that every node can serve their addresses. */
function createKeepImage(db: Database, log: Log): KeepImage {
  return async (customerId, { base64 }) => {
    const image = { mediaType: imageMediaType(base64), bytes: Buffer.from(base64, 'base64') }
    try {
      return `${IMAGE_FILES}/${await storeImage(db, customerId, image)}`
    } catch (error) {
      log.error('image_not_kept', { customerId, error })
      throw error
    }
  }
}

/** A video that cannot be stored is not sold. */
function createStoreVideo(db: Database, log: Log): StoreVideo {
  return async (video) => {
    try {
      return await storeVideo(db, video)
    } catch (error) {
      log.error('video_not_stored', { holdId: video.id, error })
      return undefined
    }
  }
}
