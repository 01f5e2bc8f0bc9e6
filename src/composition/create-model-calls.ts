import type { Database } from '../db/open.ts'
import { createCheckCaller, type CheckCaller } from '../gateway/check-caller.ts'
import { createChatKind } from '../gateway/chat/chat-kind.ts'
import { chatCompletionsFormat } from '../gateway/chat/formats/chat-completions/chat-completions-format.ts'
import { embeddingKind } from '../gateway/embeddings/embedding-kind.ts'
import type { GatewayDeps, GatewayObserver } from '../gateway/gateway-deps.ts'
import { createImageKind } from '../gateway/images/image-kind.ts'
import { imageMediaType } from '../gateway/images/image-media-type.ts'
import type { KeepImage } from '../gateway/images/write-images.ts'
import { createServeCall } from '../gateway/serve-call.ts'
import { createTranscriptionKind } from '../gateway/transcriptions/transcription-kind.ts'
import type { HealthRecorder } from '../health/health-recorder.ts'
import type { ModelCalls } from '../http/model-calls/model-call-deps.ts'
import { IMAGE_FILES } from '../http/images/image-file-routes.ts'
import { storeImage } from '../images/generated-images.ts'
import { readRoom } from '../ledger/read-room.ts'
import type { Log } from '../lib/log.ts'
import type { Parts } from './open-parts.ts'

/** Creates the money path for each kind of call. */
export function createModelCalls(parts: Parts): { calls: ModelCalls; checkCaller: CheckCaller } {
  const { db, config, lease, log } = parts
  const gateway = createGatewayDeps(parts)
  const chatKind = createChatKind(chatCompletionsFormat, {
    lease,
    callTimeoutMs: config.callTimeoutMs,
  })
  return {
    calls: {
      completeChat: createServeCall(gateway, chatKind),
      embed: createServeCall(gateway, embeddingKind),
      generateImages: createServeCall(gateway, createImageKind(createKeepImage(db, log))),
      transcribe: createServeCall(gateway, createTranscriptionKind(config.transcriptionModel)),
    },
    checkCaller: createCheckCaller(gateway, (key) => readRoom(db, key)),
  }
}

function createGatewayDeps(parts: Parts): GatewayDeps {
  const {
    config,
    metrics,
    health,
    keys,
    pricing,
    books,
    lease,
    upstreams,
    calls,
    limits,
    slots,
    bodies,
  } = parts
  return {
    keys,
    catalog: pricing.catalog,
    currentFxRate: () => pricing.fxRate.current(),
    ledger: books.ledger,
    lease,
    deliveries: books.deliveries,
    providers: upstreams.providers,
    router: upstreams.router,
    retriesOf: upstreams.retriesOf,
    calls,
    limits,
    slots,
    memory: bodies,
    ipRequestsPerMinute: config.requestsPerMinutePerIp,
    callTimeoutMs: config.callTimeoutMs,
    observer: createObserver(metrics.gateway, health),
    log: parts.log,
  }
}

/** Answers and failures of upstreams count in this node's metrics and in the health of the upstreams. */
function createObserver(metrics: GatewayObserver, health: HealthRecorder): GatewayObserver {
  return {
    ...metrics,
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
