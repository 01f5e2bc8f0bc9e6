import { beyond } from '../../../platform/admission/share.ts'
import {
  StreamBroken,
  UNCOUNTED_BYTES,
  type ChatStream,
  type Provider,
  type TranscriptionCall,
  type UploadedFile,
} from '../contract.ts'
import { createMultipartForm, type MultipartForm } from './multipart.ts'
import { postFor } from './post.ts'
import { isEventStream, oneHeader, readObject, readReportedError } from './read-answer.ts'
import { readTranscriptStream } from './read-transcript-stream.ts'
import { readTranscription } from './read-transcription.ts'
import type { Upstream } from './upstream.ts'

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
    const takeBytes = call.takeBytes && beyond(UNCOUNTED_BYTES, call.takeBytes)
    const request = {
      path,
      callId: call.callId,
      body: upload.body,
      headers: { 'content-type': form.contentType, 'content-length': String(upload.bytes) },
      onRefused: () => upload.hold(),
    }
    let isOpen = false
    try {
      const outcome = await postFor(upstream, request, signal, async ({ headers, body }) => {
        if (call.stream && isEventStream(oneHeader(headers['content-type'])))
          return readTranscriptStream(body, { ...call.stream, takeBytes })
        const answer = readObject(await body.text(ANSWER_BYTES_MAX, takeBytes))
        return readReportedError(answer) ?? readTranscription(answer)
      })
      const fault = upload.fault()
      if (outcome.kind === 'failure' && fault) throw fault
      if (outcome.kind !== 'stream') return outcome
      isOpen = true
      return closedAfter(outcome, upload)
    } finally {
      if (!isOpen) upload.close()
    }
  }
}

/** An upstream may speak before it has the whole file. */
function closedAfter(stream: ChatStream, upload: Upload): ChatStream {
  return {
    ...stream,
    async each(take) {
      try {
        return await stream.each(take)
      } catch (error) {
        throw error instanceof StreamBroken ? (upload.fault() ?? error) : error
      } finally {
        upload.close()
      }
    },
  }
}

function createForm(call: TranscriptionCall): MultipartForm {
  const format = responseFormatOf(call)
  const fields: (readonly [name: string, value: string])[] = [
    ['model', call.model],
    ['response_format', format],
    // No upstream streams the verbose format, and some refuse to.
    ...(call.stream && format === 'json' ? [['stream', 'true'] as const] : []),
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
