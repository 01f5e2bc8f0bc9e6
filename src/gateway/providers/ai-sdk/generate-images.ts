/**
 * Images by Gemini, which returns one image per request, and refuses by an answer without an image. Image tokens have a
 * separate price, but the packages' image models report only totals, so the language model is used.
 */
import type { LanguageModelV4, LanguageModelV4GenerateResult } from '@ai-sdk/provider'
import type { GeneratedImage, ImageCall, Provider, UpstreamFailure } from '../contract.ts'
import { withErrorWords } from '../error-words.ts'
import { callHeaders } from './call-headers.ts'
import { sumImageUsage, toImageUsage, type ImageUsage } from './image-usage.ts'
import { toFailure } from './to-failure.ts'
import { toImageConfig, type ImageConfig } from './to-image-config.ts'

/** The result of one request. An answer without an image may be billed as well. */
interface Answered {
  readonly kind: 'answered'
  readonly images: readonly GeneratedImage[]
  readonly usage: ImageUsage | undefined
  /** Why there is no image. */
  readonly failure: UpstreamFailure | undefined
}

/** Returns the images of the requests that succeeded; fails if none has an image, or one does not fit into the memory. */
export function createGenerateImages(
  open: (modelId: string) => LanguageModelV4,
): NonNullable<Provider['generateImages']> {
  return async function generateImages(call, signal) {
    let requests: Promise<Answered | UpstreamFailure>[]
    try {
      const model = open(String(call.body.model))
      const imageConfig = toImageConfig(call.size)
      requests = Array.from({ length: call.count }, () => draw(model, call, imageConfig, signal))
    } catch (error) {
      return toFailure(error, signal)
    }
    const outcomes = await Promise.all(requests)
    const withoutRoom = outcomes
      .filter((outcome) => outcome.kind === 'failure')
      .find(({ reason }) => reason === 'no_room')
    if (withoutRoom) return withoutRoom
    const answered = outcomes.filter((outcome) => outcome.kind === 'answered')
    const images = answered.flatMap((answer) => answer.images)
    const [failure] = outcomes.flatMap((one) =>
      one.kind === 'failure' ? one : (one.failure ?? []),
    )
    if (images.length === 0 && failure) return failure
    // A refusal without usage was not billed.
    const billed = answered.filter((answer) => answer.images.length > 0 || answer.usage)
    return {
      kind: 'images',
      images: images.slice(0, call.count),
      usage: sumImageUsage(billed.map(({ usage }) => usage)),
    }
  }
}

async function draw(
  model: LanguageModelV4,
  { prompt, callId, outputTokensMax }: ImageCall,
  imageConfig: ImageConfig,
  signal: AbortSignal,
): Promise<Answered | UpstreamFailure> {
  try {
    const result = await model.doGenerate({
      prompt: [{ role: 'user', content: [{ type: 'text', text: prompt }] }],
      providerOptions: { google: { responseModalities: ['IMAGE'], ...imageConfig } },
      ...(outputTokensMax === undefined ? {} : { maxOutputTokens: outputTokensMax }),
      headers: callHeaders(callId),
      abortSignal: signal,
    })
    const images = result.content.flatMap(readImage)
    return {
      kind: 'answered',
      images,
      usage: toImageUsage(result.usage, images.length > 0),
      failure: images.length > 0 ? undefined : explainNoImage(result.finishReason),
    }
  } catch (error) {
    return toFailure(error, signal)
  }
}

function readImage(part: LanguageModelV4GenerateResult['content'][number]): GeneratedImage[] {
  // Intermediate sketches are files of the reasoning, and are left out.
  if (part.type !== 'file' || part.data.type !== 'data') return []
  if (!part.mediaType.startsWith('image/')) return []
  const { data } = part.data
  return [{ base64: typeof data === 'string' ? data : Buffer.from(data).toString('base64') }]
}

/** Finish reasons that refuse the prompt, although the package does not map them to its content filter. */
const REFUSALS: ReadonlySet<string> = new Set([
  'IMAGE_PROHIBITED_CONTENT',
  'IMAGE_RECITATION',
  'NO_IMAGE',
  'STOP',
])

function explainNoImage({
  unified,
  raw,
}: LanguageModelV4GenerateResult['finishReason']): UpstreamFailure {
  const isRefusal = unified === 'content-filter' || REFUSALS.has(raw ?? '')
  return {
    kind: 'failure',
    reason: isRefusal ? 'refused_request' : 'bad_answer',
    detail: withErrorWords('the model gave no image', raw ?? ''),
  }
}
