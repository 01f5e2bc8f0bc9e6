import type { IncomingMessage, ServerResponse } from 'node:http'
import { isObject } from '../../platform/lib/is-object.ts'
import { BadRequest, missing, parseJsonBody, readModelName, type JsonObject } from './read-field.ts'
import { createRefuser, refuse, PROVIDER_HEADERS } from './create-refuser.ts'
import { deliverBody } from './deliver-stream.ts'
import type { Exchange } from './open-exchange.ts'
import { readUpload } from './read-upload.ts'
import { findSandboxModel } from './sandbox-models.ts'

const WORK_MS = 2_000
const BYTES_PER_SECOND = 64 * 1024
const DEFAULT = { seconds: 4, size: '720x1280' }

/** A job is its own name, so that any of these servers knows it, also after a restart. */
interface Job {
  readonly startedMs: number
  readonly seconds: number
  readonly size: string
  readonly model: string
}

export interface SandboxVideos {
  /** `POST /v1/videos`, as a form or as JSON, with `seconds` or `duration`. Throws `BadRequest`. */
  start(exchange: Exchange, request: IncomingMessage, readText: ReadText): Promise<void>
  /** Google's `POST /v1beta/models/<model>:predictLongRunning`. Throws `BadRequest`. */
  predict(exchange: Exchange, model: string, text: string): Promise<void>
  /** xAI's `POST /v1/videos/generations`. Throws `BadRequest`. */
  generate(exchange: Exchange, text: string): Promise<void>
  /** xAI's file, whose address alone gives access to it. */
  answerFile(path: string, response: ServerResponse): boolean
  /** Answers every other request for a video; false for one that asks for something else. */
  answer(method: string, path: string, origin: string, response: ServerResponse): boolean
}

type ReadText = () => Promise<string | undefined>

/** The videos of OpenAI, OpenRouter, xAI and Google: done after two seconds, as a file that is no film. */
export function createSandboxVideos(): SandboxVideos {
  const refuser = createRefuser()

  async function accept(
    exchange: Exchange,
    asked: Omit<Job, 'startedMs'>,
    bodyOf: (name: string, job: Job) => object,
  ): Promise<void> {
    const model = findSandboxModel(asked.model)
    if (model.delivery === 'hang') return
    if (refuser.isRefused(model)) return refuse(exchange, model)
    const job = { ...asked, startedMs: Date.now() }
    const body = JSON.stringify(bodyOf(nameOf(job), job))
    const { pace, delivery } = model
    return deliverBody({ exchange, headers: PROVIDER_HEADERS, pace, delivery, body, tokens: 0 })
  }

  return {
    async start(exchange, request, readText) {
      const isForm = request.headers['content-type']?.startsWith('multipart/') === true
      const fields = isForm ? await readFields(request) : parseJsonBody((await readText()) ?? '')
      if (!fields) return
      if (typeof fields.prompt !== 'string' || fields.prompt === '') throw missing('prompt')
      const asked = {
        model: readModelName(fields.model),
        seconds: readSeconds(fields.seconds ?? fields.duration ?? DEFAULT.seconds),
        size: typeof fields.size === 'string' ? fields.size : DEFAULT.size,
      }
      return accept(exchange, asked, describe)
    },
    async generate(exchange, text) {
      const { model, prompt, duration = 8, resolution = '480p' } = parseJsonBody(text)
      if (typeof prompt !== 'string' || prompt === '') throw missing('prompt')
      const seconds = readSeconds(duration)
      const asked = { model: readModelName(model), seconds, size: String(resolution) }
      return accept(exchange, asked, (name) => ({ request_id: name }))
    },
    answerFile(path, response) {
      const job = readJob(/^\/xai-videos\/([\w-]+)\.mp4$/.exec(path)?.[1])
      if (!job || !isDone(job)) return false
      sendFile(response, job)
      return true
    },
    async predict(exchange, model, text) {
      const { parameters } = parseJsonBody(text)
      const { durationSeconds = 8, resolution = '720p' } = isObject(parameters) ? parameters : {}
      const asked = { model, seconds: readSeconds(durationSeconds), size: String(resolution) }
      return accept(exchange, asked, (name) => ({ name: `models/${model}/operations/${name}` }))
    },
    answer(method, path, origin, response) {
      const [, name, content] = /^\/v1\/videos\/video_([\w-]+)(\/content)?$/.exec(path) ?? []
      const [operation, ofGoogle] =
        /^\/v1beta\/(?:models\/[^/]+\/operations\/([\w-]+))$/.exec(path) ?? []
      const [, file] = /^\/v1beta\/files\/([\w-]+):download$/.exec(path) ?? []
      const [, ofXai] = /^\/v1\/videos\/([\w-]+)$/.exec(path) ?? []
      const job = readJob(name ?? ofGoogle ?? file ?? ofXai)
      if (!job) return false
      if (method === 'DELETE' && name) {
        sendJson(response, { id: `video_${name}`, object: 'video.deleted', deleted: true })
      } else if (method !== 'GET') return false
      else if ((content || file) && isDone(job)) sendFile(response, job)
      else if (content || file) return false
      else if (name) sendJson(response, describe(name, job))
      else if (ofXai) sendXai(response, job, `${origin}/xai-videos/${ofXai}.mp4`)
      else
        sendJson(response, {
          name: operation?.slice('/v1beta/'.length),
          done: isDone(job),
          ...(isDone(job) && {
            response: samplesAt(`${origin}/v1beta/files/${ofGoogle}:download?alt=media`),
          }),
        })
      return true
    },
  }
}

function samplesAt(uri: string): object {
  return { generateVideoResponse: { generatedSamples: [{ video: { uri } }] } }
}

function describe(name: string, job: Job): object {
  const { startedMs, seconds, size, model } = job
  const done = isDone(job)
  return {
    id: `video_${name}`,
    object: 'video',
    model,
    status: done ? 'completed' : 'in_progress',
    progress: done ? 100 : Math.floor(((Date.now() - startedMs) / WORK_MS) * 100),
    created_at: Math.floor(startedMs / 1_000),
    completed_at: done ? Math.floor((startedMs + WORK_MS) / 1_000) : null,
    expires_at: Math.floor(startedMs / 1_000) + 86_400,
    seconds: String(seconds),
    size,
    error: null,
    remixed_from_video_id: null,
  }
}

function sendXai(response: ServerResponse, job: Job, url: string): void {
  if (!isDone(job)) return sendJson(response, { status: 'pending', progress: 50 }, 202)
  const { seconds: duration, model } = job
  const video = { url, duration, respect_moderation: true }
  sendJson(response, { status: 'done', video, model, progress: 100 })
}

function isDone({ startedMs }: Job): boolean {
  return Date.now() - startedMs >= WORK_MS
}

function nameOf({ startedMs, seconds, size, model }: Job): string {
  return Buffer.from(JSON.stringify([startedMs, seconds, size, model])).toString('base64url')
}

function readJob(name: string | undefined): Job | undefined {
  if (name === undefined) return undefined
  try {
    const [startedMs, seconds, size, model] = JSON.parse(
      Buffer.from(name, 'base64url').toString(),
    ) as [number, number, string, string]
    return { startedMs, seconds, size, model }
  } catch {
    return undefined
  }
}

function readSeconds(value: unknown): number {
  const seconds = Number(value)
  if (Number.isInteger(seconds) && seconds > 0 && seconds <= 600) return seconds
  throw new BadRequest(`Invalid value: '${String(value)}'.`, 'seconds', 'invalid_value')
}

async function readFields(request: IncomingMessage): Promise<JsonObject | undefined> {
  const upload = await readUpload(request, () => true)
  return upload.kind === 'whole' ? Object.fromEntries(upload.fields) : undefined
}

function sendJson(response: ServerResponse, body: object, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}

/** The boxes of an MP4, without a track. */
function sendFile(response: ServerResponse, { seconds }: Job): void {
  const head = Buffer.from('\0\0\0\x18ftypmp42\0\0\0\0mp42isom', 'latin1')
  const data = Buffer.alloc(seconds * BYTES_PER_SECOND)
  data.writeUInt32BE(data.length)
  data.write('mdat', 4)
  const length = head.length + data.length
  response.writeHead(200, { 'content-type': 'video/mp4', 'content-length': length })
  response.end(Buffer.concat([head, data]))
}
