/** `/videos`, as OpenAI has it and others sell it. */
import { isObject } from '../../../platform/lib/is-object.ts'
import type {
  JsonObject,
  UpstreamFailure,
  VideoContent,
  VideoJobs,
  VideoStarted,
  VideoState,
} from '../contract.ts'
import { findRequestFault } from '../read-failure.ts'
import { exchange } from './exchange.ts'
import { writeFields } from './multipart.ts'
import { post } from './post.ts'
import { BadAnswer, oneHeader, readCallError, readObject, readRefused } from './read-answer.ts'
import type { Upstream } from './upstream.ts'

const ANSWER_BYTES_MAX = 1024 * 1024
/** A minute of 4K; a longer file is cut. */
export const VIDEO_BYTES_MAX = 512 * 1024 * 1024
/** What an upstream calls a job becomes part of a path. */
const JOB = /^[\w.~-]{1,200}$/

export function createVideos(upstream: Upstream): VideoJobs {
  const pathOf = (job: string): string => upstream.path(`/videos/${job}`)
  return {
    start({ model, prompt, seconds, size, callId }, signal) {
      const { contentType, body } = writeFields([
        ['model', model],
        ['prompt', prompt],
        ['seconds', String(seconds)],
        ['size', size],
      ])
      const request = {
        path: upstream.path('/videos'),
        callId,
        body,
        headers: { 'content-type': contentType },
        answerBytesMax: ANSWER_BYTES_MAX,
      }
      return post(upstream, request, signal, readStarted)
    },
    async state(job, signal) {
      try {
        const request = { path: pathOf(job), method: 'GET', headers: upstream.headers, body: '' }
        const answered = await exchange(upstream.origin, request, upstream.silence, signal)
        if (answered.status !== 200) return await readRefused(answered, signal)
        return readState(readObject(await answered.body.text(ANSWER_BYTES_MAX)))
      } catch (error) {
        return readCallError(error)
      }
    },
    async open(job, signal) {
      return openContent(upstream, upstream.path(`/videos/${job}/content`), signal)
    },
    async remove(job, signal) {
      const request = { path: pathOf(job), method: 'DELETE', headers: upstream.headers, body: '' }
      const { body } = await exchange(upstream.origin, request, upstream.silence, signal)
      body.discard()
    },
  }
}

/** An upstream that refuses at once may answer 200 with the failure. */
function readStarted(answer: JsonObject): VideoStarted | UpstreamFailure {
  if (answer.status === 'failed')
    return { kind: 'failure', reason: 'refused_request', detail: 'the video failed at once' }
  const job = answer.id
  if (typeof job !== 'string' || !JOB.test(job)) throw new BadAnswer('the video has no id')
  return { kind: 'video_started', job }
}

function readState({ status, progress, seconds, error }: JsonObject): VideoState {
  const base = {
    kind: 'video_state' as const,
    ...(typeof progress === 'number' && progress >= 0 && progress <= 100
      ? { progress: Math.floor(progress) }
      : {}),
  }
  switch (status) {
    case 'completed':
      return { ...base, status, ...secondsOf(seconds) }
    case 'failed':
    case 'cancelled':
      return {
        ...base,
        status: 'failed',
        isRefused: isObject(error) && findRequestFault(JSON.stringify(error)) === 'content_refused',
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
async function openContent(
  { uploads, headers, silence }: Upstream,
  path: string,
  signal: AbortSignal,
): Promise<VideoContent | UpstreamFailure> {
  try {
    const answered = await uploads.request({
      path,
      method: 'GET',
      headers: { ...headers, accept: '*/*', 'accept-encoding': 'identity' },
      signal,
      bodyTimeout: silence.idleMs,
    })
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
