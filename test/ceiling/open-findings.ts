/**
 * What the ceiling test found and nobody has mended yet. Each is a test of its own that is expected to fail, and is
 * left out of the property, which would find nothing else behind it. Whoever mends one takes it out of here.
 */
import type { GeneratedRequest } from './generate-chats.ts'
import { ALL_MODELS, type ModelTruth } from './model-truth.ts'
import { flac, ogg, tagged, wav } from './sound.ts'

export interface OpenFinding {
  /** The guarantee that does not hold. */
  readonly name: string
  readonly requests: readonly GeneratedRequest[]
  /** Whether a request may fail for this reason. */
  covers(request: GeneratedRequest): boolean
}

const modelOf = (id: string): ModelTruth =>
  ALL_MODELS.find((model) => model.id === id) as ModelTruth

function transcription(file: Buffer): GeneratedRequest {
  const model = modelOf('whisper-1')
  const body = { model: model.id, file: file.toString('base64'), fields: [['model', model.id]] }
  return { kind: 'transcriptions', model, body }
}

function chatWith(part: object): GeneratedRequest {
  const model = modelOf('compat-plain')
  const messages = [{ role: 'user', content: [part] }]
  return { kind: 'chat', model, body: { model: model.id, messages } }
}

const ADPCM = { channels: 1, rate: 100, bits: 4, byteRate: 50, dataBytes: 2_000, format: 0x11 }

export const OPEN_FINDINGS: readonly OpenFinding[] = [
  {
    name: 'a sound that is neither plain samples nor MP3 is as long as its format lets it be',
    requests: [flac(8_000, 40), flac(1, 1), ogg(1_000), tagged(flac(8_000, 9)), wav(ADPCM)].map(
      transcription,
    ),
    covers: ({ kind, body }) =>
      kind === 'transcriptions' && !isBounded(Buffer.from(String(body.file), 'base64')),
  },
  {
    name: 'an address that may lead to a film or a document is not held as one image',
    requests: [
      chatWith({ type: 'image_url', image_url: { url: 'https://youtu.be/abcdefg' } }),
      chatWith({ type: 'image_url', image_url: { url: 'https://example.com/a.pdf' } }),
    ],
    covers: ({ model, body }) =>
      model.upstreamId === 'compat' && /youtu|a\.(pdf|mp4)/.test(JSON.stringify(body)),
  },
]

/** Samples at a rate of speech or more, or frames of MP3. */
function isBounded(file: Buffer): boolean {
  if (file[0] === 0xff) return true
  if (file.toString('latin1', 0, 4) !== 'RIFF' || file.length < 44) return false
  return file.readUInt16LE(20) === 1 && file.readUInt32LE(24) >= 8_000
}

/** Fields of one type of part in a part of another: told, not failed, until they are taken out. */
export const OPEN_FIELDS = /messages\[\]\.content\[\]\.(text|file|image_url)$/
