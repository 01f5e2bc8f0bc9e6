import { beyond } from '../../../platform/admission/share.ts'
import {
  UNCOUNTED_BYTES,
  type Provider,
  type TranscriptionCall,
  type UploadedFile,
  type JsonObject,
  type ReportedUsage,
  type TranscriptionAnswer,
  type TranscriptionSegment,
  type TranscriptionWord,
} from '../contract.ts'
import { createMultipartForm, type MultipartForm } from './multipart.ts'
import { post } from './post.ts'
import type { Upstream } from './upstream.ts'
import { isObject } from '../../../platform/lib/is-object.ts'
import { BadAnswer } from './read-answer.ts'
import { plainTokens } from '../plain-tokens.ts'
import { readCount } from './read-usage.ts'

/** About eleven and a half days, more audio than any upload contains; a larger number is invalid. */
const SECONDS_MAX = 1_000_000

/** Reads an answer in the `json` or the `verbose_json` format. Throws `BadAnswer`. */
function readTranscription(answer: JsonObject): TranscriptionAnswer {
  const { text, language } = answer
  if (typeof text !== 'string') throw new BadAnswer('the answer has no text')
  const durationSeconds = readSeconds(answer.duration)
  const segments = readList(answer.segments, isSegment)
  const words = readList(answer.words, isWord)
  return {
    kind: 'transcription',
    text,
    ...(typeof language === 'string' ? { language } : {}),
    ...(durationSeconds === undefined ? {} : { durationSeconds }),
    ...(segments === undefined ? {} : { segments }),
    ...(words === undefined ? {} : { words }),
    usage: readUsage(answer.usage) ?? usageOfDuration(durationSeconds),
  }
}

/**
 * The billed tokens or seconds, by the field names of OpenAI or of Mistral, which reports both. Undefined if both are
 * missing or implausible.
 */
function readUsage(usage: unknown): ReportedUsage | undefined {
  if (!isObject(usage)) return undefined
  const audioSeconds = readSeconds(usage.seconds ?? usage.prompt_audio_seconds)
  const promptTokens = readCount(usage.input_tokens ?? usage.prompt_tokens)
  const completionTokens = readCount(usage.output_tokens ?? usage.completion_tokens)
  const hasTokens = promptTokens !== undefined && completionTokens !== undefined
  if (!hasTokens && audioSeconds === undefined) return undefined
  return {
    ...(hasTokens ? plainTokens(promptTokens, completionTokens) : plainTokens(0, 0)),
    ...(hasTokens ? audioInputOf(usage, promptTokens) : {}),
    ...(audioSeconds === undefined ? {} : { audioSeconds }),
  }
}

function audioInputOf(
  { input_token_details: details }: JsonObject,
  promptTokens: number,
): { audioInputTokens?: number } {
  const audioTokens = isObject(details) ? readCount(details.audio_tokens) : undefined
  return audioTokens === undefined ? {} : { audioInputTokens: Math.min(audioTokens, promptTokens) }
}

/** Upstreams that report no usage bill whole seconds. */
function usageOfDuration(seconds: number | undefined): ReportedUsage | undefined {
  return seconds === undefined
    ? undefined
    : { ...plainTokens(0, 0), audioSeconds: Math.ceil(seconds) }
}

/** Some upstreams send the number as a string. */
function readSeconds(value: unknown): number | undefined {
  const seconds = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
  return typeof seconds === 'number' && seconds >= 0 && seconds <= SECONDS_MAX ? seconds : undefined
}

/** The whole list, or undefined if one entry is malformed: subtitles with missing lines are worse than none. */
function readList<T>(value: unknown, isEntry: (entry: unknown) => entry is T): T[] | undefined {
  return Array.isArray(value) && value.every(isEntry) ? value : undefined
}

function isSegment(value: unknown): value is TranscriptionSegment {
  return isTimed(value) && typeof value.text === 'string'
}

function isWord(value: unknown): value is TranscriptionWord {
  return isTimed(value) && typeof value.word === 'string'
}

function isTimed(value: unknown): value is JsonObject {
  return isObject(value) && typeof value.start === 'number' && typeof value.end === 'number'
}

/** Enough for a day of speech with word timestamps. */
const ANSWER_BYTES_MAX = 64 * 1024 * 1024
/** Fields that the gateway sets; the customer's values are ignored. */
const OWN_FIELDS = new Set(['file', 'model', 'response_format', 'stream'])

/**
 * Returns the method for transcriptions, or for translations, which rejects only if the customer's file cannot be read, or does not have the
 * declared size.
 */
export function createTranscribe(
  upstream: Upstream,
  at: '/audio/transcriptions' | '/audio/translations' = '/audio/transcriptions',
): NonNullable<Provider['transcribe']> {
  const path = upstream.path(at)
  return async function transcribe(call, signal) {
    const form = createForm(call)
    const upload = createUpload(form, call.file)
    const request = {
      path,
      callId: call.callId,
      body: upload.body,
      headers: { 'content-type': form.contentType, 'content-length': String(upload.bytes) },
      answerBytesMax: ANSWER_BYTES_MAX,
      takeBytes: call.takeBytes && beyond(UNCOUNTED_BYTES, call.takeBytes),
      onRefused: () => upload.hold(),
    }
    try {
      const outcome = await post(upstream, request, signal, readTranscription)
      const fault = upload.fault()
      if (outcome.kind === 'failure' && fault) throw fault
      return outcome
    } finally {
      upload.close()
    }
  }
}

function createForm(call: TranscriptionCall): MultipartForm {
  const fields: (readonly [name: string, value: string])[] = [
    ['model', call.model],
    ['response_format', responseFormatOf(call)],
    ...call.fields.filter(([name]) => !OWN_FIELDS.has(name)),
  ]
  const { name, mediaType } = call.file
  return createMultipartForm(fields, { field: 'file', name, mediaType })
}

/**
 * Whisper is billed by the length of the audio, which some upstreams report only in the verbose format; without it a
 * call could not be charged. Models billed by tokens report them in both formats, and some refuse the verbose one, so
 * for these it is requested only if timestamps are needed.
 */
export function responseFormatOf({
  model,
  detail,
}: Pick<TranscriptionCall, 'model' | 'detail'>): 'verbose_json' | 'json' {
  return detail === 'segments' || /whisper/i.test(model) ? 'verbose_json' : 'json'
}

/** The body of a request with a file, read from the disk no faster than it is sent. */
interface Upload {
  readonly bytes: number
  readonly body: AsyncIterable<Buffer>
  /** Pauses the upload and leaves the connection open. */
  hold(): void
  /** Closes the file; must be called at the end of every call. */
  close(): void
  /** Why the file could not be read at its declared size; this is not a failure of the upstream. */
  fault(): Error | undefined
}

function createUpload(form: MultipartForm, file: UploadedFile): Upload {
  const closed = Promise.withResolvers<void>()
  let isHeld = false
  let isClosed = false
  let fault: Error | undefined
  let source: AsyncIterator<Buffer> | undefined

  async function* send(): AsyncGenerator<Buffer> {
    yield form.head
    source = file.read()[Symbol.asyncIterator]()
    let bytesLeft = file.bytes
    for (let part = await source.next(); !part.done; part = await source.next()) {
      bytesLeft -= part.value.length
      if (bytesLeft < 0) break
      if (isHeld) await closed.promise
      if (isClosed) return
      yield part.value
    }
    if (bytesLeft !== 0) throw new Error(`the file does not have ${file.bytes} bytes`)
    yield form.tail
  }

  async function* sendAndRecordFault(): AsyncGenerator<Buffer> {
    try {
      yield* send()
    } catch (error) {
      fault = error as Error
      throw error
    }
  }

  return {
    bytes: form.head.length + file.bytes + form.tail.length,
    body: sendAndRecordFault(),
    hold() {
      isHeld = true
    },
    close() {
      isClosed = true
      closed.resolve()
      // Not awaited: a hanging disk must not delay the end of the call.
      void source?.return?.().catch(() => {})
    },
    fault: () => fault,
  }
}
