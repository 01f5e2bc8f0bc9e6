import { missing, parseJsonBody, readChoice, readModelName } from './read-field.ts'
import { createRefuser, refuse, PROVIDER_HEADERS } from './create-refuser.ts'
import { deliverBody, deliverStream } from './deliver-stream.ts'
import type { Exchange } from './open-exchange.ts'
import type { Tokenizer } from './open-tokenizer.ts'
import { findSandboxModel } from './sandbox-models.ts'

const RATE = 24_000
const TONE_HERTZ = 220
const CHARACTERS_PER_SECOND = 15
const TOKENS_PER_SECOND = 20
const WAV_HEAD_BYTES = 44

/** OpenAI's speech: a tone as long as the text would be spoken, as a WAV file whatever format is asked for, or as PCM. */
export function createSandboxSpeech(openTokenizer: () => Promise<Tokenizer>): {
  /** Throws `BadRequest`. */
  speak(exchange: Exchange, text: string): Promise<void>
} {
  const refuser = createRefuser()
  return {
    async speak(exchange, text) {
      const body = parseJsonBody(text)
      const model = findSandboxModel(readModelName(body.model))
      const { input } = body
      if (typeof input !== 'string' || input === '') throw missing('input')
      if (typeof body.voice !== 'string') throw missing('voice')
      if (model.delivery === 'hang') return
      if (refuser.isRefused(model)) return refuse(exchange, model)
      const seconds = input.length / CHARACTERS_PER_SECOND
      const samples = drawTone(seconds)
      const audio =
        body.response_format === 'pcm' ? samples : Buffer.concat([wavHead(samples), samples])
      const { pace, delivery } = model
      const common = { exchange, headers: PROVIDER_HEADERS, pace, delivery }
      if (readChoice(body, 'stream_format', ['audio', 'sse']) !== 'sse')
        return deliverBody({ ...common, body: audio, contentType: 'audio/wav', tokens: 0 })
      const promptTokens = (await openTokenizer()).count(input)
      const completionTokens = Math.ceil(seconds * TOKENS_PER_SECOND)
      const hasUsage = model.usage !== 'none'
      if (hasUsage) exchange.reported = { promptTokens, completionTokens }
      const done = {
        type: 'speech.audio.done',
        ...(hasUsage && {
          usage: {
            input_tokens: promptTokens,
            output_tokens: completionTokens,
            total_tokens: promptTokens + completionTokens,
          },
        }),
      }
      const delta = { type: 'speech.audio.delta', audio: audio.toString('base64') }
      const events = [delta, done].map((event) => ({ data: JSON.stringify(event), tokens: 0 }))
      return deliverStream({ ...common, events, ending: '' })
    },
  }
}

function drawTone(seconds: number): Buffer {
  const count = Math.ceil(seconds * RATE)
  const samples = Buffer.alloc(count * 2)
  for (let at = 0; at < count; at += 1)
    samples.writeInt16LE(
      Math.round(Math.sin((at / RATE) * TONE_HERTZ * 2 * Math.PI) * 3_000),
      at * 2,
    )
  return samples
}

function wavHead({ length }: Buffer): Buffer {
  const head = Buffer.alloc(WAV_HEAD_BYTES)
  head.write('RIFF', 0)
  head.writeUInt32LE(length + WAV_HEAD_BYTES - 8, 4)
  head.write('WAVEfmt ', 8)
  head.writeUInt32LE(16, 16)
  head.writeUInt16LE(1, 20)
  head.writeUInt16LE(1, 22)
  head.writeUInt32LE(RATE, 24)
  head.writeUInt32LE(RATE * 2, 28)
  head.writeUInt16LE(2, 32)
  head.writeUInt16LE(16, 34)
  head.write('data', 36)
  head.writeUInt32LE(length, 40)
  return head
}
