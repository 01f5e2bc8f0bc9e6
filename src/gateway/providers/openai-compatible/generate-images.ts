import {
  guardedFetch,
  GuardedFetchError,
  isPrivateHost,
} from '../../../platform/lib/guarded-fetch.ts'
import { isObject } from '../../../platform/lib/is-object.ts'
import type {
  GeneratedImage,
  ImageAnswer,
  ImageCall,
  JsonObject,
  Provider,
  ReportedUsage,
} from '../contract.ts'
import { NoRoomForAnswer } from '../read-failure.ts'
import { plainTokens } from '../plain-tokens.ts'
import { writeForm } from './multipart.ts'
import { post, type Post } from './post.ts'
import { BadAnswer } from './read-answer.ts'
import { readCount } from './read-usage.ts'
import type { Upstream } from './upstream.ts'

/** Ten large images in base64. */
const ANSWER_BYTES_MAX = 192 * 1024 * 1024
const IMAGE_BYTES_MAX = 50 * 1024 * 1024
const DOWNLOAD_TIMEOUT_MS = 60_000

/** An image of an answer: its bytes, or an address from which they can be fetched for some minutes. */
interface ListedImage {
  readonly base64: string | undefined
  readonly url: string | undefined
  readonly revisedPrompt: string | undefined
}

/** The same for both paths of images; a call with files is sent as a form. */
export function createGenerateImages(
  upstream: Upstream,
  at: '/images/generations' | '/images/edits' = '/images/generations',
): NonNullable<Provider['generateImages']> {
  const path = upstream.path(at)
  return async function generateImages(call, signal) {
    const request = {
      path,
      callId: call.callId,
      ...writeBody(call),
      answerBytesMax: ANSWER_BYTES_MAX,
      takeBytes: call.takeBytes,
    }
    return post(upstream, request, signal, (answer) => readAnswer(answer, call, upstream, signal))
  }
}

function writeBody(call: ImageCall): Pick<Post, 'body' | 'headers'> {
  const fields = requestBody(call)
  const { files = [] } = call
  if (files.length === 0) return { body: JSON.stringify(fields) }
  const given = Object.entries(fields).filter(([, value]) => value !== undefined && value !== null)
  const texts = given.map(([name, value]) => [name, String(value)] as const)
  const { contentType, bytes, body } = writeForm(texts, files)
  return { body, headers: { 'content-type': contentType, 'content-length': String(bytes) } }
}

/** Always requests bytes and a plain answer, independent of the customer's request. */
function requestBody(call: ImageCall): JsonObject {
  const { response_format: _format, stream: _stream, ...body } = call.body
  return takesResponseFormat(body.model) ? { ...body, response_format: 'b64_json' } : body
}

/** OpenAI's gpt-image models refuse `response_format` and always answer with bytes. */
function takesResponseFormat(model: unknown): boolean {
  // Aggregators prefix the vendor and a slash to the model's name.
  return !/^(?:.*\/)?(?:chat)?gpt-image/.test(String(model))
}

async function readAnswer(
  answer: JsonObject,
  call: ImageCall,
  upstream: Upstream,
  signal: AbortSignal,
): Promise<ImageAnswer> {
  if (!Array.isArray(answer.data)) throw new BadAnswer('the answer has no data')
  // Upstreams leave out images that their filters block, some of them by empty entries.
  const listed = answer.data
    .map(readListedImage)
    .filter(({ base64, url }) => base64 !== undefined || url !== undefined)
    .slice(0, call.count)
  if (listed.length === 0) throw new BadAnswer('the answer has no images')
  const allowPrivate =
    !upstream.isPublicOnly &&
    listed.some(({ base64 }) => base64 === undefined) &&
    (await isPrivateHost(upstream.hostname))
  const options = { allowPrivate, signal, takeBytes: call.takeBytes }
  const images = await Promise.all(listed.map((image) => withBytes(image, options)))
  return { kind: 'images', images, usage: readImageUsage(answer.usage) }
}

interface DownloadOptions {
  readonly allowPrivate: boolean
  readonly signal: AbortSignal
  readonly takeBytes: ImageCall['takeBytes']
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
 * The reported usage; undefined if it is missing or implausible. Output tokens without details are image tokens: the
 * first models with reported usage gave no details.
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
  options: DownloadOptions,
): Promise<GeneratedImage> {
  return {
    base64: base64 === undefined ? await download(url as string, options) : base64,
    ...(revisedPrompt === undefined ? {} : { revisedPrompt }),
  }
}

/** Base64, in which an image is kept, is longer than its bytes. */
const BASE64_FACTOR = 4 / 3

/** Only an upstream on a private network may point to addresses in private networks. */
async function download(
  url: string,
  { allowPrivate, signal, takeBytes }: DownloadOptions,
): Promise<string> {
  try {
    const { status, mediaType, body } = await guardedFetch(url, {
      bytesMax: IMAGE_BYTES_MAX,
      timeoutMs: DOWNLOAD_TIMEOUT_MS,
      signal,
      allowPrivate,
      takeBytes: takeBytes && ((bytes) => takeBytes(Math.ceil(bytes * BASE64_FACTOR))),
    })
    // Some hosts send error pages with status 200.
    if (status === 200 && body.length > 0 && !mediaType.startsWith('text/')) {
      return body.toString('base64')
    }
    throw new BadAnswer(
      `an image could not be fetched: ${status}, ${body.length} bytes of ${mediaType}`,
    )
  } catch (error) {
    if (!(error instanceof GuardedFetchError)) throw error
    if (error.reason === 'no_room') throw new NoRoomForAnswer()
    throw new BadAnswer(`an image could not be fetched: ${error.reason}, ${error.message}`)
  }
}

function filledText(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}
