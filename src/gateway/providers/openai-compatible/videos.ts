/** Videos of the upstreams that speak OpenAI's format otherwise, in the formats in which they sell them. */
import type { Dispatcher } from 'undici'
import { isObject } from '../../../platform/lib/is-object.ts'
import { isPublicUrl } from '../../media-of-part.ts'
import type {
  JsonObject,
  UpstreamFailure,
  VideoCall,
  VideoContent,
  VideoJobs,
  VideoStarted,
  VideoState,
} from '../contract.ts'
import { findRequestFault } from '../read-failure.ts'
import { exchange } from './exchange.ts'
import { writeFields } from './multipart.ts'
import { post, type Post } from './post.ts'
import { BadAnswer, oneHeader, readCallError, readObject, readRefused } from './read-answer.ts'
import type { Upstream } from './upstream.ts'

const ANSWER_BYTES_MAX = 1024 * 1024
/** A minute of 4K; a longer file is cut. */
export const VIDEO_BYTES_MAX = 512 * 1024 * 1024
/** What an upstream calls a job becomes part of a path. */
const JOB = /^\w[\w.~-]{0,199}$/

/**
 * - `openai`: `/videos`, a form. OpenAI itself closed it on 24 September 2026; others go on to offer it.
 * - `openrouter`: `/videos`, with JSON.
 * - `xai`: `/videos/generations`; the file is at an address of another host.
 */
export type VideoFormat = 'openai' | 'openrouter' | 'xai'

interface Said {
  readonly kind: 'said'
  readonly body: JsonObject
}

interface Asking {
  readonly at: '/videos' | '/videos/generations'
  /** Undefined if there are no videos of this shape. */
  readonly write: (call: VideoCall) => Pick<Post, 'body' | 'headers'> | undefined
  /** The field of the answer with the name of the job. */
  readonly job: 'id' | 'request_id'
}

const ASKING: Readonly<Record<VideoFormat, Asking>> = {
  openai: {
    at: '/videos',
    write({ model, prompt, seconds, size }) {
      const { contentType, body } = writeFields([
        ['model', model],
        ['prompt', prompt],
        ['seconds', String(seconds)],
        ['size', size],
      ])
      return { body, headers: { 'content-type': contentType } }
    },
    job: 'id',
  },
  openrouter: {
    at: '/videos',
    write: ({ model, prompt, seconds, size }) => ({
      body: JSON.stringify({ model, prompt, duration: seconds, size }),
    }),
    job: 'id',
  },
  xai: {
    at: '/videos/generations',
    write({ model, prompt, seconds, size }) {
      const shape = shapeOf(size)
      return shape && { body: JSON.stringify({ model, prompt, duration: seconds, ...shape }) }
    },
    job: 'request_id',
  },
}

export function createVideos(upstream: Upstream, format: VideoFormat): VideoJobs {
  const { at, write, job: named } = ASKING[format]
  const pathOf = (job: string): string => upstream.path(`/videos/${job}`)

  /** What the upstream says of a job; of one that it has only accepted, it may say nothing. */
  async function ask(job: string, signal: AbortSignal): Promise<Said | UpstreamFailure> {
    try {
      const request = { path: pathOf(job), method: 'GET', headers: upstream.headers, body: '' }
      const answered = await exchange(upstream.origin, request, upstream.silence, signal)
      if (answered.status === 202) {
        answered.body.discard()
        return { kind: 'said', body: {} }
      }
      if (answered.status !== 200) return await readRefused(answered, signal)
      return { kind: 'said', body: readObject(await answered.body.text(ANSWER_BYTES_MAX)) }
    } catch (error) {
      return readCallError(error)
    }
  }

  return {
    async start(call, signal) {
      const written = write(call)
      if (!written)
        return { kind: 'failure', reason: 'unsupported', detail: 'no videos of this shape' }
      const request = {
        path: upstream.path(at),
        callId: call.callId,
        ...written,
        answerBytesMax: ANSWER_BYTES_MAX,
      }
      return post(upstream, request, signal, (answer) => readStarted(answer, named))
    },
    async state(job, signal) {
      const answer = await ask(job, signal)
      if (answer.kind === 'failure') return answer
      const state = readState(answer.body)
      // Nobody pays for a file that nobody can read.
      const isLost =
        format === 'xai' && state.status === 'completed' && !addressOf(upstream, answer.body.video)
      return isLost ? { ...state, status: 'failed' } : state
    },
    async open(job, signal) {
      if (format !== 'xai')
        return openContent(upstream, upstream.path(`/videos/${job}/content`), signal)
      const answer = await ask(job, signal)
      return answer.kind === 'failure'
        ? answer
        : openAddress(upstream, addressOf(upstream, answer.body.video), signal)
    },
    ...(format === 'openai' && {
      async remove(job, signal) {
        const request = { path: pathOf(job), method: 'DELETE', headers: upstream.headers, body: '' }
        const { body } = await exchange(upstream.origin, request, upstream.silence, signal)
        body.discard()
      },
    }),
  }
}

const RESOLUTIONS: Readonly<Record<number, string>> = { 480: '480p', 720: '720p', 1080: '1080p' }
const RATIOS = ['16:9', '4:3', '3:2', '1:1', '2:3', '3:4', '9:16']
/** 854x480 is called 16:9. */
const RATIO_TOLERANCE = 0.005

/** Returns the resolution, which is the shorter side, and the ratio of the sides; undefined for any other shape. */
function shapeOf(size: string): { aspect_ratio: string; resolution: string } | undefined {
  const [width = 0, height = 0] = size.split('x').map(Number)
  const resolution = RESOLUTIONS[Math.min(width, height)]
  const ratio = RATIOS.find((each) => {
    const [wide = 0, high = 0] = each.split(':').map(Number)
    return Math.abs((width * high) / (height * wide) - 1) < RATIO_TOLERANCE
  })
  return resolution !== undefined && ratio !== undefined
    ? { aspect_ratio: ratio, resolution }
    : undefined
}

/** An upstream that refuses at once may answer 200 with the failure. */
function readStarted(answer: JsonObject, named: Asking['job']): VideoStarted | UpstreamFailure {
  if (answer.status === 'failed')
    return { kind: 'failure', reason: 'refused_request', detail: 'the video failed at once' }
  const job = answer[named]
  if (typeof job !== 'string' || !JOB.test(job)) throw new BadAnswer('the video has no id')
  return { kind: 'video_started', job }
}

function readState({ status, progress, seconds, error, video }: JsonObject): VideoState {
  const base = {
    kind: 'video_state' as const,
    ...(typeof progress === 'number' && progress >= 0 && progress <= 100
      ? { progress: Math.floor(progress) }
      : {}),
  }
  const file = isObject(video) ? video : {}
  switch (status) {
    case 'completed':
    case 'done':
      return file.respect_moderation === false
        ? { ...base, status: 'failed', isRefused: true }
        : { ...base, status: 'completed', ...secondsOf(seconds ?? file.duration) }
    case 'failed':
    case 'cancelled':
    case 'expired':
      return {
        ...base,
        status: 'failed',
        isRefused: findRequestFault(JSON.stringify(error ?? null)) === 'content_refused',
      }
    default:
      return { ...base, status: 'running' }
  }
}

/** OpenAI writes the number as a text. */
function secondsOf(value: unknown): { seconds?: number } {
  const seconds = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
  return typeof seconds === 'number' && !Number.isNaN(seconds) ? { seconds } : {}
}

/** The connection is one of those that are read as they are, with what limits their silence. */
function openContent(
  { uploads, headers, silence }: Upstream,
  path: string,
  signal: AbortSignal,
): Promise<VideoContent | UpstreamFailure> {
  return download(() =>
    uploads.request({
      path,
      method: 'GET',
      headers: { ...headers, ...AS_IT_IS },
      signal,
      bodyTimeout: silence.idleMs,
    }),
  )
}

/** The address is the upstream's word: undefined unless it leads to the upstream's own host, or to a public one. */
function addressOf({ address }: Upstream, video: unknown): URL | undefined {
  const url = isObject(video) && typeof video.url === 'string' ? URL.parse(video.url) : null
  if (!url || url.username !== '' || url.password !== '') return undefined
  const isPublic = url.protocol === 'https:' && isPublicUrl(url.href)
  return url.origin === address || isPublic ? url : undefined
}

/** The address gets no key, and redirects are not followed. */
function openAddress(
  { address, uploads, elsewhere, silence }: Upstream,
  url: URL | undefined,
  signal: AbortSignal,
): Promise<VideoContent | UpstreamFailure> | UpstreamFailure {
  if (!url)
    return { kind: 'failure', reason: 'bad_answer', detail: 'the video has no public address' }
  const { origin, pathname, search } = url
  return download(() =>
    (origin === address ? uploads : elsewhere).request({
      origin,
      path: pathname + search,
      method: 'GET',
      headers: { 'user-agent': 'catraca', ...AS_IT_IS },
      signal,
      bodyTimeout: silence.idleMs,
    }),
  )
}

const AS_IT_IS = { accept: '*/*', 'accept-encoding': 'identity' }

async function download(
  request: () => Promise<Dispatcher.ResponseData>,
): Promise<VideoContent | UpstreamFailure> {
  try {
    const answered = await request()
    const { statusCode: status, body } = answered
    if (status !== 200) {
      body.destroy()
      return { kind: 'failure', reason: 'bad_answer', status, detail: `${status} for a video` }
    }
    const bytes = Number(oneHeader(answered.headers['content-length']) ?? NaN)
    return contentOf(body, Number.isSafeInteger(bytes) ? bytes : undefined)
  } catch (error) {
    return readCallError(error)
  }
}

/** Throws in the middle of a file that is too long, so that it does not look whole. */
export function contentOf(
  body: AsyncIterable<Uint8Array>,
  bytes: number | undefined,
): VideoContent {
  return {
    kind: 'video_content',
    bytes: bytes !== undefined && bytes <= VIDEO_BYTES_MAX ? bytes : undefined,
    async *read() {
      let read = 0
      for await (const chunk of body) {
        read += chunk.length
        if (read > VIDEO_BYTES_MAX) throw new BadAnswer('the video is too long')
        yield Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length)
      }
    },
  }
}
