import type { IncomingMessage } from 'node:http'
import { BadRequest, missing, readModelName } from './read-field.ts'
import { createRefuser, refuse, type RefusingModel, PROVIDER_HEADERS } from './create-refuser.ts'
import { deliverBody, deliverStream } from './deliver-stream.ts'
import { isAudio } from './measure-audio.ts'
import type { Exchange } from './open-exchange.ts'
import type { Tokenizer } from './open-tokenizer.ts'
import {
  checkGranularities,
  readTranscriptionFields,
  reportsTokens,
} from './read-transcription-fields.ts'
import { readUpload, type FormField } from './read-upload.ts'
import {
  renderTranscription,
  renderTranscriptEvents,
  type TranscriptionUsage,
  writeTranscript,
} from './render-transcription.ts'
import { findSandboxModel } from './sandbox-models.ts'

export interface SandboxTranscriptions {
  /**
   * Throws `BadRequest`. Resolves when the answer is written or the client has left. If the fields before the file are
   * enough to refuse the call, the refusal is sent before the file has arrived.
   */
  transcribe(exchange: Exchange, request: IncomingMessage): Promise<void>
}

const AUDIO_TOKENS_PER_SECOND = 10

export function createSandboxTranscriptions(
  openTokenizer: () => Promise<Tokenizer>,
): SandboxTranscriptions {
  const refuser = createRefuser()

  return {
    async transcribe(exchange, request) {
      let refusing: RefusingModel | 'none' | undefined
      /** Counts the call once, as soon as the model's name is known. */
      function findRefusing(modelName: string): RefusingModel | 'none' {
        const model = findSandboxModel(modelName)
        return (refusing ??= refuser.isRefused(model) ? model : 'none')
      }
      function wantsFile(fields: readonly FormField[]): boolean {
        const { modelName } = readTranscriptionFields(fields)
        return modelName === undefined || findRefusing(modelName) === 'none'
      }

      const upload = await readUpload(request, wantsFile)
      if (upload.kind === 'left') return
      if (upload.kind === 'unwanted') return refuse(exchange, refusing as RefusingModel)
      const { file } = upload
      const fields = readTranscriptionFields(upload.fields)
      const modelName = readModelName(fields.modelName)
      checkGranularities(fields)
      if (file === undefined) throw missing('file')
      if (!isAudio(file.beginning)) throw unreadableAudio()
      const model = findSandboxModel(modelName)
      if (model.delivery === 'hang') return
      const refusal = findRefusing(modelName)
      if (refusal !== 'none') return refuse(exchange, refusal)

      const seconds = file.readSeconds()
      const transcript = writeTranscript(seconds)
      const described = reportsTokens(modelName)
        ? describeTokens(seconds, fields.prompt, transcript.text, await openTokenizer())
        : { type: 'duration' as const, seconds: Math.ceil(seconds) }
      const usage = model.usage === 'none' ? undefined : described
      if (usage?.type === 'tokens' && fields.format === 'json') {
        const { input_tokens: promptTokens, output_tokens: completionTokens } = usage
        exchange.reported = { promptTokens, completionTokens }
      }
      const { pace, delivery } = model
      // Half of a plain text is still a valid text, so this fault needs JSON to be noticed.
      const format = delivery === 'garbage' ? 'json' : fields.format
      const transcription = { seconds, transcript, usage }
      const common = { exchange, headers: PROVIDER_HEADERS, pace, delivery }
      // Whisper, which alone knows the other formats, ignores the wish for events.
      if (fields.isStream && (format === 'json' || format === 'text')) {
        const events = renderTranscriptEvents(transcription)
        return deliverStream({ ...common, events, ending: 'data: [DONE]\n\n' })
      }
      const rendered = renderTranscription({ ...fields, format }, transcription)
      // A plain transcription is sent at once, so only the pace's time to the first token applies.
      return deliverBody({ ...common, ...rendered, tokens: 0 })
    },
  }
}

function describeTokens(
  seconds: number,
  prompt: string,
  text: string,
  tokenizer: Tokenizer,
): TranscriptionUsage {
  const textTokens = tokenizer.count(prompt)
  const audioTokens = Math.round(seconds * AUDIO_TOKENS_PER_SECOND)
  const outputTokens = tokenizer.count(text)
  return {
    type: 'tokens',
    input_tokens: textTokens + audioTokens,
    output_tokens: outputTokens,
    total_tokens: textTokens + audioTokens + outputTokens,
    input_token_details: { text_tokens: textTokens, audio_tokens: audioTokens },
  }
}

function unreadableAudio(): BadRequest {
  return new BadRequest('Audio file might be corrupted or unsupported', 'file', 'invalid_value')
}
