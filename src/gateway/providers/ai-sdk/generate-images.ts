/**
 * Images by Gemini, which returns one image per request, and refuses by an answer without an image. Image tokens have a
 * separate price, but the packages' image models report only totals, so the language model is used.
 */
import type {
  LanguageModelV4,
  LanguageModelV4GenerateResult,
  LanguageModelV4Usage,
  JSONObject,
} from '@ai-sdk/provider'
import type {
  GeneratedImage,
  ImageCall,
  Provider,
  UpstreamFailure,
  ReportedTokens,
} from '../contract.ts'
import { withErrorWords } from '../error-words.ts'
import { callHeaders } from './ai-sdk-options.ts'
import { toFailure, RefusedRequest } from './to-failure.ts'
import { isObject } from '../../../platform/lib/is-object.ts'
import { readCount } from '../openai-compatible/read-usage.ts'
import { toReportedUsage } from './to-reported-usage.ts'

/** Options to spread into those of Google's packages; empty if the model chooses. */
interface ImageConfig {
  readonly imageConfig?: JSONObject
}

const RATIOS = ['1:1', '2:3', '3:2', '3:4', '4:3', '4:5', '5:4', '9:16', '16:9', '21:9'] as const
/** The greatest factor by which the image's aspect ratio may differ from the requested one. */
const RATIO_DEVIATION_MAX = 1.05
const ORDINARY_SIDE_PIXELS = 1024

/**
 * Gemini supports fixed aspect ratios and some sizes instead of pixels. Selects the nearest of both; throws a
 * `RefusedRequest` if no aspect ratio is close enough.
 */
function toImageConfig(size: string | undefined): ImageConfig {
  if (size === undefined) return {}
  const [width = 0, height = 0] = size.split('x').map(Number)
  const [nearest] = RATIOS.map((name) => ({
    name,
    deviation: deviationOf(name, width / height),
  })).toSorted((a, b) => a.deviation - b.deviation)
  if (!nearest || !(nearest.deviation <= Math.log(RATIO_DEVIATION_MAX))) {
    throw new RefusedRequest('this upstream has no images of this shape')
  }
  const imageSize = toImageSize(Math.sqrt(width * height))
  return {
    imageConfig: { aspectRatio: nearest.name, ...(imageSize === undefined ? {} : { imageSize }) },
  }
}

function deviationOf(name: string, ratio: number): number {
  const [width = 1, height = 1] = name.split(':').map(Number)
  return Math.abs(Math.log(ratio / (width / height)))
}

/** Undefined for the default size: the first of these models have no other, and refuse the option. */
function toImageSize(sidePixels: number): string | undefined {
  const doublings = Math.round(Math.log2(sidePixels / ORDINARY_SIDE_PIXELS))
  if (doublings === 0) return undefined
  if (doublings < 0) return '512'
  return doublings === 1 ? '2K' : '4K'
}

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

interface ImageUsage extends ReportedTokens {
  readonly imageOutputTokens: number
}

/** The usage of one answer. Without details from Gemini, all output except reasoning counts as image tokens. */
function toImageUsage(usage: LanguageModelV4Usage, hasOutput: boolean): ImageUsage | undefined {
  const tokens = toReportedUsage(usage, hasOutput)
  if (!tokens) return undefined
  const details = isObject(usage.raw) ? usage.raw.candidatesTokensDetails : undefined
  const images = Array.isArray(details)
    ? details.reduce((sum: number, detail: unknown) => sum + imageTokens(detail), 0)
    : tokens.completionTokens - tokens.reasoningTokens
  return { ...tokens, imageOutputTokens: Math.min(images, tokens.completionTokens) }
}

function imageTokens(detail: unknown): number {
  if (!isObject(detail) || detail.modality !== 'IMAGE') return 0
  return readCount(detail.tokenCount) ?? 0
}

/** The sum of the usages; undefined if one of them is unknown. */
function sumImageUsage(usages: readonly (ImageUsage | undefined)[]): ImageUsage | undefined {
  const sum = {
    promptTokens: 0,
    cachedTokens: 0,
    cacheWriteTokens: 0,
    completionTokens: 0,
    reasoningTokens: 0,
    imageOutputTokens: 0,
  }
  for (const usage of usages) {
    if (!usage) return undefined
    for (const kind of Object.keys(sum) as (keyof typeof sum)[]) sum[kind] += usage[kind]
  }
  return sum
}
