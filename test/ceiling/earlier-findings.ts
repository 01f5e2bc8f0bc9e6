/** Requests whose charge was once above the hold, and which the generator seldom makes. */
import type { GeneratedRequest } from './generate-chats.ts'
import { ALL_MODELS, type ModelTruth } from './model-truth.ts'
import { flac, ogg, tagged, wav } from './sound.ts'

export interface EarlierFinding {
  /** The guarantee. */
  readonly name: string
  readonly requests: readonly GeneratedRequest[]
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

function speech(fields: object): GeneratedRequest {
  const model = modelOf('gpt-4o-mini-tts')
  return { kind: 'speech', model, body: { model: model.id, input: 'ã', voice: 'v', ...fields } }
}

const ADPCM = { channels: 1, rate: 100, bits: 4, byteRate: 50, dataBytes: 2_000, format: 0x11 }

export const EARLIER_FINDINGS: readonly EarlierFinding[] = [
  {
    name: 'audio that is neither PCM nor MP3 is held for the longest time that its format allows',
    requests: [flac(8_000, 40), flac(1, 1), ogg(1_000), tagged(flac(8_000, 9)), wav(ADPCM)].map(
      transcription,
    ),
  },
  {
    name: 'an address that may lead to a video or a document is held for more than one image',
    requests: [
      chatWith({ type: 'image_url', image_url: { url: 'https://youtu.be/abcdefg' } }),
      chatWith({ type: 'image_url', image_url: { url: 'https://example.com/a.pdf' } }),
    ],
  },
  {
    name: 'the hold of a slow voice covers its silences, which are slow, too',
    requests: [{ speed: 0.25 }, { instructions: 't' }, { speed: 0.25, instructions: 't' }].map(
      speech,
    ),
  },
]
