import type { UnitCounts } from '../../../money/catalog/prices.ts'
import type { Resolution } from '../../../money/ledger/resolution.ts'
import { decimalBrl, jsonBrl } from '../../../platform/lib/money.ts'
import { subtitleTime } from '../../../platform/lib/subtitle-time.ts'
import type { TranscriptionAnswer, TranscriptionSegment } from '../../providers/contract.ts'
import type { ChatWriter } from '../chat/chat-format.ts'
import { EVENT_STREAM } from '../client.ts'
import { refusalBody } from '../refusal.ts'
import type { TranscriptFormat, TranscriptionTask } from './transcription-request.ts'

type ChargedTranscript = Pick<
  Resolution,
  'promptTokens' | 'completionTokens' | 'units' | 'billedNanoBrl'
>

/** Writes the answer in the requested format. Formats other than JSON carry the cost in a header. */
export function writeTranscript(
  format: TranscriptFormat,
  answer: TranscriptionAnswer,
  charged: ChargedTranscript,
  task: TranscriptionTask = 'transcribe',
): { body: string; headers: Record<string, string> } {
  const { text, language, durationSeconds, segments = [], words } = answer
  const cost = jsonBrl(charged.billedNanoBrl)
  const asText = (body: string, type: string) => ({
    body,
    headers: {
      'content-type': `${type}; charset=utf-8`,
      'x-svc-cost-billed-brl': decimalBrl(charged.billedNanoBrl),
    },
  })
  switch (format) {
    case 'json':
      return json({ text, usage: usageOf(charged), cost_billed_brl: cost })
    case 'verbose_json':
      return json({
        task,
        language,
        duration: durationSeconds,
        text,
        ...(words ? { words } : {}),
        segments,
        usage: usageOf(charged),
        cost_billed_brl: cost,
      })
    case 'text':
      return asText(`${text}\n`, 'text/plain')
    case 'srt':
      return asText(cuesOf(segments, ','), 'text/plain')
    case 'vtt':
      return asText(`WEBVTT\n\n${cuesOf(segments, '.')}`, 'text/vtt')
  }
}

/** The events of a transcript that is whole: its charge comes before its first byte. */
export function writeTranscriptEvents(
  { text }: TranscriptionAnswer,
  charged: ChargedTranscript,
): { body: string; headers: Record<string, string> } {
  return {
    body: deltaEvent(text) + doneEvent(text, charged),
    headers: { 'content-type': EVENT_STREAM },
  }
}

/** Writes the events of a stream in the shape of a chat's. */
export function createTranscriptWriter(): Pick<ChatWriter, 'chunk' | 'broken'> & {
  end(charged: ChargedTranscript): string
} {
  let text: unknown
  return {
    chunk(body) {
      text = body.text
      const [choice] = body.choices as [{ delta: { content: string } }]
      const { content } = choice.delta
      return content === '' ? undefined : deltaEvent(content)
    },
    end: (charged) => doneEvent(text as string, charged),
    broken: (refused) => `data: ${refusalBody(refused)}\n\n`,
  }
}

function deltaEvent(delta: string): string {
  return `data: ${JSON.stringify({ type: 'transcript.text.delta', delta })}\n\n`
}

function doneEvent(text: string, charged: ChargedTranscript): string {
  const done = {
    type: 'transcript.text.done',
    text,
    usage: usageOf(charged),
    cost_billed_brl: jsonBrl(charged.billedNanoBrl),
  }
  return `data: ${JSON.stringify(done)}\n\n`
}

function json(body: object): { body: string; headers: Record<string, string> } {
  return { body: JSON.stringify(body), headers: {} }
}

/** The billed usage, in the published format of transcriptions. */
function usageOf({ promptTokens, completionTokens, units: counts }: ChargedTranscript): object {
  const units = JSON.parse(counts ?? '{}') as UnitCounts
  if (units.audio_seconds !== undefined) return { type: 'duration', seconds: units.audio_seconds }
  const audioTokens = units.input_audio_tokens ?? 0
  const inputTokens = promptTokens + audioTokens
  return {
    type: 'tokens',
    input_tokens: inputTokens,
    input_token_details: { text_tokens: promptTokens, audio_tokens: audioTokens },
    output_tokens: completionTokens,
    total_tokens: inputTokens + completionTokens,
  }
}

function cuesOf(segments: readonly TranscriptionSegment[], point: ',' | '.'): string {
  return segments
    .map(({ start, end, text }, index) => {
      const number = point === ',' ? `${index + 1}\n` : ''
      return `${number}${subtitleTime(start, point)} --> ${subtitleTime(end, point)}\n${text.trim()}\n`
    })
    .join('\n')
}
