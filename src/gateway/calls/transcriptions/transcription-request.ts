import type { UploadedFile } from '../../providers/contract.ts'
import type { CallRequest } from '../call.ts'
import { withLineEnds } from '../../../platform/lib/with-line-ends.ts'
import { FALLBACKS_MAX, fallbacksBeside } from '../field-faults.ts'
import { refusals, type Refusal } from '../refusal.ts'
import type { OwnTime } from '../../../platform/admission/own-time.ts'
import { type AudioLength, measureAudio } from './audio/measure-audio.ts'
import type { AudioFile } from './audio/audio-window.ts'

/** A multipart form that is read on demand, after its sender was authenticated. */
export interface IncomingForm {
  /** Its file counts for the customer's share of the disk. */
  read(customerId: string): Promise<UploadForm | Refusal>
}

export interface UploadForm {
  readonly file: KeptFile | undefined
  /** The other fields, in order. */
  readonly fields: readonly (readonly [name: string, value: string])[]
}

/** A file on disk; `dispose` deletes it. */
export interface KeptFile extends UploadedFile, AudioFile {
  dispose(): void
}

export const TRANSCRIPT_FORMATS = ['json', 'text', 'srt', 'verbose_json', 'vtt'] as const
export type TranscriptFormat = (typeof TRANSCRIPT_FORMATS)[number]
/** The second is into English. */
export type TranscriptionTask = 'transcribe' | 'translate'

export interface TranscriptionRequest extends CallRequest {
  readonly file: KeptFile
  readonly audioLength: AudioLength
  readonly format: TranscriptFormat
  /** The fields that are sent to the upstream. */
  readonly fields: readonly (readonly [name: string, value: string])[]
  /** Bytes of the texts in `TEXTS` as a form sends them, counting repeated fields each time. */
  readonly promptBytes: number
}

/** The fields that reach an upstream. The gateway itself sets `model` and the response format. */
const FIELDS: ReadonlySet<string> = new Set([
  'language',
  'prompt',
  'temperature',
  'timestamp_granularities',
  'timestamp_granularities[]',
  'chunking_strategy',
])
/** Those of a translation, whose language is English. */
const FIELDS_OF_TRANSLATIONS: ReadonlySet<string> = new Set(['prompt', 'temperature'])
/** Texts that are part of the model's prompt. */
const TEXTS: ReadonlySet<string> = new Set(['language', 'prompt'])
/** Sent for verbose transcripts only: the other formats have no choice of granularity. */
const GRANULARITIES = /^timestamp_granularities(\[\])?$/

/** Reads the form of a transcription. If the request is refused, its file is deleted. */
export async function readTranscription(
  form: IncomingForm,
  customerId: string,
  defaultModelId: string,
  time: OwnTime,
  task: TranscriptionTask = 'transcribe',
): Promise<TranscriptionRequest | Refusal> {
  const read = await form.read(customerId)
  if ('kind' in read) return read
  const { file, fields } = read
  const fault = findFault(read)
  if (fault !== undefined || !file) {
    file?.dispose()
    return refusals.invalidRequest(fault ?? NO_FILE)
  }
  const value = createValueOf(fields)
  const fallbacks = fields.filter(([name]) => name === 'models' || name === 'models[]')
  // Without a model, the first of the list is the one, as in JSON bodies.
  const modelId = value('model') || fallbacks[0]?.[1] || defaultModelId
  const format = (value('response_format') || 'json') as TranscriptFormat
  const kept = task === 'translate' ? FIELDS_OF_TRANSLATIONS : FIELDS
  return {
    modelId,
    fallbackModelIds: fallbacksBeside(
      modelId,
      fallbacks.map(([, id]) => id),
    ),
    isStream: value('stream') === 'true',
    file,
    audioLength: await measured(file, customerId, time),
    format,
    fields: fields.filter(
      ([name]) => kept.has(name) && (format === 'verbose_json' || !GRANULARITIES.test(name)),
    ),
    promptBytes: promptBytesOf(fields),
  }
}

export function promptBytesOf(fields: TranscriptionRequest['fields']): number {
  return fields.reduce(
    (sum, [name, text]) => (TEXTS.has(name) ? sum + Buffer.byteLength(withLineEnds(text)) : sum),
    0,
  )
}

/** Measures the file; deletes it if it cannot be read. */
async function measured(file: KeptFile, customerId: string, time: OwnTime): Promise<AudioLength> {
  try {
    return await measureInTurn(file, customerId, time)
  } catch (error) {
    file.dispose()
    throw error
  }
}

const NO_FILE = 'O campo "file" é obrigatório e deve ser um arquivo de áudio.'

function findFault({ file, fields }: UploadForm): string | undefined {
  const value = createValueOf(fields)
  if (!file) return NO_FILE
  if (file.bytes === 0) return 'O arquivo de áudio está vazio.'
  const format = value('response_format')
  if (format !== '' && !TRANSCRIPT_FORMATS.includes(format as TranscriptFormat))
    return `O campo "response_format" aceita ${TRANSCRIPT_FORMATS.join(', ')}.`
  const temperature = value('temperature')
  if (temperature !== '' && !(Number(temperature) >= 0 && Number(temperature) <= 1))
    return 'O campo "temperature" deve ser um número de 0 a 1.'
  const stream = value('stream')
  if (!['', 'false', 'true'].includes(stream)) return 'O campo "stream" deve ser true ou false.'
  if (stream === 'true' && !['', 'json', 'text'].includes(format))
    return 'Com "stream": true o campo "response_format" aceita json e text.'
  if (fields.filter(([name]) => name.startsWith('models')).length > FALLBACKS_MAX)
    return `O campo "models" aceita até ${FALLBACKS_MAX} identificadores de modelos.`
  if (fields.some(([name]) => /^provider\b/.test(name)))
    return 'O campo "provider" não está disponível em formulários.'
  return undefined
}

/** Looks up the last value of a field; empty if the field is absent. */
function createValueOf(fields: UploadForm['fields']): (name: string) => string {
  const values = new Map(fields)
  return (name) => values.get(name) ?? ''
}

/**
 * Measures a file when the customer's turn has come. A hostile file takes seconds of the processor, in parts between the
 * reads of it: these are the customer's own time. The reads are not, because other calls run meanwhile.
 */
export async function measureInTurn(
  file: AudioFile,
  customerId: string,
  time: OwnTime,
  now: () => number = () => performance.now(),
): Promise<AudioLength> {
  let length: AudioLength | undefined
  await time.takeSlices(customerId, async () => {
    let ms = 0
    let startedAtMs = now()
    const timed: AudioFile = {
      bytes: file.bytes,
      async readInto(buffer, position) {
        ms += now() - startedAtMs
        const bytes = await file.readInto(buffer, position)
        startedAtMs = now()
        return bytes
      },
    }
    length = await measureAudio(timed)
    return ms + now() - startedAtMs
  })
  return length as AudioLength
}
