import { beyond } from '../../../platform/admission/share.ts'
import { UNCOUNTED_BYTES, type Provider, type TranscriptionCall } from '../contract.ts'
import { createMultipartForm, type MultipartForm } from './multipart.ts'
import { post } from './post.ts'
import { readTranscription } from './read-transcription.ts'
import type { Upstream } from './upstream.ts'
import { createUpload } from './upload.ts'

/** Enough for a day of speech with word timestamps. */
const ANSWER_BYTES_MAX = 64 * 1024 * 1024
/** Fields that the gateway sets; the customer's values are ignored. */
const OWN_FIELDS = new Set(['file', 'model', 'response_format', 'stream'])

/** The method rejects only if the customer's file cannot be read, or does not have the declared size. */
export function createTranscribe(upstream: Upstream): NonNullable<Provider['transcribe']> {
  const path = upstream.path('/audio/transcriptions')
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
