/** Google's Veo: a long-running operation, whose answer has the address of the file. */
import { isObject } from '../../../platform/lib/is-object.ts'
import type {
  JsonObject,
  UpstreamFailure,
  VideoContent,
  VideoJobs,
  VideoStarted,
  VideoState,
} from '../contract.ts'
import { BadAnswer, readCallError, readObject } from '../openai-compatible/read-answer.ts'
import { contentOf } from '../openai-compatible/videos.ts'
import { readRefusal } from '../read-failure.ts'
import { callHeaders, GOOGLE_ADDRESS, type AiSdkOptions } from './ai-sdk-options.ts'
import type { Fetch } from './open-fetch.ts'

const ANSWER_BYTES_MAX = 1024 * 1024
/** What an upstream calls an operation becomes part of a path. */
const OPERATION = /^models\/[\w.-]{1,100}\/operations\/[\w-]{1,200}$/
const REDIRECTS_MAX = 3
interface Answered {
  readonly kind: 'answer'
  readonly body: JsonObject
}

/** By the shorter side of the picture. */
const RESOLUTIONS: Readonly<Record<number, string>> = { 720: '720p', 1080: '1080p', 2160: '4k' }

export function createGoogleVideos(options: AiSdkOptions, fetch: Fetch): VideoJobs {
  const base = (options.baseUrl ?? GOOGLE_ADDRESS).replace(/\/$/, '')
  const headers = {
    'content-type': 'application/json',
    'user-agent': 'catraca',
    'x-goog-api-key': options.apiKey ?? '',
    ...options.headers,
  }

  async function send(
    path: string,
    init: { method: string; body?: string; headers?: Record<string, string> },
    signal: AbortSignal,
  ): Promise<Answered | UpstreamFailure> {
    try {
      const response = await fetch(`${base}/${path}`, {
        ...init,
        headers: { ...headers, ...init.headers },
        signal,
      })
      const text = await textOf(response)
      return response.ok
        ? { kind: 'answer', body: readObject(text) }
        : readRefusal(response.status, Object.fromEntries(response.headers), text)
    } catch (error) {
      return failureOf(error, signal)
    }
  }

  return {
    async start({ model, prompt, seconds, size, callId }, signal) {
      const shape = shapeOf(size)
      if (!shape)
        return { kind: 'failure', reason: 'unsupported', detail: 'no videos of this shape' }
      const answer = await send(
        `models/${encodeURIComponent(model)}:predictLongRunning`,
        {
          method: 'POST',
          headers: callHeaders(callId),
          body: JSON.stringify({
            instances: [{ prompt }],
            parameters: { ...shape, durationSeconds: seconds, sampleCount: 1 },
          }),
        },
        signal,
      )
      return answer.kind === 'failure' ? answer : readStarted(answer.body)
    },
    async state(job, signal) {
      const answer = await send(job, { method: 'GET' }, signal)
      return answer.kind === 'failure' ? answer : readState(answer.body)
    },
    async open(job, signal) {
      const answer = await send(job, { method: 'GET' }, signal)
      if (answer.kind === 'failure') return answer
      return download(addressOf(answer.body), new URL(base), headers, fetch, signal)
    },
  }
}

/** The address is the upstream's word: only one of its own host gets the key. */
async function download(
  address: string | undefined,
  base: URL,
  headers: Record<string, string>,
  fetch: Fetch,
  signal: AbortSignal,
): Promise<VideoContent | UpstreamFailure> {
  let url = address === undefined ? null : URL.parse(address)
  try {
    for (let tries = 0; url?.origin === base.origin && tries <= REDIRECTS_MAX; tries += 1) {
      const response: Response = await fetch(url.href, { headers, signal })
      const { status, body } = response
      if (status === 200 && body)
        return contentOf(body, Number(response.headers.get('content-length') ?? NaN))
      await body?.cancel()
      const location = response.headers.get('location')
      if (location === null || status >= 400)
        return { kind: 'failure', reason: 'bad_answer', status, detail: `${status} for a video` }
      url = URL.parse(location, url.href)
    }
  } catch (error) {
    return failureOf(error, signal)
  }
  return { kind: 'failure', reason: 'bad_answer', detail: 'the video has no address at its host' }
}

/** Undefined if Veo has no videos of this shape. */
function shapeOf(size: string): { aspectRatio: string; resolution: string } | undefined {
  const [width = 0, height = 0] = size.split('x').map(Number)
  const resolution = RESOLUTIONS[Math.min(width, height)]
  const isExact = Math.max(width, height) * 9 === Math.min(width, height) * 16
  return resolution !== undefined && isExact
    ? { aspectRatio: width > height ? '16:9' : '9:16', resolution }
    : undefined
}

function readStarted({ name }: JsonObject): VideoStarted | UpstreamFailure {
  return typeof name === 'string' && OPERATION.test(name)
    ? { kind: 'video_started', job: name }
    : { kind: 'failure', reason: 'bad_answer', detail: 'the video has no name' }
}

/** It reports no seconds: it bills those that were asked for. */
function readState(operation: JsonObject): VideoState {
  const kind = 'video_state'
  if (operation.done !== true) return { kind, status: 'running' }
  if (addressOf(operation) !== undefined) return { kind, status: 'completed' }
  const { raiMediaFilteredCount: filtered } = answerOf(operation)
  return { kind, status: 'failed', isRefused: typeof filtered === 'number' && filtered > 0 }
}

function answerOf({ response }: JsonObject): JsonObject {
  const answer = isObject(response) ? response.generateVideoResponse : undefined
  return isObject(answer) ? answer : {}
}

function addressOf(operation: JsonObject): string | undefined {
  const { generatedSamples: samples } = answerOf(operation)
  const [first] = Array.isArray(samples) ? (samples as unknown[]) : []
  const video = isObject(first) ? first.video : undefined
  return isObject(video) && typeof video.uri === 'string' ? video.uri : undefined
}

async function textOf({ body }: Response): Promise<string> {
  const parts: Uint8Array[] = []
  let bytes = 0
  for await (const part of body ?? []) {
    bytes += part.length
    if (bytes > ANSWER_BYTES_MAX) throw new BadAnswer('the answer is too long')
    parts.push(part)
  }
  return Buffer.concat(parts).toString('utf8')
}

/** `fetch` wraps the error of the network. */
function failureOf(error: unknown, signal: AbortSignal): UpstreamFailure {
  if (signal.aborted) return { kind: 'failure', reason: 'aborted', detail: 'the call was aborted' }
  return readCallError((error as { cause?: unknown }).cause ?? error)
}
