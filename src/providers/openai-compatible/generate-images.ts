import { guardedFetch, GuardedFetchError, isPrivateHost } from '../../lib/guarded-fetch.ts'
import { isObject } from '../../lib/is-object.ts'
import type {
  GeneratedImage,
  ImageAnswer,
  ImageCall,
  JsonObject,
  Provider,
  ReportedUsage,
} from '../contract.ts'
import { plainTokens } from '../plain-tokens.ts'
import { post } from './post.ts'
import { BadAnswer } from './read-answer.ts'
import { readCount } from './read-count.ts'
import type { Upstream } from './upstream.ts'

/** Ten large images in base64. */
const ANSWER_BYTES_MAX = 192 * 1024 * 1024
const IMAGE_BYTES_MAX = 50 * 1024 * 1024
const DOWNLOAD_TIMEOUT_MS = 60_000

/** An image of an answer: its bytes, or the address where they are for some minutes. */
interface ListedImage {
  readonly base64: string | undefined
  readonly url: string | undefined
  readonly revisedPrompt: string | undefined
}

export function createGenerateImages(upstream: Upstream): NonNullable<Provider['generateImages']> {
  const path = upstream.path('/images/generations')
  return async function generateImages(call, signal) {
    const request = {
      path,
      callId: call.callId,
      body: JSON.stringify(requestBody(call)),
      answerBytesMax: ANSWER_BYTES_MAX,
    }
    return post(upstream, request, signal, (answer) => readAnswer(answer, call, upstream, signal))
  }
}

/** Asks for bytes and one whole answer, whatever the customer asked for. */
function requestBody(call: ImageCall): JsonObject {
  const { response_format: _format, stream: _stream, ...body } = call.body
  return takesResponseFormat(body.model) ? { ...body, response_format: 'b64_json' } : body
}

/** OpenAI's gpt-image models refuse the parameter, and always answer with bytes. */
function takesResponseFormat(model: unknown): boolean {
  // Upstreams that offer the models of others put the maker's name before a slash.
  return !/^(?:.*\/)?(?:chat)?gpt-image/.test(String(model))
}

async function readAnswer(
  answer: JsonObject,
  call: ImageCall,
  upstream: Upstream,
  signal: AbortSignal,
): Promise<ImageAnswer> {
  if (!Array.isArray(answer.data)) throw new BadAnswer('the answer has no data')
  // Upstreams drop the images that their filters do not let pass, some of them to empty entries.
  const listed = answer.data
    .map(readListedImage)
    .filter(({ base64, url }) => base64 !== undefined || url !== undefined)
    .slice(0, call.count)
  if (listed.length === 0) throw new BadAnswer('the answer has no images')
  const allowPrivate =
    listed.some(({ base64 }) => base64 === undefined) && (await isPrivateHost(upstream.hostname))
  return {
    kind: 'images',
    images: await Promise.all(listed.map((image) => withBytes(image, allowPrivate, signal))),
    usage: readImageUsage(answer.usage),
  }
}

function readListedImage(entry: unknown): ListedImage {
  const { b64_json, url, revised_prompt } = isObject(entry) ? entry : {}
  return {
    base64: filledText(b64_json),
    url: filledText(url),
    revisedPrompt: filledText(revised_prompt),
  }
}

/**
 * Undefined where the usage is missing or cannot be true. Output tokens without details are those of images: the
 * first models that report usage give no details.
 */
function readImageUsage(usage: unknown): ReportedUsage | undefined {
  if (!isObject(usage)) return undefined
  const promptTokens = readCount(usage.input_tokens)
  const completionTokens = readCount(usage.output_tokens)
  if (promptTokens === undefined || completionTokens === undefined) return undefined

  const inputDetails = isObject(usage.input_tokens_details) ? usage.input_tokens_details : {}
  const outputDetails = isObject(usage.output_tokens_details) ? usage.output_tokens_details : {}
  const imageInput = readCount(inputDetails.image_tokens) ?? 0
  const imageOutput =
    readCount(outputDetails.image_tokens) ??
    completionTokens - Math.min(readCount(outputDetails.text_tokens) ?? 0, completionTokens)
  return {
    ...plainTokens(promptTokens, completionTokens),
    imageInputTokens: Math.min(imageInput, promptTokens),
    imageOutputTokens: Math.min(imageOutput, completionTokens),
  }
}

async function withBytes(
  { base64, url, revisedPrompt }: ListedImage,
  allowPrivate: boolean,
  signal: AbortSignal,
): Promise<GeneratedImage> {
  return {
    base64: base64 === undefined ? await download(url as string, allowPrivate, signal) : base64,
    ...(revisedPrompt === undefined ? {} : { revisedPrompt }),
  }
}

/** An upstream on a private network keeps its images there; any other has no business in ours. */
async function download(url: string, allowPrivate: boolean, signal: AbortSignal): Promise<string> {
  try {
    const { status, mediaType, body } = await guardedFetch(url, {
      bytesMax: IMAGE_BYTES_MAX,
      timeoutMs: DOWNLOAD_TIMEOUT_MS,
      signal,
      allowPrivate,
    })
    // A page that says what went wrong comes with a status of success at times.
    if (status === 200 && body.length > 0 && !mediaType.startsWith('text/')) {
      return body.toString('base64')
    }
    throw new BadAnswer(
      `an image could not be fetched: ${status}, ${body.length} bytes of ${mediaType}`,
    )
  } catch (error) {
    if (!(error instanceof GuardedFetchError)) throw error
    throw new BadAnswer(`an image could not be fetched: ${error.reason}, ${error.message}`)
  }
}

function filledText(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}
