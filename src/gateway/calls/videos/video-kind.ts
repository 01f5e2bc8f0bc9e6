/** The videos kind of call: starts a video, which is billed by the second once it is done (`settle-videos.ts`). */
import { videoUnit, type Model } from '../../../money/catalog/model.ts'
import type { Provider, VideoStarted } from '../../providers/contract.ts'
import type { CallBounds, CallKind } from '../call-kind.ts'
import { createTextShield, type ShieldRequest } from '../shield/text-shield.ts'
import { readVideoRequest, type VideoRequest } from './video-request.ts'
import { videoBody, type StoreVideo } from './videos.ts'

const shieldVideoRequest: ShieldRequest<VideoRequest> = (request, options) => {
  const shield = createTextShield(options)
  const prompt = shield.read('prompt', request.prompt)
  return shield.outcome({ ...request, prompt })
}

export function createVideoKind(
  storeVideo: StoreVideo,
): CallKind<Buffer, VideoRequest, VideoStarted> {
  return {
    operation: 'video',
    shieldRequest: shieldVideoRequest,
    read: readVideoRequest,
    findFault: findModelFault,
    bound: boundVideo,
    can: (provider) => provider.videos !== undefined,
    call: (provider, { held: { holdId, model, request }, upstreamModel, signal }) => {
      const { seconds, size } = askedOf(model, request)
      const { prompt } = request
      return (provider.videos as NonNullable<Provider['videos']>).start(
        { model: upstreamModel, prompt, seconds, size, callId: holdId },
        signal,
      )
    },
    async relay(held, { outcome }, answeredBy, client) {
      const { holdId, key, model, request, limits } = held
      const { upstreamId, price } = answeredBy()
      const { seconds, size, unit } = askedOf(model, request)
      const asked = { id: holdId, modelId: model.id, seconds, size }
      let createdAt: Date | undefined
      return {
        kind: 'deferred',
        async handOver() {
          createdAt = await storeVideo({
            ...asked,
            customerId: key.customerId,
            keyId: key.id,
            upstreamId: upstreamId as string,
            upstreamJob: outcome.job,
            priceId: price.id,
            unit: unit as string,
          })
          return createdAt !== undefined
        },
        send() {
          const video = { ...asked, ...WAITING, createdAt: createdAt as Date }
          client.answer(JSON.stringify(videoBody(video)), limits)
        },
      }
    },
  }
}

const WAITING = {
  status: 'queued',
  progress: 0,
  errorCode: null,
  completedAt: null,
  billedNanoBrl: null,
} as const

function askedOf({ video, price }: Model, request: VideoRequest) {
  const { seconds = video?.seconds[0] ?? 0, size = video?.sizes[0] ?? '' } = request
  return { seconds, size, unit: videoUnit(price, size) }
}

function findModelFault(model: Model, request: VideoRequest): string | undefined {
  const { id, category, video } = model
  if (category !== 'video' || !video)
    return `O modelo "${id}" não faz vídeos; use o endpoint da categoria dele.`
  const { seconds, size, unit } = askedOf(model, request)
  if (!video.seconds.includes(seconds))
    return `O modelo "${id}" faz vídeos de ${video.seconds.join(', ')} segundos.`
  if (!video.sizes.includes(size))
    return `O modelo "${id}" tem os tamanhos ${video.sizes.join(', ')}.`
  return unit === undefined ? `O modelo "${id}" não tem preço para este tamanho.` : undefined
}

/** What is asked for is what is billed: its seconds, at the price of its size. */
function boundVideo(model: Model, request: VideoRequest): CallBounds {
  const { seconds, unit } = askedOf(model, request)
  return {
    promptTokensMax: 0,
    promptTokensEstimated: 0,
    outputTokensMax: 0,
    choices: 1,
    unitsMax: { [unit as string]: seconds },
    tokensCounted: 0,
    canLowerOutput: false,
  }
}
